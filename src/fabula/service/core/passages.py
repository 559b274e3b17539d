"""Passages and what is around them: outlines, and passages above, below and beside another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from fabula.app.collection import Collection
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters, Hit, locate, read_hit
from fabula.graph.installed import parent_statements
from fabula.graph.queries import read_statement
from fabula.service.core.views import PassageView, View
from fabula.store import Store
from fabula.text.names import quote_name

Direction = Literal["up", "down", "beside"]


class MemberView(View):
    """A passage that a summary is made from, and its weight in the summary."""

    id: str
    weight: float


class OutlineNode(View):
    """A summary, the passages that it is made from, and the summaries below it.

    A summary that is a member of several is below the one in which it has the greatest weight.
    """

    id: str
    level: int
    section: str
    start: int
    end: int
    text: str
    tokens: int
    members: list[MemberView]
    below: list[OutlineNode]


class OutlineView(View):
    """A document's summaries of one aspect as a tree, from the top down, in text order."""

    aspect: str
    tops: list[OutlineNode]


class StretchView(View):
    """A chunk that a passage is made from."""

    id: str
    section: str
    start: int
    end: int


class PassageWhole(PassageView):
    """A passage, with the chunks that it is made from in text order."""

    sources: list[StretchView]


class NeighbourView(PassageView):
    """A passage above, below or beside another; `weight` is that of their relation, or null."""

    weight: float | None


def outline(
    collection: Collection, entry: Entry, aspect: str = "", lowest: int = 1
) -> list[OutlineView]:
    """Return the summaries of a document as one tree for each aspect.

    Args:
        collection: The document's collection.
        entry: The document.
        aspect: Only this aspect; '' for all.
        lowest: The lowest level of summaries that is returned.

    """
    rows = collection.store.read(
        read_statement("aspects/find_outline"),
        collection.filters(entry.id),
        document=entry.id,
        aspects=[aspect] if aspect else [],
        lowest=lowest,
    )
    by_aspect: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_aspect.setdefault(row["aspect"], []).append(row)
    return [OutlineView(aspect=name, tops=grow(by_aspect[name])) for name in sorted(by_aspect)]


def as_read(collection: Collection, id: str, place: str) -> Collection:
    """Return a collection as read up to a place of the document that a passage is of.

    Raises:
        NotFound: There is no such passage or place.

    """
    if not place:
        return collection
    return collection.as_read(_find(collection, collection.store, id).document, place)


def find_passage(collection: Collection, id: str) -> PassageWhole:
    """Return a passage by its id.

    Raises:
        NotFound: There is no such passage, or it rests on text that was not read.

    """
    store = collection.store
    hit = _find(collection, store, id)
    sources = store.whole.sources(collection.name, [id]).get(id, [])
    if any(source.end > store.until for source in sources):
        raise _unknown(collection, id)
    return PassageWhole.of(
        locate(hit, store.structures(collection.name, [hit.document])),
        sources=[
            StretchView(id=source.chunk, section=source.section, start=source.start, end=source.end)
            for source in sources
        ],
    )


def _find(collection: Collection, store: Store, id: str) -> Hit:
    """Return a passage by its id, as far as the store lets it be read. Raises NotFound."""
    statement, filters = read_statement("core/find_passages"), Filters(collection.name)
    hits = [read_hit(row) for row in store.read(statement, filters, ids=[id])]
    if not hits or (collection.place and collection.place.document.id != hits[0].document):
        raise _unknown(collection, id)
    return hits[0]


def _unknown(collection: Collection, id: str) -> NotFound:
    read_so_far = " up to the place that you have read" if collection.place else ""
    return NotFound(
        f"There is no passage {quote_name(id)} in collection "
        f"{quote_name(collection.name)}{read_so_far}."
    )


def neighbours(collection: Collection, id: str, direction: Direction) -> list[NeighbourView]:
    """Return the passages in one direction from a passage. Raises NotFound.

    Up are the summaries that are made from it. Down is what a summary is made from, and the details
    of a chunk. Beside are the previous and the next chunk, of a detail also its own chunk, and of a
    summary the previous and the next one of its aspect and level.
    """
    passage = _find(collection, collection.store.whole, id)
    known = collection.filters(passage.document)
    if direction == "up":
        above = [
            hit
            for statement in parent_statements()
            for hits in collection.store.find_related(statement, known, [id]).values()
            for hit in hits
        ]
        return [NeighbourView.of(replace(hit, score=0.0), weight=hit.score) for hit in above]
    names = {"down": "aspects/find_below", "beside": "core/find_neighbours"}
    if passage.kind == "summary":
        names["beside"] = "aspects/find_beside"
    rows = collection.store.read(read_statement(names[direction]), known, passages=[id])
    return [_neighbour(row, row["weight"] if direction == "down" else None) for row in rows]


def _neighbour(row: Mapping[str, Any], weight: float | None) -> NeighbourView:
    return NeighbourView(**row["hit"], score=0.0, weight=weight)


def grow(rows: Iterable[Mapping[str, Any]]) -> list[OutlineNode]:
    """Return the tops of the trees of summaries.

    Each summary is placed below the one in which it has the greatest weight, in text order.
    """
    by_id = {row["id"]: row for row in rows}
    above: dict[str, tuple[float, str]] = {}
    for row in by_id.values():
        for member in row["members"]:
            best = above.get(member["id"])
            if best is None or (-member["weight"], row["id"]) < (-best[0], best[1]):
                above[member["id"]] = member["weight"], row["id"]
    below: dict[str, list[str]] = {}
    for id in by_id:
        below.setdefault(above[id][1] if id in above else "", []).append(id)

    def make_node(id: str) -> OutlineNode:
        row = by_id[id]
        fields = {name: value for name, value in row.items() if name not in ("aspect", "members")}
        members = [MemberView(**member) for member in row["members"]]
        return OutlineNode(**fields, members=members, below=make_nodes(below.get(id, ())))

    def make_nodes(ids: Iterable[str]) -> list[OutlineNode]:
        return [make_node(id) for id in sorted(ids, key=lambda id: (by_id[id]["start"], id))]

    return make_nodes(below.get("", ()))
