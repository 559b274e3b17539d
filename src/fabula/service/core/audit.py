"""The audit: who changed what and when, saved in the graph and written to the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from fabula.service.core.errors import Problem
from fabula.service.observe.requests import REQUEST
from fabula.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.jobs.callers import Caller
    from fabula.operations.kit import Role

LOG = logging.getLogger("fabula.service")


@dataclass(frozen=True, slots=True)
class Act:
    """One change."""

    key: str
    """The id of the caller."""
    name: str
    """The caller's name at that time."""
    what: str
    """What was done, such as 'remove document'."""
    target: str
    """To what."""
    request: str
    """The id of the request."""
    at: str
    """When, in ISO 8601."""


class Audit:
    """The changes that were made to a graph through the service."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record_key(
        self, caller: Caller, id: str, name: str, role: Role, collections: Sequence[str] | None
    ) -> None:
        """Record that a caller created a key for some collections; None means all of them."""
        scope = "all collections" if collections is None else ", ".join(collections)
        self.record(caller, "make key", f"{id} {name}, {role}, {scope or 'no collection'}")

    def record(self, caller: Caller, what: str, target: str, /, **details: object) -> None:
        """Record a change.

        Args:
            caller: Who made it.
            what: What was done, such as 'remove document'.
            target: To what.
            details: Further values by name; those that are None are left out.

        """
        if named := [f"{name}: {value}" for name, value in details.items() if value is not None]:
            target = f"{target} ({', '.join(named)})"
        fields = {
            "key": caller.id,
            "name": caller.name,
            "what": what,
            "target": target,
            "request": REQUEST.get(),
        }
        LOG.info("%s: %s %s", caller.id, what, target, extra={"fields": fields})
        self._store.rows("service/save_act", **fields)

    def acts(self, limit: int, before: str = "") -> tuple[list[Act], str]:
        """Return the newest changes before a place in the list, and where the next page begins.

        Args:
            limit: How many at most.
            before: The place at which the previous page ended; '' for the first page.

        Returns:
            The changes, and the place for the next page, '' at the end.

        Raises:
            Problem: `before` is not a place that this method has returned.

        """
        at, _, id = before.partition(" ")
        if before and not _is_time(at):
            raise Problem("That is not a place in the list of changes: start at the first page.")
        rows = self._store.rows("service/find_acts", limit=limit + 1, at=at, id=id)
        more = rows[limit - 1]["place"] if len(rows) > limit else ""
        return [Act(**row["act"]) for row in rows[:limit]], more


def _is_time(written: str) -> bool:
    try:
        datetime.fromisoformat(written)
    except ValueError:
        return False
    return True
