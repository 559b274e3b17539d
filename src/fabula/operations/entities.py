"""List who and what texts are about, and show one of them with relations and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from fabula.errors import NotFound
from fabula.export.networks import write_network
from fabula.graph.hits import ALL_ROWS, Filters
from fabula.graph.installed import graphs
from fabula.graph.method import OtherEntities
from fabula.graph.queries import read_statement
from fabula.graphs.entities.known_until import find_called, list_entities
from fabula.operations.corrections import Correction, find_corrections
from fabula.operations.kit import Column, Hidden, format_value, operation
from fabula.operations.parameters import MAX_ROWS, Document, First, Limit
from fabula.text.folding import find_alike
from fabula.text.names import quote_name
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.export.graph_xml import Written
    from fabula.library.collection import Collection

GRAPH = "entities"
MAX_NAMES = 4
"""How many other names of an entity, or keywords of a relation, are shown."""
MAX_LINES = 5
"""How many lines of an entity's description are shown."""
Type = Annotated[
    str, Field(max_length=200, description="only those of this type, for example person")
]


@dataclass(frozen=True)
class Entity:
    """A person, place or thing of a document.

    Attributes:
        document: The id of the document.
        title: Its title.
        id: The id of the entity.
        name: Its usual name.
        type: Its type, such as person; '' if it is not known.
        mentions: How often the text names it.
        chunks: How many chunks do.
        relations: How many entities it is related to.
        also: Its most frequent other names.
        names: All of its names.
        counts: How often each is printed.
    """

    document: Annotated[str, Hidden]
    title: Annotated[str, Column("book")]
    id: Annotated[str, Hidden]
    name: Annotated[str, Column(opens="entity")]
    type: str
    mentions: int
    chunks: Annotated[int, Column("passages")]
    relations: int
    also: Sequence[str]
    names: Annotated[Sequence[str], Hidden]
    counts: Annotated[Sequence[int], Hidden]


@dataclass(frozen=True)
class Entities:
    """Entities, those with most mentions first.

    Attributes:
        total: How many there are.
        rows: The entities.
        types: How many there are of each type, whatever type was asked for.
    """

    total: int
    rows: tuple[Entity, ...]
    types: Mapping[str, int]


def write_network_file(
    file: Path, collection: Collection, document: str, type: str, **_paging: int
) -> Written:
    """Write all entities, and what relates them, as a network; takes what `entities` takes."""
    known, rows, _ = _read(collection, document, type)
    scope = {"document": known.document, "type": type}
    ties = collection.open_store().read(read_statement("entities/find_ties"), known, **scope)
    return write_network(rows, ties, file)


@operation(
    "/collections/{collection}/entities",
    group="People",
    title="People and places",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    writers={".gexf": write_network_file, ".graphml": write_network_file},
    examples=(
        'entities "A Christmas Carol"',
        "entities --type person --limit 10",
        'entities "A Christmas Carol" --until "Stave Two"',
        'entities "A Christmas Carol" --type person --out carol.gexf',
    ),
)
def entities(
    collection: Collection,
    document: Document = "",
    type: Type = "",
    first: First = 0,
    limit: Limit = 100,
) -> Entities:
    """List who and what the documents are about, with all their names.

    `fabula entity` shows one with its relations. `fabula build entities` builds the graph that this
    reads. A file that ends in .gexf or .graphml has the network of the entities.

    Raises:
        NotFound: There is no such document, or it has no entities or none of this type.
    """
    _, of_type, types = _read(collection, document, type)
    rows = []
    for row in of_type[first : first + limit]:
        also = [name for name in row["names"] if name != row["name"]]
        rows.append(Entity(**row, also=also[:MAX_NAMES]))
    return Entities(len(of_type), tuple(rows), types)


