"""Keys of programs and people: `fab_<id>_<secret>`. The graph has only a hash of the secret.

A secret has 256 random bits, so one round of SHA-256 is enough: such a secret can't be guessed, and
a slow hash would only slow down each request.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fabula.jobs.callers import Caller, Quotas
from fabula.operations.keys import PREFIX, digest
from fabula.store import Store

ID = re.compile(r"[0-9a-f]{10}")
MAX_SECRET_CHARACTERS = 200
"""The longest text that is looked up as a key, link or cookie."""


class Keys:
    """Knows who has which key. One that is made or revoked is so in every process at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def is_any(self) -> bool:
        """Return whether there is any valid key."""
        now = datetime.now(UTC)
        return any(
            not key["revoked"]
            and (not key["expires"] or datetime.fromisoformat(key["expires"]) > now)
            for key in (row["key"] for row in self._store.rows("service/find_keys"))
        )

    def holds(self, caller: Caller) -> bool:
        """Return whether a caller's key is still valid; True for callers without a key of ours."""
        if not ID.fullmatch(caller.id):
            return True
        return bool(self._store.rows("service/find_key", id=caller.id))

    def find(self, secret: str) -> Caller | None:
        """Return the caller that a key belongs to; None if the key is not valid."""
        id, _, rest = secret.removeprefix(PREFIX).partition("_")
        if not secret.startswith(PREFIX) or len(secret) > MAX_SECRET_CHARACTERS or not rest:
            return None
        rows = self._store.rows("service/find_key", id=id)
        if not rows or not hmac.compare_digest(rows[0]["key"]["hash"], digest(rest)):
            return None
        if rows[0]["is_idle"]:
            self._store.rows("service/save_use", id=id)
        return make_caller(rows[0]["key"])


def make_caller(row: Mapping[str, Any]) -> Caller:
    """Return the caller of a key's row."""
    names = row["collections"]
    return Caller(
        row["id"],
        row["name"],
        row["role"],
        None if names is None else frozenset(names),
        Quotas.of(row),
    )
