"""The audit: who changed what and when, saved in the graph and written to the log."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from fabula.jobs.callers import Caller
from fabula.store import Store

LOG = logging.getLogger("fabula.service")
REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the current request, in all its threads; '' where a command runs.

It is always made by the service and never taken from the client, so that no two requests share one
in the log or the audit. The client's trace id is logged beside it."""


class Audit:
    """The changes that were made to a graph through the service, and to the service itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

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
