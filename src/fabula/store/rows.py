"""Conversions between rows of Neo4j and values, and from filters to parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from neo4j.vector import Vector as WireVector

from fabula.graph import RESERVED, Gap, Owner, Record
from fabula.graph.entries import Entry
from fabula.graph.gaps import make_gap
from fabula.graph.hits import Filters
from fabula.models.usage import Usage
from fabula.store.embedding_space import Space
from fabula.text.document import Vector
from fabula.text.metadata import from_pairs

LAST_CHARACTER = "\U0010ffff"
_DOCUMENT_RANGE = re.compile(
    r"(\w+)\.document >= \$first_document AND \1\.document <= \$last_document"
)
"""How a statement restricts what it finds to all documents or to one."""


def is_whole(row: Mapping[str, Any]) -> bool:
    """Return whether a row has all properties of a document and of its parts.

    A node that is switched out between being found and being read has none.
    """
    parts = (part.get("graph") for part in row["parts"])
    return None not in [*row["document"].values(), *parts]


def read_entry(row: Mapping[str, Any]) -> Entry:
    """Return the document of a row, without parts that were switched out while they were read."""
    graphs = {part["graph"]: read_record(part) for part in row["parts"] if part.get("graph")}
    document = dict(row["document"])
    own = {
        "left_out": json.loads(document.pop("left_out")),
        "warnings": tuple(document.pop("warnings")),
        "appended": tuple(document.pop("appended")),
        "metadata": from_pairs(document.pop("metadata")),
        "stated": json.loads(document.pop("stated", "{}")),
    }
    return Entry(**document, graphs=graphs, **own)


def read_record(part: Mapping[str, Any]) -> Record:
    """Return what a part was made from and cost, from the properties of its node."""
    usage = {step: Usage.read(counts) for step, counts in json.loads(part["usage"]).items()}
    facts = {name: value for name, value in part.items() if name not in RESERVED}
    return Record(
        made_from=json.loads(part["made_from"]),
        usage=usage,
        facts=facts,
        gaps=part["gaps"],
        updated_at=str(part.get("updated_at") or ""),
    )


def read_gap(row: Mapping[str, Any]) -> Gap:
    """Return a gap from the properties of its node and what it would rest on."""
    properties = {name: value for name, value in row["properties"].items() if value is not None}
    rests_on = {node["id"]: node["weight"] for node in row["rests_on"]}
    return make_gap(properties, row["sources"], rests_on)


def part_id(owner: Owner) -> str:
    """Return the id of the node that stands for a part; graphs and documents have no slash."""
    return f"{owner.collection}/{owner.graph}/{owner.document}"


def part_properties(owner: Owner, record: Record) -> dict[str, Any]:
    """Return the properties of the node that stands for a part."""
    spent = sum(record.usage.values(), Usage())
    steps = {step: usage.row for step, usage in record.usage.items()}
    return dict(record.facts) | {
        "name": owner.graph,
        **owner._asdict(),
        "fingerprint": record.fingerprint,
        "made_from": json.dumps(record.made_from, sort_keys=True, ensure_ascii=False),
        "usage": json.dumps(steps),
        "gaps": record.gaps,
        **spent.counts,
    }


def read_space(rows: Sequence[Mapping[str, Any]]) -> Space | None:
    """Return the embedding space of the first row; None where there is no row."""
    if not rows:
        return None
    row = rows[0]
    lists = {name: tuple(row[name]) for name in ("aspects", "kinds", "element_kinds")}
    return Space(**{**row, **lists})


def encode_vector(vector: Vector) -> WireVector:
    """Return a vector as Neo4j takes it in."""
    return WireVector.from_numpy(np.ascontiguousarray(vector, dtype=np.float32))


def decode_vector(sent: Any) -> Vector:
    """Return a vector that Neo4j sent: big-endian bytes become float32, shape (dimensions,)."""
    return np.frombuffer(sent.raw(), ">f4").astype(np.float32)


def for_documents(statement: str, filters: Filters) -> str:
    """Return a statement that looks in several documents, if the filters name some.

    A range of ids has all documents or a single one, and costs less where that is meant.
    """
    return (
        _DOCUMENT_RANGE.sub(r"\1.document IN $documents", statement)
        if filters.documents
        else (statement)
    )


def filter_parameters(filters: Filters) -> dict[str, Any]:
    """Return filters as parameters: one that is not set is the whole range or an empty list."""
    return {
        "collection": filters.collection,
        "first_document": filters.document,
        "last_document": filters.document or LAST_CHARACTER,
        "documents": list(filters.documents),
        "kinds": list(filters.kinds),
        "aspects": list(filters.aspects),
        "lowest": filters.lowest,
        "highest": filters.highest,
    }
