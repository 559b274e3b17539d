"""The version of the graph's schema: an older graph is migrated, an unknown one is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from fabula.errors import StoreError
from fabula.store import schema
from fabula.store.database import Database
from fabula.store.locks import process_lock

LOG = logging.getLogger("fabula")

FIRST_VERSION = 1
VERSION = 1
"""The version that is read and written; `store.migrations` leads from the first one to it."""
ANOTHER_GRAPH = "ingest the texts again into another graph, with another FABULA_HOME or NEO4J_URI."

Step = Callable[[Database], None]
"""A part of a migration. It can be run again, or run after a kill, with the same result."""


def is_old(store: Database) -> bool:
    """Return whether the graph has to be migrated. Raise StoreError for one of unknown version."""
    version = _version(store)
    return version is not None and version < VERSION


def migrate(store: Database, migrations: Mapping[int, Sequence[Step]]) -> None:
    """Bring an old graph to this version by the steps to each version, and log a warning.

    A version is recorded after its last step, so a migration that was stopped is continued. One
    process at a time migrates, and all others wait.
    """
    schema.ensure(store, "core/schema_lock_id")
    with process_lock(store, ["migrate"]):
        old_version = _version(store)
        if old_version is None or old_version == VERSION:
            return
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
    version = _version(store)
    if version is None:
        # Without the constraint, two processes that start at once would record it twice.
        schema.ensure(store, "core/schema_schema_id")
        store.rows("core/save_schema", version=VERSION)
    elif version < VERSION:
        raise StoreError("This graph is of an older Fabula: open it with `fabula list` first.")


def _version(store: Database) -> int | None:
    """Return the version of the graph's schema, None for a new graph, or refuse an unknown one."""
    [row] = store.rows("core/find_schema")
    version = row["version"]
    if version is None:
        if row["has_documents"]:
            raise StoreError(
                "This graph has documents of a Fabula that recorded no version of its schema, and "
                f"can't be read: {ANOTHER_GRAPH}"
            )
        return None
    if isinstance(version, int) and FIRST_VERSION <= version <= VERSION:
        return version
    raise StoreError(
        f"This graph is of another Fabula (its schema is {version}, and this one knows those up to "
        f"{VERSION}): upgrade Fabula with `pip install --upgrade fabula`, or {ANOTHER_GRAPH}"
    )
