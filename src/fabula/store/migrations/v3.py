"""To version 3: labels of their own for the full-text indexes, over PassageText and ElementText.

A staged node is given them before it is a Passage or an Element, so that the switch that makes it
one changes no full-text index.
"""

from __future__ import annotations

from fabula.graph.queries import read_statement
from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.schema import ensure, wait

INDEXES = ("passage_texts", "element_texts")


def _drop_indexes(store: Database) -> None:
    """Drop the indexes over the old labels: without them the new labels are written faster."""
    for name in INDEXES:
        store.rows("migrate/3_schema_drop_index", index=name)


def _save_labels(store: Database) -> None:
    with store.session() as session:
        session.run(read_statement("migrate/3_save_text_labels")).consume()


def _make_indexes(store: Database) -> None:
    for name in ("migrate/3_schema_passage_texts", "migrate/3_schema_element_texts"):
        ensure(store, name)
    wait(store, *INDEXES)


STEPS: tuple[Step, ...] = (_drop_indexes, _save_labels, _make_indexes)
