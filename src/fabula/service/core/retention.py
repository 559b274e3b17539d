"""Deletes records of the service that are older than `serve.keep_days`."""

from __future__ import annotations

import logging

from fabula.store import Store

LOG = logging.getLogger("fabula.service")
SLICE = 1000
"""Records that one transaction deletes."""
STATEMENTS = {
    "jobs": "jobs/clear_old_jobs",
    "recipes": "jobs/clear_old_recipes",
    "conversations": "service/clear_old_conversations",
    "acts": "service/clear_old_acts",
    "spends": "jobs/clear_old_spends",
}
"""The statement that deletes each kind of record. Recipes come after jobs: a recipe is deleted once
no job refers to it."""


def delete_old_records(store: Store, days: int) -> dict[str, int]:
    """Delete records that are older than a number of days, and return the number of each kind.

    Jobs count from their end, conversations from their last turn. Jobs that have not ended, and
    what was spent in this month, stay. Raises StoreError.
    """
    deleted = dict.fromkeys(STATEMENTS, 0)
    for kind, statement in STATEMENTS.items():
        while True:
            [row] = store.rows(statement, days=days, limit=SLICE)
            deleted[kind] += row["deleted"]
            if row["deleted"] < SLICE:
                break
    if any(deleted.values()):
        numbers = ", ".join(f"{count:,} {kind}" for kind, count in deleted.items() if count)
        LOG.info("Deleted records older than serve.keep_days (%d): %s.", days, numbers)
    return deleted
