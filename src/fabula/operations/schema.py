"""Describe the graph of a collection, briefly enough for a model that is to write Cypher."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from fabula.errors import NotFound, did_you_mean
from fabula.operations.kit import operation
from fabula.operations.queries import GROUP
from fabula.text.names import quote_name
from fabula.text.tokens import count

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store.embedding_space import Space

MAX_TOKENS = 1500
"""The largest schema of a collection, as JSON."""
SAMPLE = 100
"""How many nodes of each kind are looked at."""
SHARED = ("Passage", "Element")
"""The labels that many kinds have, over which indexes are."""
TECHNICAL = re.compile(r"Passage|Element|PassageText|ElementText|(Passage|Element)\d+")
"""Labels that say by which index a node is found, and not what it is."""
INTERNAL = frozenset(
    {"embedding", "embedding_2", "run", "labels", "search_terms", "search_length", "tenant"}
)
"""Properties that no statement needs to name; the vector index has the embeddings."""
NOTES = (
    "begin with CYPHER 25, and keep to it: MATCH (n:Passage&Chunk {collection: $collection})",
    "name Passage or Element beside the label, as indexes are over them; all ids are in `id`",
    "start and end are characters of the document; `sources` are ids of the chunks it rests on",
    "`queries` lists statements that are ready, `cypher` runs one in this collection",
)


@dataclass(frozen=True)
class GraphSchema:
    """What the graph of a collection consists of.

    Attributes:
        collection: The name of the collection.
        model: Its embedding model.
        dimensions: The dimensions of its vectors.
        graphs: How many of its documents have each graph; of its own graphs 1.
        labels: What each label has: how many nodes, and its properties. Passage and Element stand
            for what all passages and all elements have.
        edges: The edges, as (Detail)-[DETAILS]->(Chunk), with their properties.
        indexes: The indexes, and what they are over.
        properties: The properties of the label that was named, with their types.
        notes: What to know before writing a statement.
    """

    collection: str
    model: str
    dimensions: int
    graphs: Mapping[str, int]
    labels: Mapping[str, str]
    edges: tuple[str, ...]
    indexes: Mapping[str, str]
    properties: Mapping[str, str]
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """Return it as lines, with a heading for each of its lists."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.collection}: embedded by {self.model}, {self.dimensions:,} dimensions"
        tables = {
            "Graphs": {name: f"{number:,}" for name, number in self.graphs.items()},
            "Labels": self.labels,
            "Properties": self.properties,
            "Indexes": self.indexes,
        }
        for heading, table in tables.items():
            if table:
                yield from ("", heading, *(f"  {name}: {what}" for name, what in table.items()))
        for heading, lines in {"Edges": self.edges, "Notes": self.notes}.items():
            yield from ("", heading, *(f"  {line}" for line in lines))


@dataclass(frozen=True)
class _Kind:
    """The nodes of a kind: their main label, how many there are, and what some of them have."""

    label: str
    role: str
    nodes: int
    types: Mapping[str, str]
    edges: tuple[str, ...]


