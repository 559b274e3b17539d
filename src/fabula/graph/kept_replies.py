"""Replies of models, kept with the part that was made of them.

A build that `keep_replies` wraps is answered by the replies of the build before wherever it asks
the same again: after an edit, a correction or another setting, also where the cache was cleared or
is on another machine. It reads all replies anew, so it need not remember what it read in them.
Where one call is about several things, of which some change, a build may keep the answer about each
of them beside the replies, by a key of its own.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

from fabula.graph import REPLIES, Node, Owner
from fabula.graph.builds import Build, ChatRequest, Piece, RejectRequest, Start
from fabula.graph.calls import batches
from fabula.graph.method import BuildText, BuildWork, Built, Known, PartReader
from fabula.models import Prompt
from fabula.models.cache import chat_key
from fabula.models.roles import ModelProfile, Role
from fabula.text.ids import digest

Of = TypeVar("Of", BuildText, PartReader)
Options = TypeVar("Options")
Out = TypeVar("Out")
BuildFunction = Callable[[Of, Options, ModelProfile, Known, BuildWork], Build[Built]]
_BEFORE = re.compile(r"^\[before\] .*\n\n", re.MULTILINE)
"""What is shown of the text before a window (`TextWindow.passages`). A change there does not change
the window: it is not asked about again."""
KEY_BYTES = 9
"""Of the key of a prompt: among a million, two are equal by chance once in ten billion parts."""
REPLIES_PER_NODE = 200
"""Some 500 kB, which are 100 kB when they are compressed."""


def keep_replies(build: BuildFunction[Of, Options]) -> BuildFunction[Of, Options]:
    """Return a build that keeps its replies, and asks for none that are known."""

    @wraps(build)
    def build_from_replies(
        of: Of, options: Options, models: ModelProfile, known: Known, work: BuildWork
    ) -> Build[Built]:
        replies = _Replies(dict(known.kept), work)
        built = yield from replies.answer(build(of, options, models, known, work))
        return replace(built, kept=dict(work.kept))

    return build_from_replies


def make_nodes(owner: Owner, replies: Mapping[str, str], sources: Sequence[str]) -> list[Node]:
    """Return the nodes that keep the replies of a part; no reader is shown them."""
    nodes = []
    for number, some in enumerate(batches(sorted(replies.items()), REPLIES_PER_NODE)):
        written = json.dumps(dict(some), ensure_ascii=False).encode("utf-8", "surrogatepass")
        content = base64.b85encode(zlib.compress(written, 9)).decode("ascii")
        id = digest(10, "replies", owner.document, owner.graph, str(number))
        properties = {"name": f"replies {number + 1}", "content": content}
        nodes.append(Node(id, REPLIES, properties, tuple(sources)))
    return nodes


def read_nodes(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the replies that some nodes keep."""
    replies: dict[str, str] = {}
    for node in nodes:
        written = zlib.decompress(base64.b85decode(node.properties["content"]))
        replies |= json.loads(written.decode("utf-8", "surrogatepass"))
    return replies


@dataclass(frozen=True, slots=True)
class _Replies:
    """Replies of the build before by the keys of their prompts, and what this one keeps."""

    known: dict[str, str]
    work: BuildWork

    def answer(self, build: Build[Out]) -> Build[Out]:
        """Go through a build and all that it begins, and answer what is known."""
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                wanted = build.send(value) if error is None else build.throw(error)
            except StopIteration as end:
                result: Out = end.value
                return result
            value = error = None
            try:
                if isinstance(wanted, Start):
                    value = yield Start(self.answer(wanted.build))
                else:
                    value = yield from self._answer_all(wanted)
            except BaseException as raised:  # noqa: BLE001  it is raised where the build waits
                error = raised

    def _answer_all(self, wanted: Sequence[Any]) -> Build[list[Any]]:
        answers = [self._find(each) for each in wanted]
        if missing := [row for row, answer in enumerate(answers) if answer is None]:
            new = yield [self._pass_on(wanted[row]) for row in missing]
            for row, answer in zip(missing, new, strict=True):
                answers[row] = answer
                if isinstance(wanted[row], ChatRequest):
                    self.work.kept[_key(wanted[row].role, wanted[row].prompt)] = answer
        return answers

    def _find(self, wanted: Any) -> str | None:
        if (
            not isinstance(wanted, ChatRequest)
            or (key := _key(wanted.role, wanted.prompt)) not in self.known
        ):
            return None
        self.work.saved[wanted.step] += 1
        self.work.kept[key] = self.known[key]
        return self.known[key]

    def _pass_on(self, wanted: Any) -> Any:
        if isinstance(wanted, RejectRequest) and wanted.rejected.forget:
            key = _key(wanted.role, wanted.rejected.prompt)
            self.known.pop(key, None)
            self.work.kept.pop(key, None)
        if isinstance(wanted, Piece):
            return Piece(wanted.step, self.answer(wanted.build))
        return self.answer(wanted) if isinstance(wanted, Generator) else wanted


def _key(role: Role, prompt: Prompt) -> str:
    prompt = replace(prompt, user=_BEFORE.sub("", prompt.user))
    return base64.b85encode(chat_key("", role, prompt)[:KEY_BYTES]).decode("ascii")
