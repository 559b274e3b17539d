"""Show a passage, what is around it, and the summaries of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fabula.errors import NotFound
from fabula.graph.hits import Filters, Hit, describe_place, locate, read_hit, shown_fields
from fabula.graph.installed import parent_statements
from fabula.graph.queries import read_statement
from fabula.operations.kit import Hidden, Until, operation
from fabula.operations.parameters import NamedDocument
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store import Store

GROUP = "Reading"
Direction = Literal["up", "down", "beside"]
PassageId = Annotated[str, Field(min_length=1, max_length=1000, description="the id of a passage")]


@dataclass(frozen=True)
class SourceChunk:
    """A chunk that a passage is made from: its id, its section and its characters."""

    id: str
    section: str
    start: int
    end: int


@dataclass(frozen=True)
class PassageWithSources:
    """A passage, and the chunks that it is made from in text order."""

    passage: Hit
    sources: tuple[SourceChunk, ...]

    def to_text(self) -> str:
        """Return its place, its text and the places of its sources."""
        lines = [describe_place(self.passage), self.passage.text.strip()]
        if self.passage.kind != "chunk":
            places = (
                f"{each.section} · characters {each.start}-{each.end}" for each in self.sources
            )
            lines += ["", "It is made from:", *places]
        return "\n".join(lines)


@operation(
    "/collections/{collection}/passages/{passage}",
    group=GROUP,
    positional=["passage"],
    is_public=True,
    has_screen=False,
    examples=("passage 65b74bbfdf8d876ea796",),
)
def passage(collection: Collection, passage: PassageId, until: Until = "") -> PassageWithSources:
    """Show a passage by its id, and the chunks that it is made from.

    It may be a chunk of the text, a summary, a detail, or what else a graph has. One that rests on
    text after `until` is not found.

    Raises:
        NotFound: There is no such passage or place.
    """
    read = _as_read(collection, passage, until)
    store = read.open_store()
    hit = _find(read, store, passage)
    sources = store.whole.sources(read.name, [passage]).get(passage, [])
    if any(source.end > store.until for source in sources):
        raise _unknown(read, passage)
    return PassageWithSources(
        locate(hit, store.structures(read.name, [hit.document])),
        tuple(
            SourceChunk(source.chunk, source.section, source.start, source.end)
            for source in sources
        ),
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Neighbour(Hit):
    """A passage above, below or beside another, and the weight of their relation, if it has one."""

    weight: float | None


@dataclass(frozen=True)
class Neighbours:
    """The passages around a passage."""

    total: int
    rows: tuple[Neighbour, ...]

    def to_text(self) -> str:
        """Return the place and the text of each, after its number."""
        texts = [
            f"[{number}] {describe_place(each)} · {each.id}\n{each.text.strip()}"
            for number, each in enumerate(self.rows, 1)
        ]
        return "\n\n".join(texts) or "There are none."


@operation(
    "/collections/{collection}/passages/{passage}/neighbours",
    group=GROUP,
    positional=["passage"],
    is_public=True,
    has_screen=False,
    examples=(
        "neighbours 65b74bbfdf8d876ea796 --direction beside",
        "neighbours 65b74bbfdf8d876ea796",
    ),
)
def neighbours(
    collection: Collection,
    passage: PassageId,
    direction: Annotated[
        Direction,
        Field(
            description="'up' for the summaries above it; 'down' for what a summary is made from "
            "and for the details of a chunk; 'beside' for the passages before and after it"
        ),
    ] = "up",
    until: Until = "",
) -> Neighbours:
    """List the passages around a passage: above, below or beside it.

    Beside a chunk are the previous and the next one, beside a detail also its own chunk, and beside
    a summary the previous and the next one of its aspect and level.

    Raises:
        NotFound: There is no such passage or place.
    """
    read = _as_read(collection, passage, until)
    store = read.open_store()
    found = _find(read, store.whole, passage)
    known = read.filters(found.document)
    if direction == "up":
        above = [
            hit
            for statement in parent_statements()
            for hits in store.find_related(statement, known, [passage]).values()
            for hit in hits
        ]
        around: list[tuple[Hit, float | None]] = [
            (replace(hit, score=0.0), hit.score) for hit in above
        ]
    else:
        names = {"down": "aspects/find_below", "beside": "core/find_neighbours"}
        if found.kind == "summary":
            names["beside"] = "aspects/find_beside"
        rows = store.read(read_statement(names[direction]), known, passages=[passage])
        weighs = direction == "down"
        around = [(Hit(**row["hit"], score=0.0), row["weight"] if weighs else None) for row in rows]
    structures = store.structures(read.name, [found.document])
    shown = [
        Neighbour(**shown_fields(locate(hit, structures)), weight=weight) for hit, weight in around
    ]
    return Neighbours(len(shown), tuple(shown))


def _as_read(collection: Collection, id: str, place: str) -> Collection:
    """Return a collection as read up to a place of the document that a passage is of."""
    if not place:
        return collection
    return collection.as_read(_find(collection, collection.open_store(), id).document, place)


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


@dataclass(frozen=True)
class Member:
    """A passage that a summary is made from, and its weight in the summary."""

    id: str
    weight: float


@dataclass(frozen=True)
class OutlinedSummary:
    """A summary of a document.

    Attributes:
        document: The id of the document.
        aspect: Its aspect, as "plot".
        level: Its level: the higher, the more general.
        section: The path of its section.
        start: Its first character in the document's text.
        end: The one after its last.
        text: Its text.
        tokens: How many tokens this has.
        id: Its id.
        above: The id of the summary that it is below: of those that are made from it, the one in
            which it has the greatest weight. '' at the top.
        members: The passages that it is made from, if these were requested.
    """

    document: Annotated[str, Hidden]
    aspect: str
    level: int
    section: str
    start: Annotated[int, Hidden]
    end: Annotated[int, Hidden]
    text: str
    tokens: Annotated[int, Hidden]
    id: Annotated[str, Hidden]
    above: Annotated[str, Hidden]
    members: Annotated[tuple[Member, ...], Hidden]


@dataclass(frozen=True)
class Outline:
    """The summaries of a document, the most general first, and those of a level in text order."""

    title: str
    total: int
    rows: tuple[OutlinedSummary, ...]


@operation(
    "/collections/{collection}/documents/{document}/outline",
    group=GROUP,
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    examples=(
        'outline "A Christmas Carol"',
        'outline "A Christmas Carol" --aspect plot --level 2 --members --json',
    ),
)
def outline(
    collection: Collection,
    document: NamedDocument,
    aspect: Annotated[
        str, Field(max_length=200, description="only this aspect, as 'plot'; '' for all")
    ] = "",
    level: Annotated[int, Field(ge=0, le=99, description="lowest level")] = 0,
    members: Annotated[
        bool, Field(description="with what each summary is made from, and the weights")
    ] = False,
) -> Outline:
    """List the summaries of a document, the most general first.

    The summaries of an aspect are a tree: `above` is the id of the summary that one is below.

    Raises:
        NotFound: There is no such document.
    """
    entry = collection.document(document)
    rows = collection.open_store().read(
        read_statement("aspects/find_outline"),
        collection.filters(entry.id),
        document=entry.id,
        aspects=[aspect] if aspect else [],
        lowest=level,
    )
    above = find_above(rows)
    summaries = [
        OutlinedSummary(
            **row
            | {
                "document": entry.id,
                "above": above.get(row["id"], ""),
                "members": tuple(Member(**each) for each in row["members"] if members),
            }
        )
        for row in rows
    ]
    return Outline(entry.title, len(summaries), tuple(summaries))


def find_above(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return for members of summaries the id of the summary in which each has most weight."""
    best: dict[str, tuple[float, str]] = {}
    for summary in summaries:
        for member in summary["members"]:
            place = -member["weight"], summary["id"]
            best[member["id"]] = min(best.get(member["id"], place), place)
    return {id: above for id, (_, above) in best.items()}