def _read(
    collection: Collection, document: str, type: str
) -> tuple[Filters, list[dict[str, Any]], Mapping[str, int]]:
    """Return where to look, the entities of a type, and how many there are of each type."""
    try:
        known = collection.filters(document)
    except NotFound as error:
        raise NotFound(
            error.message, advice=f"`fabula entity {quote_name(document)}` shows one of this name."
        ) from error
    everything = list_entities(collection.open_store(), known, limit=ALL_ROWS)
    of_type = [row for row in everything if type.lower() in ("", row["type"].lower())]
    types = dict(sorted(Counter(row["type"] for row in everything if row["type"]).items()))
    if everything and not of_type and not collection.place:
        listed = ", ".join(types)
        raise NotFound(f"There are no entities of type {quote_name(type)}; there are: {listed}.")
    if not (
        everything or collection.open_store().count_parts(known.collection, known.document, [GRAPH])
    ):
        raise NotFound(
            f"There are no entities in collection {quote_name(collection.name)}.",
            advice="`fabula build entities` builds the graph of them for its documents.",
        )
    return known, of_type, types


@dataclass(frozen=True)
class Relation:
    """What an entity has to do with another one.

    Attributes:
        name: The other one's name.
        type: Its type.
        chunks: How many chunks relate the two.
        keywords: Keywords of the relation.
        text: What is said of the two.
    """

    name: str
    type: str
    chunks: int
    keywords: Sequence[str]
    text: str


@dataclass(frozen=True)
class Mentions:
    """Where an entity is mentioned: a section, and the characters from its first to its last chunk.

    Attributes:
        section: The path of the section; '' before the first heading.
        start: The first character.
        end: The one after the last.
        chunks: How many chunks mention it there.
        mentions: How often they do.
    """

    section: str
    start: int
    end: int
    chunks: int
    mentions: int


