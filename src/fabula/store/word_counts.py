"""Count a collection's nodes that have a word; counts are cached until a part of it changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fabula.store.database import Database
from fabula.store.parts import lock_prefix
from fabula.store.search_index import WordStatistics, count_query

MAX_COLLECTIONS = 256
MAX_WORDS = 50_000
"""How many words of a collection are remembered, more than questions use: 10 MB for all of them."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """The counts of a collection at one revision of it."""

    revision: str = ""
    total: int = 0
    mean_length: float = 0.0
    by_query: Mapping[str, int] = field(default_factory=dict)


class WordCounts:
    """Counts words in the full-text indexes; safe to share between threads."""

    def __init__(self) -> None:
        """Begin with nothing in memory."""
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[str, str], _Counts] = OrderedDict()

    def recall(self, index: str, collection: str, terms: Iterable[str]) -> WordStatistics | None:
        """Return the statistics as they were counted last; None if one of the terms was not.

        They are outdated if the collection has another revision by now.
        """
        known = self._read(index, collection)
        queries = {term: count_query(collection, term) for term in terms}
        if not known.revision or any(query not in known.by_query for query in queries.values()):
            return None
        return _statistics(known, queries)

    def count(
        self, store: Database, index: str, collection: str, terms: Iterable[str]
    ) -> WordStatistics:
        """Return how many nodes of a collection have each term now, in one round trip."""
        queries = {term: count_query(collection, term) for term in terms}
        known = self._read(index, collection)
        missing = [query for query in queries.values() if query not in known.by_query]
        [row] = store.rows(
            "core/count_words",
            locks=lock_prefix(collection),
            index_name=index,
            revision=known.revision,
            all=count_query(collection),
            missing=missing,
            queries=list(queries.values()),
        )
        counts = {counted["query"]: int(counted["nodes"]) for counted in row["counts"]}
        if row["totals"]:
            [totals] = row["totals"]
            mean_length = float(totals["mean_length"] or 0.0)
            current = _Counts(row["revision"], int(totals["nodes"]), mean_length, counts)
        else:
            current = replace(known, by_query={**known.by_query, **counts})
        self._save(index, collection, current)
        return _statistics(current, queries)

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


def _statistics(counts: _Counts, queries: Mapping[str, str]) -> WordStatistics:
    """Return the statistics of terms, each with the query that counts it."""
    return WordStatistics(
        {term: counts.by_query[query] for term, query in queries.items()},
        counts.total,
        counts.mean_length,
        counts.revision,
    )
