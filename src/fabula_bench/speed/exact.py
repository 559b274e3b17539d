"""Exact search with numpy: the truth that the index is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fabula.graph import Part
from fabula.graph.hits import Filters
from fabula.text.document import Vector, Vectors
from fabula_bench.speed.graphs import passages

EQUAL = 1e-6
"""Cosines that differ by less are the same to float32: the same text twice, mostly."""

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shelf:
    """All passages of the graph as columns, one row each."""

    ids: tuple[str, ...]
    vectors: Vectors
    documents: tuple[str, ...]
    collections: tuple[str, ...]
    kinds: tuple[str, ...]
    aspects: tuple[str, ...]
    levels: tuple[int, ...]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Self:
        """All passages of some documents."""
        rows = [(node, part.owner) for part in parts for node in passages([part])]
        nodes = [node for node, _ in rows]
        return cls(
            ids=tuple(node.id for node in nodes),
            vectors=np.stack([node.embedding for node in nodes if node.embedding is not None]),
            documents=tuple(owner.document for _, owner in rows),
            collections=tuple(owner.collection for _, owner in rows),
            kinds=tuple(node.label.lower() for node in nodes),
            aspects=tuple(node.properties["aspect"] for node in nodes),
            levels=tuple(node.properties["level"] for node in nodes),
        )

    def best(self, question: Vector, within: Rows, k: int) -> set[str]:
        """The ids of the `k` of highest cosine, and of all that are as near as the last."""
        cosines = np.where(within, self.vectors @ question, -2)
        last = np.partition(cosines, -k)[-k]
        return {self.ids[row] for row in np.flatnonzero(cosines >= last - EQUAL)}

    def within(self, filters: Filters) -> Rows:
        """Which rows `filters` let through."""
        rows = zip(
            self.documents, self.collections, self.kinds, self.aspects, self.levels, strict=True
        )
        return np.array(
            [
                collection == filters.collection
                and filters.document in ("", document)
                and kind in filters.kinds
                and (not filters.aspects or aspect in filters.aspects)
                and filters.lowest <= level <= filters.highest
                for document, collection, kind, aspect, level in rows
            ]
        )
