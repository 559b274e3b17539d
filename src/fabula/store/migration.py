"""The version of the graph's schema: an older graph is brought up to date, a newer one refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from fabula.errors import StoreError
from fabula.store import schema
from fabula.store.database import Database
from fabula.store.turns import turn

LOG = logging.getLogger("fabula")

VERSION = 3
FIRST = 1
"""The version that was not recorded."""

Step = Callable[[Database], None]
"""A part of a migration; done again, or gone on with after it was killed, it ends the same."""


def is_old(store: Database) -> bool:
    """Whether the graph is to be migrated. Raises StoreError for a graph of a newer version."""
    version = _version(store)
    if version > VERSION:
        raise StoreError(
            f"This graph is of a newer Fabula (its schema is {version}, and this one knows those "
            f"up to {VERSION}): upgrade Fabula with `pip install --upgrade fabula`, or use another "
            "graph, with another FABULA_HOME or NEO4J_URI."
        )
    return 0 < version < VERSION


def migrate(store: Database, migrations: Mapping[int, Sequence[Step]]) -> None:
    """Brings an old graph to this version by the steps to each version, and says so.

    What was stopped half way is gone on with: a version is recorded after its last step. One
    process at a time does it, and all others wait.
    """
    schema.ensure(store, "core/schema_lock_id")
    with turn(store, ["migrate"]):
        if not is_old(store):
            return
        was = _version(store)
        store.rows("core/save_schema", version=was)
        LOG.warning(
            "This graph is of an older Fabula: it is migrated from schema %d to %d, which may take "
            "minutes. Should this be stopped, the next command goes on with it.",
            was,
            VERSION,
        )
        for version in range(was + 1, VERSION + 1):
            for step in migrations[version]:
                step(store)
            if version == VERSION:
                _make_schema(store)
            store.rows("core/save_schema", version=version)


def _make_schema(store: Database) -> None:
    """Make the constraints and indexes of this version, and wait until questions can use them."""
    schema.make(store)
    schema.wait(store, schema.TEXTS, *(space.index for space in store.spaces()))


def record(store: Database) -> None:
    """Records this version in a new graph. Raises StoreError for a graph of another version."""
    if is_old(store):
        raise StoreError("This graph is of an older Fabula: open it with `fabula list` first.")
    if not _version(store):
        # Without its constraint two processes that begin at once would record it twice.
        schema.ensure(store, "core/schema_schema_id")
        store.rows("core/save_schema", version=VERSION)


def _version(store: Database) -> int:
    """The version of the graph's schema; 0 of a graph that has none yet."""
    [row] = store.rows("core/find_schema")
    if row["version"] is not None:
        return int(row["version"])
    [found] = store.rows("migrate/find_unversioned")
    return FIRST if found["traces"] else 0
