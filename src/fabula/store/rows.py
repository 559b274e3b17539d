"""Rows of the graph as values, and filters as the parameters of a statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from neo4j.vector import Vector as WireVector

from fabula.model import Entry, Filters, Usage, Vector
from fabula.store.space import Space

LAST_CHARACTER = "\U0010ffff"


def entry(row: dict[str, Any]) -> Entry:
    """A document as the graph lists it."""
    usage = {step: Usage(**one) for step, one in json.loads(row["usage"]).items()}
    settings = json.loads(row["settings"])
    return Entry(**row | {"usage": usage, "settings": settings, "assigned": tuple(row["assigned"])})


def made_space(rows: Sequence[dict[str, Any]]) -> Space | None:
    """The embedding space, or None where none is recorded."""
    return Space(**rows[0] | {"aspects": tuple(rows[0]["aspects"])}) if rows else None


def wire(vector: Vector) -> WireVector:
    """A vector as Neo4j takes it in."""
    return WireVector.from_numpy(np.ascontiguousarray(vector, dtype=np.float32))


def bounds(filters: Filters) -> dict[str, Any]:
    """An open filter is the whole range or the whole list, so that one statement serves all."""
    return {
        "collection": filters.collection,
        "first_document": filters.document,
        "last_document": filters.document or LAST_CHARACTER,
        "kinds": list(filters.kinds),
        "aspects": list(filters.aspects),
        "lowest": filters.lowest,
        "highest": filters.highest,
    }
