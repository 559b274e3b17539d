"""What stands around a passage: its outline, and what is above, below and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from fabula.app.collection import Collection
from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.service.core.views import PassageView, View
from fabula.text.names import quoted

Direction = Literal["up", "down", "beside"]


class MemberView(View):
    """What a summary rests on, and how much it bears of it."""

    id: str
    weight: float


class OutlineNode(View):
    """A summary: all that it rests on, and the summaries below it.

    One that is a member of several stands below that which it bears most of.
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
    """A chunk that a passage rests on."""

    id: str
    section: str
    start: int
    end: int


class PassageWhole(PassageView):
    """A passage, and the chunks that it rests on, in text order."""

    sources: list[StretchView]


class NeighbourView(PassageView):
    """A passage above, below or beside another, and the weight of the tie; null where it has
    none.
    """

    weight: float | None


def outline(
    shelf: Collection, entry: Entry, aspect: str = "", lowest: int = 1
) -> list[OutlineView]:
    """The summaries of a document as trees, one an aspect, down to the `lowest` level."""
    rows = shelf.store.rows(
        "aspects/find_outline",
        collection=shelf.name,
        document=entry.id,
        aspects=[aspect] if aspect else [],
        lowest=lowest,
    )
    by_aspect: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_aspect.setdefault(row["aspect"], []).append(row)
    return [OutlineView(aspect=name, tops=grow(by_aspect[name])) for name in sorted(by_aspect)]


def find_passage(shelf: Collection, id: str) -> PassageWhole:
    """A passage by its id. Raises NotFound."""
    rows = shelf.store.rows("core/find_passages", collection=shelf.name, ids=[id])
    if not rows:
        raise NotFound(f"There is no passage {quoted(id)} in collection {quoted(shelf.name)}.")
    found = shelf.store.sources(shelf.name, [id]).get(id, [])
    sources = [
        StretchView(id=one.chunk, section=one.section, start=one.start, end=one.end)
        for one in found
    ]
    return PassageWhole(**rows[0], sources=sources)


def neighbours(shelf: Collection, id: str, direction: Direction) -> list[NeighbourView]:
    """What stands around a passage. Raises NotFound.

    Up: the summaries above it; down: what a summary rests on, and a chunk's details; beside: the
    chunks before and after a chunk, a detail's own chunk among them, and of a summary those of its
    aspect and level.
    """
    kind = find_passage(shelf, id).kind
    asked = {"collection": shelf.name, "passages": [id]}
    if direction == "up":
        rows = shelf.store.rows("aspects/find_parents", **asked)
        return [_neighbour(row, row["score"]) for row in rows]
    if direction == "down":
        rows = shelf.store.rows("aspects/find_below", **asked)
        return [_neighbour(row, row["weight"]) for row in rows]
    beside = "aspects/find_beside" if kind == "summary" else "core/find_neighbours"
    return [_neighbour(row, None) for row in shelf.store.rows(beside, **asked)]


def _neighbour(row: Mapping[str, Any], weight: float | None) -> NeighbourView:
    told = {name: one for name, one in row.items() if name not in ("of", "weight", "score")}
    return NeighbourView(**told, score=0.0, weight=weight)


def grow(rows: Iterable[Mapping[str, Any]]) -> list[OutlineNode]:
    """The tops of a tree of summaries: each stands below the one that it bears most of."""
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

    def grown(id: str) -> OutlineNode:
        row = by_id[id]
        told = {name: one for name, one in row.items() if name not in ("aspect", "members")}
        members = [MemberView(**one) for one in row["members"]]
        return OutlineNode(**told, members=members, below=_in_text_order(below.get(id, ())))

    def _in_text_order(ids: Iterable[str]) -> list[OutlineNode]:
        return [grown(id) for id in sorted(ids, key=lambda id: (by_id[id]["start"], id))]

    return _in_text_order(below.get("", ()))