@operation(
    "/collections/{collection}/schema",
    group=GROUP,
    positional=["label"],
    is_query=True,
    has_screen=False,
    examples=("schema", "schema Entity --json"),
)
def schema(
    collection: Collection,
    label: Annotated[
        str,
        Field(max_length=100, description="only this label, with the types of its properties"),
    ] = "",
) -> GraphSchema:
    """Describe the graph of a collection, in at most 1,500 tokens, for whoever writes Cypher.

    It has the labels, properties, edges, indexes and graphs that this collection has. Properties
    and edges are those of a sample of 100 nodes of each kind.

    Raises:
        NotFound: Nothing has been ingested into it, or it has no such label.
    """
    space = collection.space()
    if space is None:
        raise NotFound(f"There is no collection {quote_name(collection.name)}.")
    rows = collection.open_store().rows(
        "core/find_shape", collection=collection.name, sample=SAMPLE
    )
    kinds = [_read_kind(row) for row in rows]
    if label:
        known = [kind.label for kind in kinds]
        if label not in known:
            hint = did_you_mean(label, known, f"There are: {', '.join(known)}.")
            raise NotFound(f"The collection has no label {quote_name(label)}. {hint}")
        kinds = [kind for kind in kinds if kind.label == label]
    found = GraphSchema(
        collection.name,
        space.model,
        space.dimensions,
        _count_graphs(collection),
        {},
        tuple(dict.fromkeys(edge for kind in kinds for edge in kind.edges)),
        _describe_indexes(space),
        dict(kinds[0].types) if label else {},
        NOTES,
    )
    # The fewer properties are named, the longer the list of labels may be.
    for most in (1000, 24, 12, 6, 3, 0):
        found = replace(found, labels=_describe_labels(kinds, most, is_alone=bool(label)))
        if count(json.dumps(_values(found))) <= MAX_TOKENS:
            break
    while count(json.dumps(_values(found))) > MAX_TOKENS and found.edges:
        found = replace(
            found, edges=(*found.edges[: len(found.edges) // 2], "name a label for more")
        )
    return found


def _values(found: GraphSchema) -> Mapping[str, Any]:
    return {name: getattr(found, name) for name in GraphSchema.__dataclass_fields__}


def _read_kind(row: Mapping[str, Any]) -> _Kind:
    label = _main_label(row["labels"])
    types: dict[str, list[str]] = {}
    for each in row["properties"]:
        if each["name"] not in INTERNAL:
            types.setdefault(each["name"], []).append(each["type"].removesuffix(" NOT NULL"))
    edges: dict[str, set[str]] = {}
    ends: dict[str, set[str]] = {}
    for edge in row["edges"]:
        ends.setdefault(edge["type"], set()).add(_main_label(edge["to"]))
        edges.setdefault(edge["type"], set()).update(edge["properties"])
    lines = tuple(
        f"({label})-[{type}{_in_braces(properties)}]->({'|'.join(sorted(ends[type]))})"
        for type, properties in edges.items()
    )
    joined = {name: " or ".join(dict.fromkeys(each)) for name, each in types.items()}
    return _Kind(label, row["role"], row["nodes"], joined, lines)


def _in_braces(names: Iterable[str]) -> str:
    listed = ", ".join(sorted(set(names) - INTERNAL))
    return f" {{{listed}}}" if listed else ""


def _main_label(labels: Sequence[str]) -> str:
    """Return the label that says what a node is, as Chunk; of several the last by name."""
    own = sorted(label for label in labels if not TECHNICAL.fullmatch(label))
    return own[-1] if own else min(labels)


def _describe_labels(kinds: Sequence[_Kind], most: int, *, is_alone: bool) -> dict[str, str]:
    described: dict[str, str] = {}
    shared: dict[str, set[str]] = {}
    for role in SHARED:
        of_role = [set(kind.types) for kind in kinds if kind.role == role]
        if len(of_role) > 1 and not is_alone:
            shared[role] = set.intersection(*of_role)
            described[role] = f"all have {', '.join(sorted(shared[role]))}"
    for kind in kinds:
        own = [name for name in kind.types if name not in shared.get(kind.role, ())]
        left = f", {len(own) - most} more" if len(own) > most else ""
        role = f"{kind.role}, " if kind.role in SHARED else ""
        properties = "" if is_alone else f": {', '.join(own[:most])}{left}" if own else ""
        described[kind.label] = f"{role}{kind.nodes:,}{properties}"
    return described


def _count_graphs(collection: Collection) -> dict[str, int]:
    store, name = collection.open_store(), collection.name
    rows = store.rows("core/count_parts", collection=name)
    return {row["graph"]: row["parts"] for row in rows}


def _describe_indexes(space: Space) -> dict[str, str]:
    """Return the indexes by which nodes of the collection are found, with how to ask them."""
    from fabula.store.schema import needed_indexes

    vectors = "vectors; SEARCH with filters on collection, document, kind"
    words = "full text over search_text (folded words), search_terms, tenant"
    described = {name: vectors if "vectors" in name else words for name in needed_indexes(space)}
    return described | {
        "passage_id, element_id, document_id, part_id": "unique id",
        "passage_kind, element_kind": "collection, kind, document",
        "passage_document, element_document": "document",
    }
