"""Find elements of a graph by words and by meaning, for the tools that it brings for `agent`."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.ask.fusion import fuse_by_ranks
from fabula.graph.hits import Filters, Hit, read_hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graph.reading_tools import ReadingResult, SearchArguments

ELEMENTS = 12
"""How many elements a call finds."""


@dataclass(frozen=True, slots=True)
class ElementSearch:
    """The `run` of a tool that finds the elements of some kinds that a query is about.

    Attributes:
        kinds: The kinds.
        in_order: Whether they are returned in text order, and not best first.
    """

    kinds: tuple[str, ...]
    in_order: bool = False

    def __call__(self, arguments: SearchArguments, filters: Filters, tools: Tools) -> ReadingResult:
        """Return the elements that do best by words and by meaning."""
        hits = find_elements(arguments.query, self.kinds, filters, tools)
        if self.in_order:
            hits.sort(key=lambda hit: (hit.title, hit.document, hit.start, hit.id))
        return ReadingResult(tuple(hits))


def find_elements(query: str, kinds: tuple[str, ...], filters: Filters, tools: Tools) -> list[Hit]:
    """Return the elements of some kinds that do best by words (BM25) and by meaning, best first."""
    near = tools.elements(tools.embed(query), filters, ELEMENTS, kinds)
    scores: dict[str, float] = {}
    for kind in kinds:
        scores |= tools.store.search_elements(query, kind, ELEMENTS, filters)
    by_words = sorted(scores, key=lambda id: (-scores[id], id))[:ELEMENTS]
    rows = tools.store.read(read_statement("core/find_passages"), filters, ids=by_words)
    found = {row["hit"]["id"]: read_hit(row) for row in rows}
    alike = [found[id] for id in by_words if id in found]
    return fuse_by_ranks([alike, near], ELEMENTS)
