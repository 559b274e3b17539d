"""Exact search with numpy: the truth that the index is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fabula.model import DocumentGraph, Filters, Vector, Vectors

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
    def of(cls, graphs: Sequence[DocumentGraph]) -> Self:
        """All passages of some documents."""
        rows = [
            (one, graph.document, kind, getattr(one, "aspect", ""), getattr(one, "level", 0))
            for graph in graphs
            for kind, passages in (
                ("chunk", graph.chunks),
                ("summary", graph.summaries),
                ("detail", graph.details),
            )
            for one in passages
        ]
        passages, documents, kinds, aspects, levels = zip(*rows, strict=True)
        return cls(
            ids=tuple(one.id for one in passages),
            vectors=np.stack([one.embedding for one in passages]),
            documents=tuple(one.id for one in documents),
            collections=tuple(one.collection for one in documents),
            kinds=kinds,
            aspects=aspects,
            levels=levels,
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
