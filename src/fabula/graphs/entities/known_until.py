"""What a reader knows of entities, relations, triples and facts who has not read all of the text.

An entity grows with the text: its name, its forms, its counts and its description are of the whole
book. For a reader with a place (`GraphReader.place`) they are put together again here, from what
the chunks up to that place say of it, which its edges to chunks hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from fabula.graph import TEXT, Edge, Node, Part
from fabula.graph.hits import ALL_ROWS, Filters
from fabula.graph.parts_until import edges_to_chunks
from fabula.graph.queries import read_statement
from fabula.graph.readers import GraphReader
from fabula.graph.unread import IsUnread, hide_unread
from fabula.graphs.entities.labels import (
    ENTITY,
    FROM_CHUNK,
    RELATES_TO,
    RELATION,
    SOURCE,
    TARGET,
    TRIPLE,
)

PART_COLUMNS = ("names", "said", "keywords", "words")
"""What an edge to a chunk says of an element."""
MAX_CHARACTERS = 1500
"""Characters of a description that is put together from statements: as long as one of a model."""


@dataclass(frozen=True, slots=True)
class KnownElement:
    """What the text up to a place says of an element.

    Attributes:
        id: Its id.
        name: What it is called: the usual name if that is printed up to the place, else the form
            that is printed most often there; '' if none is.
        names: The forms that are printed up to the place, the most frequent first, with counts.
        statements: What is said of it, in text order.
        words: Of a triple, its subject, predicate and object as the first chunk states them, where
            they differ from those of its node.
        keywords: Of a relation, the keywords.
        chunks: How many chunks up to the place have it.
        relations: How many relations it has there.
        is_whole: Whether it rests on no later text.
    """

    id: str
    name: str
    names: Mapping[str, int]
    statements: tuple[str, ...]
    words: tuple[str, ...]
    keywords: tuple[str, ...]
    chunks: int
    relations: int
    is_whole: bool

    @property
    def text(self) -> str:
        """What is said of it, up to a length."""
        chosen: list[str] = []
        left = MAX_CHARACTERS
        for statement in self.statements:
            left -= len(statement) + 1
            if left < 0 and chosen:
                break
            chosen.append(statement)
        return " ".join(chosen)


def read_known(
    store: GraphReader, filters: Filters, nodes: Iterable[str]
) -> dict[str, KnownElement]:
    """Return what a reader knows of elements, by their ids; one that is not known yet is left out.

    Args:
        store: The graph, as the reader knows it.
        filters: The collection, and the document if it is only one.
        nodes: Ids of entities, relations, triples and facts.
    """
    ids = list(dict.fromkeys(nodes))
    if not ids:
        return {}
    rows = store.read_unchecked(read_statement("entities/find_known"), filters, nodes=ids)
    return {row["id"]: _known(row) for row in rows}


def list_entities(store: GraphReader, filters: Filters, *, limit: int) -> list[dict[str, Any]]:
    """Return the entities of a collection or a document, those with most mentions first.

    Args:
        store: The graph, as the reader knows it.
        filters: The collection, and the document if it is only one.
        limit: How many to return.
    """
    rows = store.read_unchecked(
        read_statement("entities/find_cast"),
        filters,
        document=filters.document,
        limit=ALL_ROWS if store.place else limit,
    )
    if not store.place:
        return rows
    known = read_known(store, filters, [row["id"] for row in rows])
    return restrict_cast(rows, known, store.is_unread)[:limit]


def find_called(
    store: GraphReader, filters: Filters, called: str, limit: int
) -> list[dict[str, Any]]:
    """Return the entities of a name with their descriptions, relations and places.

    Args:
        store: The graph, as the reader knows it.
        filters: The collection, and the document if it is only one.
        called: The name, or an id.
        limit: How many relations and places of each.
    """
    key = plain_name(called)
    rows = store.read_unchecked(
        read_statement("entities/find_called"),
        filters,
        document=filters.document,
        called=key,
        limit=limit,
    )
    others = [relation["other"] for row in rows for relation in row["relations"]]
    if store.place:
        known = read_known(store, filters, [*(row["id"] for row in rows), *others])
        rows = restrict_cast(rows, known, store.is_unread)
        # A name that is printed later finds nobody yet.
        rows = [row for row in rows if key in (row["id"], *map(plain_name, row["names"]))]
    for row in rows:
        row["relations"] = [
            {name: value for name, value in relation.items() if name != "other"}
            for relation in row["relations"]
        ]
    return rows


def plain_name(name: str) -> str:
    """Return a name as `entities/find_called` compares it."""
    return " ".join(name.lower().replace("’", "'").replace(".", "").split())


def _known(row: Mapping[str, Any]) -> KnownElement:
    parts = row["parts"]
    counts = Counter(name for part in parts for name in part["names"] or ())
    names = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    is_named = row["name"] in names or row["whole"]
    words = (parts[0]["words"] if parts else None) or ()
    return KnownElement(
        id=row["id"],
        name=row["name"] if is_named else next(iter(names), ""),
        names=names,
        statements=tuple(dict.fromkeys(part["said"] for part in parts if part["said"])),
        words=tuple(words),
        keywords=tuple(dict.fromkeys(word for part in parts for word in part["keywords"] or ())),
        chunks=len(parts),
        relations=row["relations"],
        is_whole=row["whole"],
    )


# Rows of statements, as a reader may see them


def restrict_columns(
    columns: Mapping[str, Sequence[Any]], known: Mapping[str, KnownElement]
) -> dict[str, list[Any]]:
    """Return the columns of `entities/find_entities` with the forms that a reader has seen.

    An entity whose name was not printed up to the reader's place is left out.
    """
    kept = [row for row, id in enumerate(columns["ids"]) if id in known and known[id].names]
    restricted = {name: [values[row] for row in kept] for name, values in columns.items()}
    elements = [known[id] for id in restricted["ids"]]
    restricted["keys"] = [
        key if element.is_whole else element.name.casefold()
        for key, element in zip(restricted["keys"], elements, strict=True)
    ]
    restricted["names"] = [_order(element) for element in elements]
    restricted["counts"] = [
        [element.names.get(name, 0) for name in _order(element)] for element in elements
    ]
    return restricted


def _order(element: KnownElement) -> list[str]:
    """Return the forms of an entity, its name first."""
    return list(dict.fromkeys([element.name, *element.names]))


def restrict_records(
    rows: Sequence[Mapping[str, Any]], known: Mapping[str, KnownElement], is_unread: IsUnread | None
) -> list[dict[str, Any]]:
    """Return rows of `entities/find_records` as a reader may see them; the others are left out.

    Args:
        rows: The rows. `first` and `second` are the ids of the entities at the two ends.
        known: What is known of the nodes and of their ends.
        is_unread: Whether a text prints a name that the reader has not read.
    """
    restricted = [shown for row in rows if (shown := _restrict_record(row, known))]
    return hide_unread(restricted, is_unread)


def _restrict_record(
    row: Mapping[str, Any], known: Mapping[str, KnownElement]
) -> dict[str, Any] | None:
    """Return a record as a reader may see it; None if a name in it was not printed yet."""
    element = known.get(row["id"])
    ends = [known.get(row[end]) for end in ("first", "second") if row[end]]
    if element is None or not all(end and end.name for end in ends):
        return None
    names = [end.name for end in ends if end]
    shown = dict(row)
    if row["kind"] == "entity":
        if not element.name:
            return None
        shown["name"] = element.name
    elif row["kind"] == "relation":
        if len(names) != 2:
            return None
        shown["source"], shown["target"] = names
    elif row["kind"] == "fact" and not {row["first_name"], row["second_name"]}.issuperset(names):
        # Its text names both ends by their usual names, one of which is printed later.
        return None
    if not element.is_whole and row["kind"] in ("entity", "relation"):
        shown["text"] = element.text
    elif not element.is_whole and element.words:
        shown["text"] = " ".join(element.words)
    return shown


def restrict_cast(
    rows: Sequence[Mapping[str, Any]], known: Mapping[str, KnownElement], is_unread: IsUnread | None
) -> list[dict[str, Any]]:
    """Return rows of `entities/find_cast` or `find_called` as a reader may see them.

    Those of most mentions up to the reader's place come first.
    """
    restricted = []
    for row in rows:
        element = known.get(row["id"])
        if element is None or not element.name or not element.names:
            continue
        shown = _restrict_entity(row, element)
        if "merged_by" in row:
            if is_unread and is_unread(shown["text"]):
                shown["text"] = ""
            shown["relations"] = _restrict_relations(row["relations"], known, is_unread)
        else:
            shown["relations"] = element.relations
        restricted.append(shown)
    return sorted(
        restricted, key=lambda row: (-row["mentions"], -row["chunks"], row["name"], row["id"])
    )


def _restrict_relations(
    relations: Sequence[Mapping[str, Any]],
    known: Mapping[str, KnownElement],
    is_unread: IsUnread | None,
) -> list[dict[str, Any]]:
    """Return the relations of an entity with the names that a reader has seen."""
    restricted = []
    for relation in relations:
        other = known.get(relation["other"])
        if other is not None and other.name and other.names:
            shown = {**relation, "name": other.name}
            if is_unread and is_unread(shown["text"]):
                shown["text"] = ""
            restricted.append(shown)
    return restricted


# Parts, as pictures and exports read them


def restrict_part(part: Part, below: Mapping[str, Part], chunks: Set[str]) -> Part:
    """Return the entities, relations and triples of a document as the read chunks have them."""
    edges = edges_to_chunks(part, FROM_CHUNK)
    ends = {
        (edge.start, edge.type): edge.end for edge in part.edges if edge.type in (SOURCE, TARGET)
    }
    related = Counter(end for end in ends.values())
    order = {id: place for place, id in enumerate(_in_text_order(below))}
    known = {
        node.id: _known(
            {
                "id": node.id,
                "name": node.properties["name"],
                "whole": chunks >= set(node.sources),
                "parts": [
                    {name: edge.properties.get(name) for name in PART_COLUMNS}
                    for edge in sorted(
                        edges.get(node.id, ()), key=lambda edge: order.get(edge.end, 0)
                    )
                ],
                "relations": related[node.id],
            }
        )
        for node in part.nodes
    }
    nodes = []
    for node in part.nodes:
        element = known[node.id]
        source, target = (known.get(ends.get((node.id, type), "")) for type in (SOURCE, TARGET))
        sources = tuple(id for id in node.sources if id in chunks)
        if node.label == ENTITY and element.names:
            properties = _restrict_entity(node.properties, element)
        elif node.label == RELATION and source and target and source.name and target.name:
            strengths = [edge.properties["strength"] for edge in edges.get(node.id, ())]
            properties = {
                **node.properties,
                "name": f"{source.name} – {target.name}",
                "source": source.name,
                "target": target.name,
                "count": len(sources),
                "strength": sum(strengths),
            }
            if not element.is_whole:
                properties |= {"text": element.text, "keywords": list(element.keywords)}
        elif node.label == TRIPLE:
            properties = {**node.properties, "count": len(sources)}
            if not element.is_whole and element.words:
                subject, predicate, object = element.words
                properties |= {"subject": subject, "predicate": predicate, "object": object}
                properties["text"] = " ".join(element.words)
        else:
            continue
        properties.pop("embedded_text", None)
        nodes.append(Node(node.id, node.label, properties, sources))
    shown = {node.id: node for node in nodes}
    kept = [
        edge
        for edge in part.edges
        if edge.type != RELATES_TO
        and edge.start in shown
        and (edge.end in shown or edge.end not in known)
    ]
    for id, node in shown.items():
        if node.label == RELATION:
            weights = {name: node.properties[name] for name in ("count", "strength")}
            kept.append(Edge(RELATES_TO, ends[id, SOURCE], ends[id, TARGET], weights))
    return replace(part, nodes=tuple(nodes), edges=tuple(kept))


def _restrict_entity(row: Mapping[str, Any], element: KnownElement) -> dict[str, Any]:
    """Return what a row or a node has of an entity, as far as it is known."""
    names = _order(element)
    shown = {
        **row,
        "name": element.name,
        "names": names,
        "counts": [element.names.get(name, 0) for name in names],
        "mentions": sum(element.names.values()),
        "chunks": element.chunks,
    }
    if "merged_by" in row:
        reasons = dict(zip(row["names"], row["merged_by"], strict=True))
        shown["merged_by"] = [reasons.get(name, "") for name in names]
        shown["degree"] = element.relations
        if not element.is_whole:
            shown |= {"text": element.text, "key": element.name.casefold()}
    return shown


def _in_text_order(below: Mapping[str, Part]) -> list[str]:
    chunks = [node for node in below[TEXT].nodes if "index" in node.properties]
    return [node.id for node in sorted(chunks, key=lambda node: int(node.properties["index"]))]
