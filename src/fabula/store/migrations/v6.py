"""To version 6: the place from which on a reader may be shown a node, and who wrote a summary.

Every passage and element gets `last`, the end of the last chunk that it rests on, and `since`. The
vector indexes are made anew, as no property can be added to one. Summaries and details get `by`,
and the names of those that only quote the text say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fabula.graph.queries import read_statement
from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.migrations import v5

NEVER = 2**53
GROWING = ("entity", "relation", "triple", "term")
_VECTOR_INDEX = re.compile(r"(passage|element)_vectors_\d+(_2)?")
_SUMMARY_NAME = re.compile(r"(.* \d+)(: .*)", re.DOTALL)
"""The name of a summary: its aspect and level, and the beginning of its text."""


def _drop_indexes(store: Database) -> None:
    """Drop the vector indexes: without them the places are written faster.

    Those that questions need are made again after the last step, and that of a re-embedding under
    way when it goes on.
    """
    for index in store.indexes():
        if _VECTOR_INDEX.fullmatch(index.name):
            store.rows("migrate/6_schema_drop_index", index=index.name)


def _save_places(store: Database) -> None:
    with store.session() as session:
        parameters = {"never": NEVER, "growing": list(GROWING)}
        session.run(read_statement("migrate/6_save_places"), parameters).consume()


def _mark_extracts(store: Database) -> None:
    # Frozen code of version 5 counts the words of the new names.
    v5.update(store, "migrate/6_find_extracts", "migrate/6_save_extracts", _mark)


def _mark(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return who wrote a summary or detail, and the name of an extract with its words."""
    models = json.loads(row["made_from"] or "{}").get("models", {})
    if models.get("model") != "offline":
        return {"by": "model"}
    marked: dict[str, Any] = {"by": "rules"}
    if row["kind"] == "summary" and (match := _SUMMARY_NAME.fullmatch(row["name"] or "")):
        marked["name"] = f"{match[1]}, extract{match[2]}"
        marked |= v5.words_of({**row, "name": marked["name"]})
    return marked


STEPS: tuple[Step, ...] = (_drop_indexes, _save_places, _mark_extracts)
