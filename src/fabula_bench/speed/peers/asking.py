"""One peer over the texts and questions of a run: what it indexes, answers, and takes to do it."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabula.models.usage import Usage
from fabula.server.private import PrivateServer
from fabula.text import tokens
from fabula_bench.log import PEER, replace_file
from fabula_bench.model import BenchQuestion, Result, Retrieved
from fabula_bench.speed.peers.catalogue import Peer
from fabula_bench.speed.peers.proxy import Proxy
from fabula_bench.speed.peers.speaking import Adapter, PeerFailed, Said
from fabula_bench.suite import Ask

INDEXED = "indexed.json"
"""What an index cost; it is there when the index is whole."""
SERVER = "neo4j"
HEAP, PAGE_CACHE = "512m", "128m"


@dataclass(slots=True)
class Cost:
    """Wall-clock seconds, and by model what was asked of it."""

    seconds: float = 0.0
    spent: dict[str, Usage] = field(default_factory=dict)

    def add(self, more: Cost) -> None:
        """More of it."""
        self.seconds += more.seconds
        for model, usage in more.spent.items():
            self.spent[model] = self.spent.get(model, Usage()) + usage


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions that are asked of one index, and the texts in it."""

    texts: Sequence[str]
    questions: Sequence[BenchQuestion]


@dataclass(frozen=True, slots=True)
class Asking:
    """A peer in its environment; `folder` is for its indexes, one folder each.

    `environment` is what its processes see beside the endpoint: the models' names.
    """

    peer: Peer
    python: Path
    folder: Path
    proxy: Proxy
    environment: Mapping[str, str]
    ask: Ask

    def index_folder(self, texts: Sequence[str]) -> Path:
        """Where the index of these texts is: it depends on them, the models and the version."""
        models = {name: content for name, content in self.environment.items() if "MODEL" in name}
        content = [self.peer.requirements, models, list(texts)]
        return self.folder / hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]

    def results(self, part: Asked) -> Iterator[Result | PeerFailed]:
        """A result, or why there is none, for each question in turn.

        Raises PeerFailed where the texts can't be indexed, or the peer ends.
        """
        with self._adapter(part.texts) as adapter:
            # A peer's Neo4j holds only the last index.
            if self.peer.neo4j or not (self.index_folder(part.texts) / INDEXED).is_file():
                self._index(adapter, part.texts)
            for question in part.questions:
                self.proxy.take()
                began = time.monotonic()
                try:
                    reply = adapter.ask(worded(question, self.ask))
                except PeerFailed as failed:
                    if failed.gone:
                        raise
                    yield PeerFailed(f"question {question.id}: {failed}")
                    continue
                seconds = time.monotonic() - began
                yield result(self.peer, question, reply, self.ask, Cost(seconds, self.proxy.take()))

    @contextmanager
    def _adapter(self, texts: Sequence[str]) -> Iterator[Adapter]:
        folder = self.index_folder(texts)
        config = {
            **self.environment,
            "OPENAI_BASE_URL": self.proxy.url,
            "OPENAI_API_KEY": "counted",
            "PEER_SEARCH": self.peer.search,
        }
        server = PrivateServer(self.folder / SERVER, HEAP, PAGE_CACHE) if self.peer.neo4j else None
        try:
            if server:
                address = server.start()
                config |= {
                    "NEO4J_URI": address.uri,
                    "NEO4J_USERNAME": address.username,
                    "NEO4J_PASSWORD": address.password,
                }
            busy = lambda: self.proxy.last  # noqa: E731
            with Adapter(self.python, self.peer.adapter, folder, config, busy) as adapter:
                yield adapter
        finally:
            if server:
                server.stop()

    def _index(self, adapter: Adapter, texts: Sequence[str]) -> None:
        self.proxy.take()
        began = time.monotonic()
        adapter.index(texts)
        cost = Cost(round(time.monotonic() - began, 3), self.proxy.take())
        line = json.dumps(asdict(cost)) + "\n"
        replace_file(self.index_folder(texts) / INDEXED, line)


def indexing(folder: Path) -> Cost:
    """What the indexes in a peer's folder cost together, whenever they were made."""
    total = Cost()
    for file in sorted(folder.glob(f"*/{INDEXED}")):
        record = json.loads(file.read_text(encoding="utf-8"))
        spent = {model: Usage(**usage) for model, usage in record["spent"].items()}
        total.add(Cost(record["seconds"], spent))
    return total


def worded(question: BenchQuestion, ask: Ask) -> str:
    """The question as a peer is asked it; one with options lists them."""
    if ask != "choose":
        return question.question
    listed = "\n".join(f"{n}. {option}" for n, option in enumerate(question.options, 1))
    return (
        f"{question.question}\n\nWhich of these is right?\n{listed}\n"
        "Begin your answer with its number."
    )


def chosen(answer: str, options: int) -> int | None:
    """The index of the option that an answer names, None where it names none."""
    found = re.search(r"\d+", answer)
    number = int(found[0]) if found else 0
    return number - 1 if 1 <= number <= options else None


def result(peer: Peer, question: BenchQuestion, reply: Said, ask: Ask, cost: Cost) -> Result:
    """What a peer said, as a run keeps it. Of its passages only the words are known."""
    total = sum(cost.spent.values(), Usage())
    passages = [text for text in reply.context if text.strip()]
    return Result(
        system=f"{PEER}{peer.name}",
        question=question.id,
        answer=reply.answer,
        choice=chosen(reply.answer, len(question.options)) if ask == "choose" else None,
        context=tuple(
            Retrieved(str(number), "peer", "", 0, "", 0, 0, 0.0, text)
            for number, text in enumerate(passages, 1)
        ),
        cited=(),
        context_tokens=sum(tokens.count_all(passages)),
        calls=total.calls,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        seconds=cost.seconds,
        asked=question.question,
        spent=cost.spent,
    )
