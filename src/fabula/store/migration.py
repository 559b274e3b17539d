"""The version of the graph's schema: an older graph is brought up to date, a newer one refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.errors import StoreError

if TYPE_CHECKING:
    from fabula.store import Store

VERSION = 2


def migrate(store: Store) -> None:
    """Brings a graph of an older version to this one, step by step.

    Raises StoreError for a graph of a newer version.
    """
    [row] = store.rows("core/find_schema")
    if (row["version"] or 0) > VERSION:
        raise StoreError(
            f"This graph is of a newer Fabula (schema {row['version']}, and this one knows "
            f"{VERSION}): upgrade Fabula, or use another graph."
        )
    if row["version"] is None:
        store.rows("core/save_schema", version=VERSION)
