"""Rows of the graph as values, and filters as the parameters of a statement."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from neo4j.vector import Vector as WireVector

from fabula.graph import RESERVED, Gap, Owner, Record
from fabula.graph.entries import Entry
from fabula.graph.gaps import make_gap
from fabula.graph.hits import Filters
from fabula.models.usage import Usage
from fabula.store.space import Space
from fabula.text.document import Vector

LAST_CHARACTER = "\U0010ffff"


def entry(row: Mapping[str, Any]) -> Entry:
    """A document as the graph lists it."""
    graphs = {part["graph"]: record(part) for part in row["parts"]}
    return Entry(**row["document"], graphs=graphs)


def record(part: Mapping[str, Any]) -> Record:
    """What a part was made from and cost, from the properties of its node."""
    usage = {step: Usage.read(one) for step, one in json.loads(part["usage"]).items()}
    facts = {name: value for name, value in part.items() if name not in RESERVED}
    return Record(
        made_from=json.loads(part["made_from"]),
        usage=usage,
        facts=facts,
        # An older part had none, and does not tell.
        gaps=part.get("gaps") or 0,
        updated_at=str(part.get("updated_at") or ""),
    )


def gap(row: Mapping[str, Any]) -> Gap:
    """A gap, from the properties of its node and the ids and weights of what it would rest on."""
    properties = {name: one for name, one in row["properties"].items() if one is not None}
    rests_on = {one["id"]: one["weight"] for one in row["rests_on"]}
    return make_gap(properties, row["sources"], rests_on)


def part_id(owner: Owner) -> str:
    """The id of the node that stands for a part; graphs and documents have no slash."""
    return f"{owner.collection}/{owner.graph}/{owner.document}"


def part_properties(owner: Owner, made: Record) -> dict[str, Any]:
    """The properties of the node that stands for a part."""
    spent = sum(made.usage.values(), Usage())
    steps = {step: usage.row for step, usage in made.usage.items()}
    return dict(made.facts) | {
        "name": owner.graph,
        **owner._asdict(),
        "fingerprint": made.fingerprint,
        "made_from": json.dumps(made.made_from, sort_keys=True, ensure_ascii=False),
        "usage": json.dumps(steps),
        "gaps": made.gaps,
        **spent.counts,
    }


def made_space(rows: Sequence[Mapping[str, Any]]) -> Space | None:
    """The embedding space, or None where none is recorded."""
    if not rows:
        return None
    row = rows[0]
    lists = {name: tuple(row[name]) for name in ("aspects", "kinds", "element_kinds")}
    return Space(**{**row, **lists})


def wire(vector: Vector) -> WireVector:
    """A vector as Neo4j takes it in."""
    return WireVector.from_numpy(np.ascontiguousarray(vector, dtype=np.float32))


def unwired(sent: Any) -> Vector:
    """A vector as Neo4j sends it: big-endian bytes."""
    return np.frombuffer(sent.raw(), ">f4").astype(np.float32)


def bounds(filters: Filters) -> dict[str, Any]:
    """An open filter is the whole range, or an empty list."""
    return {
        "collection": filters.collection,
        "first_document": filters.document,
        "last_document": filters.document or LAST_CHARACTER,
        "kinds": list(filters.kinds),
        "aspects": list(filters.aspects),
        "lowest": filters.lowest,
        "highest": filters.highest,
    }
