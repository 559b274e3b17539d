"""Builds as generators: a build yields what it wants of models, and is sent the answers.

A build does no I/O and knows no thread, cache, budget or batch. It yields lists of requests and of
other builds, which are answered in any order and side by side, and is sent the answers in the order
of the list:

    replies = yield [question.ask(window) for window in windows]

An answer that is an error is raised where the build waits. What has to go on beside the build is
begun by `yield Start(other)`, which is answered at once by a `Started`; yielded in a list, that is
answered by the result. Before work that takes a processor long, `yield []`: the build goes on once
all others have asked what they can. `fabula.build.driver` runs builds; a test can by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from fabula.errors import BadReply
from fabula.models import Prompt
from fabula.models.replies import Rejected, Talk, converse, converse_once
from fabula.models.roles import Role
from fabula.text.document import Vector

Out = TypeVar("Out")
Build = Generator[Any, Any, Out]
"""What yields requests, and returns a part, or a piece of one."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A prompt for a chat model; the answer is the text of its reply, or BadReply."""

    role: Role
    step: str
    priority: int
    """That of the call: the lowest goes first."""
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class RejectRequest:
    """A reply to a prompt can't be used, so no cache is to keep it; the answer is None."""

    role: Role
    step: str
    rejected: Rejected


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """Texts to embed as passages, at most `Models.batch`; the answer are their vectors."""

    texts: Sequence[str]


Request = ChatRequest | RejectRequest | EmbedRequest


@dataclass(frozen=True, slots=True)
class Piece(Generic[Out]):
    """A build that is one piece of a step's work, which progress counts."""

    step: str
    build: Build[Out]


@dataclass(frozen=True, slots=True)
class Start(Generic[Out]):
    """A build that is to go on beside this one."""

    build: Build[Out]


@dataclass(slots=True)
class Started(Generic[Out]):
    """A build that goes on beside the one that has started it."""

    outcome: list[Out] = field(default_factory=list)
    """What it returned, once it has."""

    @property
    def is_done(self) -> bool:
        """Whether it has returned."""
        return bool(self.outcome)


@dataclass(frozen=True, slots=True)
class ChatStep:
    """Asks a chat model in a step of a build."""

    role: Role
    step: str
    priority: int

    def ask(self, prompt: Prompt, read: Callable[[str], Out], attempts: int = 6) -> Build[Out]:
        """Ask until a reply can be read; see `fabula.models.replies.ask`."""
        return self._answer(converse(prompt, read, attempts))

    def ask_once(self, prompt: Prompt, read: Callable[[str], Out]) -> Build[Out]:
        """Ask for one reply; see `fabula.models.replies.ask_once`."""
        return self._answer(converse_once(prompt, read))

    def _answer(self, talk: Talk[Out]) -> Build[Out]:
        reply: str = ""
        error: BadReply | None = None
        try:
            wanted = next(talk)
            while True:
                if isinstance(wanted, Rejected):
                    yield [RejectRequest(self.role, self.step, wanted)]
                else:
                    try:
                        [reply] = yield [ChatRequest(self.role, self.step, self.priority, wanted)]
                    except BadReply as bad:
                        error = bad
                if error is not None:
                    failed, error = error, None
                    wanted = talk.throw(failed)
                else:
                    wanted = talk.send(reply)
        except StopIteration as end:
            result: Out = end.value
            return result


def settle(made: Out | Build[Out]) -> Build[Out]:
    """Return what is made already, or what a build makes."""
    return (yield from made) if isinstance(made, Generator) else made


def embed_batch(texts: Sequence[str]) -> Build[list[Vector]]:
    """Return the vectors of texts that one call takes."""
    [vectors] = yield [EmbedRequest(texts)]
    return [*vectors]


def one(wanted: Request | Piece[Any]) -> Build[list[Any]]:
    """Return a build that wants one thing; its result is a list of it."""
    answers: list[Any] = yield [wanted]
    return answers
