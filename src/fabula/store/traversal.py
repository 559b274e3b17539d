"""Ways through the graph beside the nearest passages: what a mode's statement finds, and ties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from fabula.model import Filters, Hit, Vector
from fabula.queries import query
from fabula.store import Store
from fabula.store.rows import bounds, wire
from fabula.store.space import refuse_moving, refuse_other_model

Tie = Literal["parents", "neighbours"]
STATEMENTS: dict[Tie, str] = {"parents": "find_parents", "neighbours": "find_neighbours"}


def found(
    store: Store, statement: str, vector: Vector, filters: Filters, model: str, **parameters: Any
) -> list[Hit]:
    """What a statement finds, best first; it has the parameters of `find_top_down.cypher`.

    Raises SpaceError where the graph's embeddings are not of the `model` of the vector, or are
    just being moved.
    """
    asked = bounds(filters) | {"vector": wire(vector), "model": model} | parameters
    return [Hit(**row) for row in _rows(store, statement, model, asked)]


def members(
    store: Store, summaries: Sequence[str], vector: Vector, model: str
) -> dict[str, list[Hit]]:
    """What each summary rests on, by its id; scores are cosines with the vector."""
    asked = {"summaries": list(summaries), "vector": wire(vector), "model": model}
    grouped: dict[str, list[Hit]] = {summary: [] for summary in summaries}
    for row in _rows(store, query("find_members"), model, asked):
        grouped[row.pop("summary")].append(Hit(**row))
    return grouped


def related(store: Store, passages: Sequence[str], tie: Tie) -> dict[str, list[Hit]]:
    """The summaries right above some passages, or the chunks beside them, by the passages' ids."""
    grouped: dict[str, list[Hit]] = defaultdict(list)
    for row in store.rows(STATEMENTS[tie], passages=list(passages)):
        grouped[row.pop("hit")].append(Hit(**row))
    return grouped


def vectors(store: Store, passages: Sequence[str]) -> dict[str, Vector]:
    """The embeddings of some passages, by their ids: float32, shape (dimensions,), length 1."""
    space = store.space()
    size = space.dimensions if space else 1
    return {
        row["id"]: np.frombuffer(row["vector"].raw(), ">f4").astype(np.float32)
        for row in store.rows("find_vectors", passages=list(passages), dimensions=size)
    }


def _rows(store: Store, statement: str, model: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
    rows = store.run(statement, **asked)
    if not rows and (space := store.space()):
        refuse_other_model(space, model)
        refuse_moving(space)
    return rows
