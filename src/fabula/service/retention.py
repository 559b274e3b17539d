"""Forgetting what the service has kept for long enough (`serve.keep_days`)."""

from __future__ import annotations

import logging

from fabula.store import Store

LOG = logging.getLogger("fabula.service")
SLICE = 1000
"""How many of a kind one transaction deletes."""
STATEMENTS = {
    "jobs": "service/clear_old_jobs",
    "recipes": "service/clear_old_recipes",
    "conversations": "service/clear_old_conversations",
    "acts": "service/clear_old_acts",
    "spends": "service/clear_old_spends",
}
"""What forgets each kind, in this order: recipes go that no job needs any more."""


def forget_old(store: Store, days: int) -> dict[str, int]:
    """Delete what is older than so many days, and return how many of each kind that was.

    Jobs count from their end, conversations from their last turn. Jobs that have not ended, and
    what was spent in this month, stay. Raises StoreError.
    """
    forgotten = dict.fromkeys(STATEMENTS, 0)
    for kind, statement in STATEMENTS.items():
        while True:
            [row] = store.rows(statement, days=days, limit=SLICE)
            forgotten[kind] += row["forgotten"]
            if row["forgotten"] < SLICE:
                break
    if any(forgotten.values()):
        told = ", ".join(f"{count:,} {kind}" for kind, count in forgotten.items() if count)
        LOG.info("Forgotten, as older than serve.keep_days (%d): %s.", days, told)
    return forgotten
