"""Who changed what, and when: kept in the graph, and a line in the log."""

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

    from fabula.service.core.callers import Caller, Role

LOG = logging.getLogger("fabula.service")


@dataclass(frozen=True, slots=True)
class Act:
    """A change: who, called what, did what, to what, when (ISO 8601), in which request."""

    key: str
    name: str
    what: str
    target: str
    request: str
    at: str


class Audit:
    """The acts of a graph."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def note_key(
        self, caller: Caller, id: str, name: str, role: Role, collections: Sequence[str] | None
    ) -> None:
        """Note that a caller made a key, and for which collections; None for all of them."""
        scope = "all collections" if collections is None else ", ".join(collections)
        self.note(caller, "make key", f"{id} {name}, {role}, {scope or 'no collection'}")

    def note(self, caller: Caller, what: str, target: str, **more: object) -> None:
        """Somebody changed something: `what` is a verb, as 'remove document'; `more` is how."""
        if given := [f"{name}: {value}" for name, value in more.items() if value is not None]:
            target = f"{target} ({', '.join(given)})"
        told = {
            "key": caller.id,
            "name": caller.name,
            "what": what,
            "target": target,
            "request": REQUEST.get(),
        }
        LOG.info("%s: %s %s", caller.id, what, target, extra={"told": told})
        self._store.rows("service/save_act", **told)

    def acts(self, limit: int, before: str = "") -> tuple[list[Act], str]:
        """The newest, older than the place `before`; and the place to go on from, '' at the end.

        Raises Problem for a place that none of these pages has told.
        """
        at, _, id = before.partition(" ")
        if before and not _is_time(at):
            raise Problem("That is no place in the list of what was changed: begin at its start.")
        rows = self._store.rows("service/find_acts", limit=limit + 1, at=at, id=id)
        more = rows[limit - 1]["place"] if len(rows) > limit else ""
        return [Act(**row["act"]) for row in rows[:limit]], more


def _is_time(written: str) -> bool:
    try:
        datetime.fromisoformat(written)
    except ValueError:
        return False
    return True
