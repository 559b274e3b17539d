"""Count a collection's nodes that have a word; counts are cached until a part of it changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.store.database import Database
from fabula.store.search_index import count_query

MAX_COLLECTIONS = 256
MAX_WORDS = 50_000
"""How many words of a collection are remembered, more than questions use: 5 MB at most."""


@dataclass(slots=True)
class _Counts:
    """The counts of a collection at one revision of it."""

    revision: str = ""
    by_query: dict[str, int] = field(default_factory=dict)


class WordCounts:
    """Counts words in the full-text indexes; safe to share between threads."""

    def __init__(self) -> None:
        """Begin with nothing in memory."""
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[str, str], _Counts] = OrderedDict()

    def count(
        self, store: Database, index: str, collection: str, terms: Sequence[str]
    ) -> tuple[Mapping[str, int], int]:
        """Return how many nodes have each term, and how many there are, in one round trip.

        Args:
            store: The graph.
            index: The full-text index.
            collection: Only its nodes are counted.
            terms: The terms, as the index has them.

        """
        queries = {term: count_query(collection, term) for term in ("", *terms)}
        known = self._read(index, collection)
        missing = [query for query in queries.values() if query not in known.by_query]
        [row] = store.rows(
            "core/count_words",
            collection=collection,
            index=index,
            revision=known.revision,
            missing=missing,
            queries=list(queries.values()),
        )
        new = {counted["query"]: int(counted["nodes"]) for counted in row["counts"]}
        if row["revision"] == known.revision:
            new = known.by_query | new
        self._save(index, collection, _Counts(row["revision"], new))
        return {term: new[query] for term, query in queries.items() if term}, new[queries[""]]

    def _read(self, index: str, collection: str) -> _Counts:
        with self._lock:
            return self._counts.get((index, collection)) or _Counts()

    def _save(self, index: str, collection: str, counts: _Counts) -> None:
        if len(counts.by_query) > MAX_WORDS:
            counts = _Counts()
        with self._lock:
            self._counts[index, collection] = counts
            self._counts.move_to_end((index, collection))
            while len(self._counts) > MAX_COLLECTIONS:
                self._counts.popitem(last=False)
