"""A build's calls to models: side by side, told to the progress, and counted where saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fabula.graph import Node
from fabula.graph.method import Known, Work
from fabula.models.roles import Models
from fabula.models.usage import Usage
from fabula.text.document import Vector

EMBED = 0
"""The priority of embeddings, on which all else may depend."""

In = TypeVar("In")
Out = TypeVar("Out")


def _text(node: Node) -> str:
    return str(node.properties["text"])


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one build."""

    models: Models
    work: Work

    def each(
        self, priority: int, step: str, do: Callable[[In], Out], items: Sequence[In]
    ) -> list[Out]:
        """`do` for all items on the shared workers, in their order; each is told to the progress.

        The lowest priority goes first. Not to be called from a worker.
        """

        def told(item: In) -> Out:
            result = do(item)
            self.work.progress.done(step, self.models.meter.total())
            return result

        self.work.progress.expect(step, len(items))
        return self.work.job.each(priority, told, items)

    def save(self, step: str, calls: int) -> None:
        """Counts calls that an earlier build made needless."""
        if calls:
            self.models.meter.add(step, Usage(saved=calls))

    def embed(self, texts: Sequence[str], known: Mapping[str, Vector]) -> dict[str, Vector]:
        """The embeddings of texts, by the texts: those `known`, and all others asked in batches."""
        new = list(dict.fromkeys(text for text in texts if text not in known))

        def embed(batch: Sequence[str]) -> list[Vector]:
            return list(self.models.embedder.embed(batch).vectors)

        divided = batches(new, self.models.embedder.batch)
        made = self.each(EMBED, "embeddings", embed, divided)
        rows = [row for batch in made for row in batch]
        return {**known, **dict(zip(new, rows, strict=True))}

    def embed_nodes(
        self, nodes: Sequence[Node], known: Known, text: Callable[[Node], str] = _text
    ) -> list[Node]:
        """Return the nodes with the embeddings of their texts; those known are not asked for."""
        known_vectors = {
            text(node): node.embedding for node in known.nodes if node.embedding is not None
        }
        vectors = self.embed([text(node) for node in nodes], known_vectors)
        return [replace(node, embedding=vectors[text(node)]) for node in nodes]


def batches(items: Sequence[In], size: int) -> list[Sequence[In]]:
    """The items in runs of `size`; the last may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size)]
