"""Make a build's calls to models in parallel, and report their progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TypeVar

from fabula.errors import ReplyPending
from fabula.graph import Node
from fabula.graph.method import BuildWork, Known
from fabula.models.batching import warn_of_cut_texts
from fabula.models.roles import Models
from fabula.models.usage import Usage
from fabula.text.document import Vector

EMBED = 0
"""The priority of embeddings: everything else may depend on them."""

In = TypeVar("In")
Out = TypeVar("Out")


def _text(node: Node) -> str:
    return str(node.properties["text"])


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one build."""

    models: Models
    work: BuildWork

    def each(
        self, priority: int, step: str, do: Callable[[In], Out], items: Sequence[In]
    ) -> list[Out]:
        """Return the results of `do` for all items, in their order; the shared workers run it.

        Must not be called from a worker, which would wait for itself.

        Args:
            priority: The lowest goes first.
            step: The step of the build whose progress each result counts to.
            do: The call.
            items: What it is called with.

        """
        self.work.progress.expect(step, len(items))
        return self.work.job.each(priority, self._reporting(step, do), items)

    def stream(
        self, priority: int, step: str, do: Callable[[In], Out], items: Sequence[In]
    ) -> Iterator[Out]:
        """Yield the results of `do` in the order of the items, each as soon as it is there.

        All items are begun at once; the arguments are those of `each`.

        Raises:
            ReplyPending: All items were worked on, and some wait for replies. Nothing is yielded
                after the first of these.

        """
        self.work.progress.expect(step, len(items))
        work = self._reporting(step, do)
        futures = [self.work.job.submit(priority, work, item) for item in items]
        pending: ReplyPending | None = None
        for future in futures:
            try:
                result = future.result()
            except ReplyPending as error:
                pending = error
                continue
            if pending is None:
                yield result
        if pending is not None:
            raise pending

    def _reporting(self, step: str, do: Callable[[In], Out]) -> Callable[[In], Out]:
        def do_and_report(item: In) -> Out:
            result = do(item)
            self.work.progress.done(step, self.models.meter.total())
            return result

        return do_and_report

    def save(self, step: str, calls: int) -> None:
        """Count calls that the previous build made unnecessary."""
        if calls:
            self.models.meter.add(step, Usage(saved=calls))

    def embed(self, texts: Sequence[str], known: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the embeddings of texts, by text; unknown ones are asked for in batches."""
        new = list(dict.fromkeys(text for text in texts if text not in known))
        runs = batches(new, self.models.embedder.batch)
        vectors = self.each(EMBED, "embeddings", self._embed_batch, runs)
        rows = [row for batch in vectors for row in batch]
        return {**known, **dict(zip(new, rows, strict=True))}

    def _embed_batch(self, batch: Sequence[str]) -> list[Vector]:
        embeddings = self.models.embedder.embed(batch, "passage")
        warn_of_cut_texts(embeddings.cut, self.models.embedder.model, {})
        return list(embeddings.vectors)

    def embed_nodes(
        self, nodes: Sequence[Node], known: Known, text: Callable[[Node], str] = _text
    ) -> list[Node]:
        """Return the nodes with the embeddings of their texts; those known are not asked for."""
        known_vectors = {
            text(node): node.embedding for node in known.nodes if node.embedding is not None
        }
        vectors = self.embed([text(node) for node in nodes], known_vectors)
        return [replace(node, embedding=vectors[text(node)]) for node in nodes]


class EmbeddingStream:
    """Embeds texts while more of them are still made; the batches are those of `Calls.embed`.

    A batch is asked for as soon as it is full, the last one by `finish`. So the same texts in the
    same order make the same calls, however they come.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._texts: list[str] = []
        self._known: set[str] = set()
        self._asked: deque[tuple[Sequence[str], Future[list[Vector]]]] = deque()
        self.vectors: dict[str, Vector] = {}
        """The embeddings that have come, by their texts."""

    def add(self, text: str) -> None:
        """Take a text, whose embedding is asked for once if it comes several times."""
        if text not in self._known:
            self._known.add(text)
            self._texts.append(text)
            # Not only if equal: another thread may learn meanwhile that the model takes fewer.
            if len(self._texts) >= self._calls.models.embedder.batch:
                self._ask()

    def collect(self) -> bool:
        """Take in the batches that have come, without waiting. Returns whether there were any."""
        count = len(self.vectors)
        while self._asked and self._asked[0][1].done():
            self._take_in()
        return len(self.vectors) > count

    def finish(self) -> None:
        """Ask for the last batch, and wait until all embeddings are there."""
        if self._texts:
            self._ask()
        while self._asked:
            self._take_in()

    def _ask(self) -> None:
        calls, texts = self._calls, self._texts
        self._texts = []
        calls.work.progress.expect("embeddings", 1)
        embed = calls._reporting("embeddings", calls._embed_batch)
        self._asked.append((texts, calls.work.job.submit(EMBED, embed, texts)))

    def _take_in(self) -> None:
        texts, future = self._asked.popleft()
        self.vectors.update(zip(texts, future.result(), strict=True))


def batches(items: Sequence[In], size: int) -> list[Sequence[In]]:
    """Return the items in runs of `size`; the last may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size)]
