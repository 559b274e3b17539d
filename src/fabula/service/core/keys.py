"""Keys of programs and people: `fab_<id>_<secret>`, of which the graph keeps a hash.

A secret has 256 random bits, so that one round of SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fabula.errors import NotFound, SettingsError
from fabula.service.core.callers import ROLES, Caller, Quotas, Role
from fabula.store import Store
from fabula.text.names import problem, quoted

PREFIX = "fab_"
ID = re.compile(r"[0-9a-f]{10}")
LONGEST = 200
"""Characters of what may be a key."""
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is listed; times are ISO 8601, '' where there is none.

    `collections` are the names of those that it may see; None: all.
    """

    id: str
    name: str
    role: Role
    collections: tuple[str, ...] | None
    quotas: Quotas
    made: str
    expires: str
    used: str
    revoked: str


class Keys:
    """The keys of a graph; what is made or revoked here holds in every process at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def make(
        self,
        name: str,
        role: Role,
        collections: Sequence[str] | None = None,
        *,
        days: int | None = None,
        quotas: Quotas | None = None,
    ) -> tuple[str, str]:
        """A new key: its id, and the whole of it, which is told this once.

        Raises SettingsError for a name, a role or a collection that can't be.
        """
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise SettingsError(f"Say whom the key is for, in {LONGEST_NAME} characters at most.")
        if role not in ROLES:
            raise SettingsError(f"There is no role {quoted(role)}: {', '.join(ROLES)}.")
        for one in collections or ():
            if wrong := problem(one):
                raise SettingsError(f"The name of the collection, {quoted(one)}, {wrong}.")
        id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
        self._store.rows(
            "service/save_key",
            id=id,
            hash=digest(secret),
            name=name.strip(),
            role=role,
            collections=None if collections is None else sorted(set(collections)),
            days=days,
            quotas=(quotas or Quotas()).given(),
        )
        return id, f"{PREFIX}{id}_{secret}"

    def list(self) -> list[Key]:
        """All keys, the oldest first; expired and revoked ones, too."""
        return [_key(row["key"]) for row in self._store.rows("service/find_keys")]

    def is_any(self) -> bool:
        """Whether there is a key at all that holds."""
        now = datetime.now(UTC)
        return any(
            not key.revoked and (not key.expires or datetime.fromisoformat(key.expires) > now)
            for key in self.list()
        )

    def revoke(self, id: str) -> None:
        """Ends a key, the sessions that it began, and its jobs. Raises NotFound."""
        if not self._store.rows("service/save_revoked", id=id):
            raise NotFound(f"There is no key {quoted(id)}: `fabula keys list` has them.")

    def holds(self, caller: Caller) -> bool:
        """Whether a caller's key still holds; a person, and who has an OpenID token, has none."""
        if not ID.fullmatch(caller.id):
            return True
        return bool(self._store.rows("service/find_key", id=caller.id))

    def find(self, secret: str) -> Caller | None:
        """Who has this key, if it holds."""
        id, _, rest = secret.removeprefix(PREFIX).partition("_")
        if not secret.startswith(PREFIX) or len(secret) > LONGEST or not rest:
            return None
        rows = self._store.rows("service/find_key", id=id)
        if not rows or not hmac.compare_digest(rows[0]["key"]["hash"], digest(rest)):
            return None
        if rows[0]["is_idle"]:
            self._store.rows("service/save_use", id=id)
        return caller(rows[0]["key"])


def digest(secret: str) -> str:
    """The SHA-256 of a secret, in hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def caller(row: Mapping[str, Any]) -> Caller:
    """Who a key is, as the graph has it."""
    names = row["collections"]
    return Caller(
        row["id"],
        row["name"],
        row["role"],
        None if names is None else frozenset(names),
        Quotas.of(row),
    )


def _key(row: Mapping[str, Any]) -> Key:
    names = row["collections"]
    times = {name: row[name] or "" for name in ("made", "expires", "used", "revoked")}
    return Key(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        collections=None if names is None else tuple(names),
        quotas=Quotas.of(row),
        **times,
    )
