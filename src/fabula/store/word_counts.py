"""Count a collection's nodes that have a word; counts are cached until a part of it changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fabula.store.database import Database
from fabula.store.derived_values import DerivedValues
from fabula.store.parts import lock_prefix
from fabula.store.search_index import WordStatistics, count_query

_ALL = ""
"""The term whose count is that of all nodes, with their mean length."""


def recall_words(
    derived: DerivedValues, index: str, collection: str, terms: Collection[str]
) -> WordStatistics | None:
    """Return the statistics as they were counted last; None if one of the terms was not.

    They are outdated if the collection has another revision by now.
    """
    revision, known = _find_counts(derived, index, collection, terms)
    if not revision or any(term not in known for term in terms):
        return None
    return _statistics(revision, known, terms)


def count_words(
    store: Database, derived: DerivedValues, index: str, collection: str, terms: Collection[str]
) -> WordStatistics:
    """Return how many nodes of a collection have each term now, in one round trip."""
    revision, known = _find_counts(derived, index, collection, terms)
    queries = {term: count_query(collection, term) for term in terms}
    [row] = store.rows(
        "core/count_words",
        locks=lock_prefix(collection),
        index_name=index,
        revision=revision,
        all=count_query(collection),
        missing=[query for term, query in queries.items() if term not in known],
        queries=list(queries.values()),
    )
    nodes = {counted["query"]: int(counted["nodes"]) for counted in row["counts"]}
    counts: dict[str, Any] = {
        term: nodes[query] for term, query in queries.items() if query in nodes
    }
    for totals in row["totals"]:  # there are some if the revision is new: then all were counted
        counts[_ALL] = int(totals["nodes"]), float(totals["mean_length"] or 0.0)
    for term, count in counts.items():
        derived.save(("words", index, collection, term), row["revision"], count)
    return _statistics(row["revision"], known | counts, terms)


def _find_counts(
    derived: DerivedValues, index: str, collection: str, terms: Collection[str]
) -> tuple[str, dict[str, Any]]:
    """Return the revision at which all nodes were counted last ('' if never), and its counts."""
    everything = derived.find(("words", index, collection, _ALL))
    if everything is None:
        return "", {}
    revision: Any = everything.revision
    found = {term: derived.find(("words", index, collection, term)) for term in terms}
    return revision, {_ALL: everything.value} | {
        term: each.value for term, each in found.items() if each and each.revision == revision
    }


def _statistics(revision: str, known: dict[str, Any], terms: Collection[str]) -> WordStatistics:
    total, mean_length = known[_ALL]
    return WordStatistics({term: known[term] for term in terms}, total, mean_length, revision)
