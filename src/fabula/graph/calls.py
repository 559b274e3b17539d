"""Make a build's calls to models in parallel, and report their progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

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

        def do_and_report(item: In) -> Out:
            result = do(item)
            self.work.progress.done(step, self.models.meter.total())
            return result

        self.work.progress.expect(step, len(items))
        return self.work.job.each(priority, do_and_report, items)

    def save(self, step: str, calls: int) -> None:
        """Count calls that the previous build made unnecessary."""
        if calls:
            self.models.meter.add(step, Usage(saved=calls))

    def embed(self, texts: Sequence[str], known: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the embeddings of texts, by text; unknown ones are asked for in batches."""
        new = list(dict.fromkeys(text for text in texts if text not in known))

        def embed(batch: Sequence[str]) -> list[Vector]:
            embeddings = self.models.embedder.embed(batch)
            warn_of_cut_texts(embeddings, self.models.embedder.model, {})
            return list(embeddings.vectors)

        vectors = self.each(EMBED, "embeddings", embed, batches(new, self.models.embedder.batch))
        rows = [row for batch in vectors for row in batch]
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
    """Return the items in runs of `size`; the last may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size)]
