"""The version of the graph's schema: an older graph is migrated, a newer one is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from fabula.errors import StoreError
from fabula.store import schema
from fabula.store.database import Database
from fabula.store.locks import process_lock

LOG = logging.getLogger("fabula")

VERSION = 6
FIRST_VERSION = 1
"""The version of graphs that did not record it."""

Step = Callable[[Database], None]
"""A part of a migration. It can be run again, or run after a kill, with the same result."""


def is_old(store: Database) -> bool:
    """Return whether the graph has to be migrated. Raise StoreError for one of a newer version."""
    version = _version(store)
    if version > VERSION:
        raise StoreError(
            f"This graph is of a newer Fabula (its schema is {version}, and this one knows those "
            f"up to {VERSION}): upgrade Fabula with `pip install --upgrade fabula`, or use another "
            "graph, with another FABULA_HOME or NEO4J_URI."
        )
    return 0 < version < VERSION


def migrate(store: Database, migrations: Mapping[int, Sequence[Step]]) -> None:
    """Bring an old graph to this version by the steps to each version, and log a warning.

    A version is recorded after its last step, so a migration that was stopped is continued. One
    process at a time migrates, and all others wait.
    """
    schema.ensure(store, "core/schema_lock_id")
    with process_lock(store, ["migrate"]):
        if not is_old(store):
            return
        old_version = _version(store)
        store.rows("core/save_schema", version=old_version)
        LOG.warning(
            "This graph is of an older Fabula: it is migrated from schema %d to %d, which may take "
            "minutes. If this is interrupted, the next command continues it.",
            old_version,
            VERSION,
        )
        for version in range(old_version + 1, VERSION + 1):
            for step in migrations[version]:
                step(store)
            if version == VERSION:
                _make_schema(store)
            store.rows("core/save_schema", version=version)


def _make_schema(store: Database) -> None:
    """Make the constraints and indexes of this version, and wait until questions can use them."""
    schema.make(store)
    needed = {name for space in store.spaces() for name in schema.needed_indexes(space)}
    schema.wait(store, schema.TEXTS, *needed)


def record(store: Database) -> None:
    """Record this version in a new graph. Raise StoreError for a graph of another version."""
    if is_old(store):
        raise StoreError("This graph is of an older Fabula: open it with `fabula list` first.")
    if not _version(store):
        # Without the constraint, two processes that start at once would record it twice.
        schema.ensure(store, "core/schema_schema_id")
        store.rows("core/save_schema", version=VERSION)


def _version(store: Database) -> int:
    """Return the version of the graph's schema; 0 for a new graph."""
    [row] = store.rows("core/find_schema")
    if row["version"] is not None:
        return int(row["version"])
    [unversioned] = store.rows("migrate/find_unversioned")
    return FIRST_VERSION if unversioned["traces"] else 0
