"""What the steps of a build yield: pieces that are made side by side, and texts to embed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fabula.graph import Node
from fabula.graph.builds import Build, Piece, Start, Started, embed_batch, one
from fabula.graph.method import BuildWork, Known
from fabula.models.counted import EMBEDDINGS
from fabula.models.roles import ModelProfile
from fabula.text.document import Vector

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Calls:
    """What the steps of one build yield."""

    models: ModelProfile
    work: BuildWork

    def each(
        self, step: str, do: Callable[[In], Build[Out]], items: Sequence[In]
    ) -> Build[list[Out]]:
        """Return the results of `do` for all items, in their order; they are made side by side.

        Args:
            step: The step of the build whose progress each result counts to.
            do: Returns the build of an item.
            items: What it is called with.
        """
        results: list[Out] = yield [Piece(step, do(item)) for item in items]
        return results

    def start_each(
        self, step: str, do: Callable[[In], Build[Out]], items: Sequence[In]
    ) -> Build[list[Started[list[Out]]]]:
        """Begin `do` for all items, as `each` does; the result of each is a list of it."""
        started = []
        for item in items:
            started.append((yield Start(one(Piece(step, do(item))))))
        return started

    def embed(self, texts: Sequence[str], known: Mapping[str, Vector]) -> Build[dict[str, Vector]]:
        """Return the embeddings of texts, by text; unknown ones are asked for in batches."""
        new = list(dict.fromkeys(text for text in texts if text not in known))
        runs = batches(new, self.models.batch)
        vectors = yield from self.each(EMBEDDINGS, embed_batch, runs)
        rows = [row for batch in vectors for row in batch]
        return {**known, **dict(zip(new, rows, strict=True))}

    def embed_nodes(self, nodes: Sequence[Node], known: Known) -> Build[list[Node]]:
        """Return the nodes with the embeddings of their texts; those known are not asked for."""
        known_vectors = {
            _text(node): node.embedding for node in known.nodes if node.embedding is not None
        }
        vectors = yield from self.embed([*map(_text, nodes)], known_vectors)
        return [replace(node, embedding=vectors[_text(node)]) for node in nodes]


class EmbeddingStream:
    """Embeds texts while more of them are still made; the batches are those of `Calls.embed`.

    A batch is asked for as soon as it is full, the last one by `finish`. So the same texts in the
    same order make the same calls, however they come.
    """

    def __init__(self, models: ModelProfile) -> None:
        self._models = models
        self._texts: list[str] = []
        self._known: set[str] = set()
        self._asked: list[tuple[Sequence[str], Started[list[list[Vector]]]]] = []
        self.vectors: dict[str, Vector] = {}
        """The embeddings that have come, by their texts."""

    def add(self, texts: Iterable[str]) -> Build[None]:
        """Take texts, each of which is asked for once if it comes several times."""
        for text in texts:
            if text not in self._known:
                self._known.add(text)
                self._texts.append(text)
                # Not only if equal: it may turn out meanwhile that the model takes fewer.
                if len(self._texts) >= self._models.batch:
                    yield from self._ask()

    def collect(self) -> bool:
        """Take in the batches that have come, without waiting. Returns whether there were any."""
        count = len(self.vectors)
        while self._asked and self._asked[0][1].is_done:
            self._take_in()
        return len(self.vectors) > count

    def finish(self) -> Build[None]:
        """Ask for the last batch, and wait until all embeddings are there."""
        if self._texts:
            yield from self._ask()
        yield [started for _, started in self._asked]
        self.collect()

    def _ask(self) -> Build[None]:
        texts, self._texts = self._texts, []
        started = yield Start(one(Piece(EMBEDDINGS, embed_batch(texts))))
        self._asked.append((texts, started))

    def _take_in(self) -> None:
        texts, started = self._asked.pop(0)
        [[rows]] = started.outcome
        self.vectors.update(zip(texts, rows, strict=True))


def _text(node: Node) -> str:
    """The text of a node that is embedded."""
    return str(node.properties.get("embedded_text") or node.properties["text"])


def batches(items: Sequence[In], size: int) -> list[Sequence[In]]:
    """Return the items in runs of `size`; the last may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size)]
