"""A migration of the tests' own, to a version 2 that puts every passage on a shelf.

As every migration it uses nothing of Fabula but what sends a statement. It stands for what a real
one may do: it drops an index, changes nodes in many transactions, and makes an index of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from fabula.store import migration, migrations
from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.schema import wait


def _drop_stems(store: Database) -> None:
    store.run("CYPHER 25 DROP INDEX document_stem IF EXISTS", "migrate/2_schema_drop_index")


def _save_shelves(store: Database) -> None:
    with store.session() as session:
        session.run(
            "CYPHER 25 MATCH (n:Passage) WHERE n.shelf IS NULL "
            "CALL (n) { SET n.shelf = 'shelf of ' + n.collection } IN TRANSACTIONS OF 1 ROWS"
        ).consume()


def _make_index(store: Database) -> None:
    store.run(
        "CYPHER 25 CREATE INDEX passage_shelf IF NOT EXISTS FOR (n:Passage) ON (n.shelf)",
        "migrate/2_schema_passage_shelf",
    )
    wait(store, "passage_shelf")


STEPS: tuple[Step, ...] = (_drop_stems, _save_shelves, _make_index)


def use_shelves(setattr: Callable[[object, str, object], None]) -> None:
    """Makes Fabula one whose schema is version 2, to which these steps lead."""
    setattr(migration, "VERSION", 2)
    setattr(migrations, "MIGRATIONS", {2: STEPS})