@dataclass(frozen=True)
class EntityCard:
    """What a text says of an entity.

    Attributes:
        document: The id of the document.
        title: Its title.
        id: The id of the entity.
        name: Its usual name.
        key: The name by which it is compared with others; a correction may name it by its key.
        type: Its type, such as person; '' if it is not known.
        text: What is said of it.
        by: What found it: "rules", or a model.
        mentions: How often the text names it.
        chunks: How many chunks do.
        degree: How many entities it is related to.
        names: All of its names.
        counts: How often each is printed.
        merged_by: Why each is taken for one of its names; '' for its usual name.
        relations: Whom it has to do with, most chunks first.
        places: Where it is mentioned, in the order of the text.
        others: Entities of other documents of which it was decided whether they are the same.
        namesakes: Entities of other documents that have the same name.
        elsewhere: Both in words, with the commands that change them.
        corrections: The corrections in force of its names.
    """

    document: str
    title: str
    id: str
    name: str
    key: str
    type: str
    text: str
    by: str
    mentions: int
    chunks: int
    degree: int
    names: Sequence[str]
    counts: Sequence[int]
    merged_by: Sequence[str]
    relations: tuple[Relation, ...]
    places: tuple[Mentions, ...]
    others: Sequence[Mapping[str, Any]] = ()
    namesakes: Sequence[Mapping[str, Any]] = ()
    elsewhere: Sequence[str] = ()
    corrections: tuple[Correction, ...] = ()

    def to_text(self) -> str:
        """Return all of it in lines."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name} · {self.type} · {self.title}"
        lines = [line for line in self.text.splitlines() if line.strip()]
        yield from (f"  {line}" for line in lines[:MAX_LINES])
        if len(lines) > MAX_LINES:
            yield f"  and {count_noun(len(lines) - MAX_LINES, 'line')} more; --json has all"
        mentions = count_noun(self.mentions, "mention")
        relations = count_noun(self.degree, "relation")
        maker = "rules, offline" if self.by == "rules" else "a model"
        yield (
            f"  {mentions} in {count_noun(self.chunks, 'chunk')}, {relations}; found by {maker}; "
            f"id {self.id}"
        )
        forms = zip(self.names, self.counts, self.merged_by, strict=True)
        names = [
            f"{name} {count:,}" + (f" ({why})" if name != self.name and why else "")
            for name, count, why in forms
        ]
        yield f"  names: {', '.join(names)}"
        for correction in self.corrections:
            yield (
                f"  corrected by {correction.by}, {format_value(correction.at)}: "
                f"{correction.words} (`fabula undo-correction {correction.number}` takes it back)"
            )
        yield from self.elsewhere
        if self.relations:
            yield "\nwith whom"
        for relation in self.relations:
            keywords = ", ".join(relation.keywords[:MAX_NAMES])
            said = ": ".join(filter(None, (keywords, relation.text.partition("\n")[0])))
            about = " · ".join(filter(None, (relation.name, relation.type)))
            yield f"  {about}, {count_noun(relation.chunks, 'chunk')}" + (
                f": {said}" if said else ""
            )
        yield "\nwhere"
        for place in self.places:
            yield (
                f"  {place.section or '(no heading)'}: {count_noun(place.mentions, 'mention')} in "
                f"{count_noun(place.chunks, 'chunk')}, characters {place.start}-{place.end}"
            )


@dataclass(frozen=True)
class EntityCards:
    """The entities of a name, those with most mentions first."""

    total: int
    rows: tuple[EntityCard, ...]

    def to_text(self) -> str:
        """Return each entity in lines."""
        return "\n\n".join(card.to_text() for card in self.rows)


@operation(
    "/collections/{collection}/entity",
    group="People",
    positional=["name"],
    hides_unread=True,
    has_screen=False,
    examples=(
        "entity Scrooge",
        'entity Scrooge --document "A Christmas Carol" --until "Stave Two"',
        "entity Scrooge --json",
    ),
)
def entity(
    collection: Collection,
    name: Annotated[
        str, Field(min_length=1, max_length=500, description="any of its names, or its id")
    ],
    document: Document = "",
    most: Annotated[
        int,
        Field(ge=1, le=MAX_ROWS, description="how many relations and sections of each are listed"),
    ] = 20,
) -> EntityCards:
    """Show who or what has a name: all names, relations, where it is mentioned, and corrections.

    An entity is one of a document, so a name may be that of several. What is known of it in other
    documents and how to correct it is shown, too, but not to somebody who has read a part.

    Raises:
        NotFound: Nothing is called so, or there is no such document.
    """
    known = collection.filters(document)
    store = collection.open_store()
    rows = find_called(store, known, name, most)
    if not rows:
        # Nobody is printed so: perhaps with accents, or another ligature.
        cast = list_entities(store, known, limit=ALL_ROWS)
        form = find_alike(name, (form for row in cast for form in row["names"]))
        rows = find_called(store, known, form, most) if form else []
    if not rows:
        where = f"in {quote_name(document)}" if document else f"in collection {collection.name!r}"
        raise NotFound(
            f"No entity {where} is called {quote_name(name)}.",
            advice="`fabula entities` lists them.",
        )
    others = {} if collection.place else _find_others(collection, rows)
    cards = [_make_card(collection, row, others.get(row["id"], OtherEntities())) for row in rows]
    return EntityCards(len(cards), tuple(cards))


def _make_card(collection: Collection, row: Mapping[str, Any], others: OtherEntities) -> EntityCard:
    values = dict(row)
    values["relations"] = tuple(Relation(**each) for each in row["relations"])
    values["places"] = tuple(Mentions(**each) for each in row["places"])
    return EntityCard(
        **values,
        others=others.others,
        namesakes=others.namesakes,
        elsewhere=others.lines,
        corrections=tuple(
            find_corrections(collection, collection.document(row["document"]), row["names"])
        ),
    )


def _find_others(
    collection: Collection, rows: Sequence[Mapping[str, Any]]
) -> Mapping[str, OtherEntities]:
    """Return what graphs know about entities in other documents, by the ids of the entities."""
    found: dict[str, OtherEntities] = {}
    stale = {part.graph: part.stale for part in collection.collection_graphs()}
    for graph in graphs().values():
        if graph.find_others:
            options = collection.settings.table(graph.name)
            given = (
                collection.open_store().rows,
                collection.name,
                options,
                stale.get(graph.name, ()),
                rows,
            )
            found |= graph.find_others(*given)
    return found
