"""Keys of programs and people: `fab_<id>_<secret>`. The graph has only a hash of the secret.

A secret has 256 random bits, so one round of SHA-256 is enough: such a secret can't be guessed, and
a slow hash would only slow down each request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fabula.errors import NotFound, SettingsError
from fabula.jobs.callers import ROLES, Caller, Quotas
from fabula.operations.kit import Role
from fabula.store import Store
from fabula.text.names import collection_problem, quote_name

PREFIX = "fab_"
ID = re.compile(r"[0-9a-f]{10}")
MAX_SECRET_CHARACTERS = 200
"""The longest text that is looked up as a key, link or cookie."""
MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Key:
    """A key in the list of keys. Times are ISO 8601, or '' if there is none."""

    id: str
    name: str
    role: Role
    collections: tuple[str, ...] | None
    """The names of the collections that it may see; None for all."""
    quotas: Quotas
    made: str
    expires: str
    used: str
    revoked: str


class Keys:
    """The keys of a graph. A key that is made or revoked here is so in every process at once."""

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
        """Create a key.

        Args:
            name: Whom or what the key is for.
            role: What it may do.
            collections: The names of the collections that it may see; None for all.
            days: After how many days it expires; None for never.
            quotas: What it may spend.

        Returns:
            The id of the key, and the whole key, which can't be shown again.

        Raises:
            SettingsError: The name, the role or the name of a collection is invalid.

        """
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
            raise SettingsError(
                f"Say whom the key is for, in {MAX_NAME_CHARACTERS} characters at most."
            )
        if role not in ROLES:
            raise SettingsError(f"There is no role {quote_name(role)}: {', '.join(ROLES)}.")
        for collection in collections or ():
            if fault := collection_problem(collection):
                raise SettingsError(
                    f"The name of the collection, {quote_name(collection)}, {fault}."
                )
        id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
        self._store.rows(
            "service/save_key",
            id=id,
            hash=digest(secret),
            name=name.strip(),
            role=role,
            collections=None if collections is None else sorted(set(collections)),
            days=days,
            quotas=(quotas or Quotas()).limits(),
        )
        return id, f"{PREFIX}{id}_{secret}"

    def find_missing(self, collections: Iterable[str]) -> list[str]:
        """Return the names that no collection has yet: a key may be made before its collection."""
        names = dict.fromkeys(collections)
        return [name for name in names if not self._store.rows("core/find_space", collection=name)]

    def list(self) -> list[Key]:
        """Return all keys, also expired and revoked ones, oldest first."""
        return [_key(row["key"]) for row in self._store.rows("service/find_keys")]

    def is_any(self) -> bool:
        """Return whether there is any valid key."""
        now = datetime.now(UTC)
        return any(
            not key.revoked and (not key.expires or datetime.fromisoformat(key.expires) > now)
            for key in self.list()
        )

    def revoke(self, id: str) -> None:
        """Revoke a key, and end its sessions and jobs. Raises NotFound."""
        if not self._store.rows("service/save_revoked", id=id):
            raise NotFound(
                f"There is no key {quote_name(id)}.", advice="`fabula keys list` shows them."
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


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


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
