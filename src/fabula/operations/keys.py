"""Keys of the service, and the audit: make, list and revoke keys, and see who changed what."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from fabula.errors import NotFound, SettingsError
from fabula.jobs.callers import Quotas, Role
from fabula.operations.kit import Column, operation
from fabula.operations.parameters import After, read_cursor
from fabula.text.names import MAX_NAME_BYTES, collection_problem, quote_name

if TYPE_CHECKING:
    from fabula.operations.kit import Asker
    from fabula.store import Store

PREFIX = "fab_"
# No assistant has them, as a text that it reads could ask for a key.
of_admins = partial(operation, group="Keys", role="admin", has_tool=False)
MAX_NAME_CHARACTERS = 100
MAX_QUOTA = 10**15
"""Beyond it a quota would limit nothing."""
Tokens = Annotated[int | None, Field(ge=0, le=MAX_QUOTA, description="model tokens per day (UTC)")]
Money = Annotated[float | None, Field(ge=0, le=MAX_QUOTA, description="US dollars per day")]


@dataclass(frozen=True)
class Key:
    """A key without its secret.

    Attributes:
        id: By what it is revoked.
        name: Whom or what it is for.
        role: What it may do.
        collections: The names of the collections that it may see; None for all.
        quotas: What it may spend per day or month (UTC), as far as that is limited.
        made: When it was made, in ISO 8601.
        expires: When it expires; '' for never.
        used: When it was used last; '' for never.
        revoked: When it was revoked; '' if it was not.
    """

    id: Annotated[str, Column(opens="revoke-key")]
    name: str
    role: Role
    collections: tuple[str, ...] | None
    quotas: Mapping[str, int | float]
    made: str
    expires: str
    used: str
    revoked: str


@dataclass(frozen=True)
class KeyList:
    """All keys, the oldest first."""

    total: int
    rows: tuple[Key, ...]

    def to_text(self) -> str:
        """Return a line for each key."""
        lines = []
        for key in self.rows:
            scope = "all collections" if key.collections is None else ", ".join(key.collections)
            quotas = [f"{name.replace('_', ' ')}: {most:,}" for name, most in key.quotas.items()]
            state = f"revoked {key.revoked[:10]}" if key.revoked else ""
            if not state and key.expires:
                state = f"expires {key.expires[:10]}"
            used = f"used {key.used[:10]}" if key.used else "never used"
            parts = [key.id, key.name, key.role, scope, *quotas, used, state]
            lines.append(" · ".join(filter(None, parts)))
        return "\n".join(lines)

    def to_hint(self) -> str:
        """Return how to make a key, where there is none."""
        return "" if self.rows else "There is no key yet: `fabula keys make NAME`."


@dataclass(frozen=True)
class NewKey:
    """A new key, which is shown only this one time.

    Attributes:
        id: By what it is revoked.
        key: The whole key, with its secret.
        name: Whom or what it is for.
        role: What it may do.
        collections: The names of the collections that it may see; None for all.
        missing: Those of them that are not there yet: one may be mistyped.
    """

    id: str
    key: str
    name: str
    role: Role
    collections: tuple[str, ...] | None
    missing: tuple[str, ...]

    def to_text(self) -> str:
        """Return the key alone, for a script to take."""
        return self.key

    def to_hint(self) -> str:
        """Return what else is to be known of it."""
        missing = [f"There is no collection {quote_name(name)} yet." for name in self.missing]
        once = f"A key is shown only once. To revoke it: fabula keys revoke {self.id}"
        return "\n".join([*missing, once])


@of_admins(
    "/keys",
    method="POST",
    status=201,
    is_recorded=False,
    command="keys make",
    title="Make",
    positional=["name"],
    examples=(
        "keys make Ada",
        "keys make reader --role read --collection novels --tokens-a-day 200000",
        "keys make me --role admin --days 30",
        "keys make probe --json",
    ),
)
def make_key(
    asker: Asker,
    name: Annotated[
        str,
        Field(min_length=1, max_length=MAX_NAME_CHARACTERS, description="whom the key is for"),
    ],
    role: Annotated[
        Role,
        Field(
            description="read: ask and read; write: also add and remove books; admin: everything"
        ),
    ] = "read",
    collections: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_NAME_BYTES)], ...] | None,
        Field(max_length=1000, description="only this collection, in place of all"),
    ] = None,
    days: Annotated[
        int | None, Field(ge=1, le=3660, description="number of days until it expires")
    ] = None,
    tokens_a_day: Tokens = None,
    tokens_a_month: Annotated[
        int | None, Field(ge=0, le=MAX_QUOTA, description="model tokens per month")
    ] = None,
    money_a_day: Money = None,
    money_a_month: Annotated[
        float | None, Field(ge=0, le=MAX_QUOTA, description="US dollars per month")
    ] = None,
) -> NewKey:
    """Make a key for a person or a program. It is not shown again.

    It applies at once to every service over this graph, which stores only its hash.

    Raises:
        SettingsError: The name of the key or of a collection is invalid.
    """
    name = name.strip()
    if not (name and name.isprintable()):
        raise SettingsError(
            f"Say whom the key is for, in {MAX_NAME_CHARACTERS} characters at most."
        )
    for collection in collections or ():
        if fault := collection_problem(collection):
            raise SettingsError(f"The name of the collection, {quote_name(collection)}, {fault}.")
    store, scope = _connect(asker), None if collections is None else sorted(set(collections))
    id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    store.rows(
        "service/save_key",
        id=id,
        hash=digest(secret),
        name=name,
        role=role,
        collections=scope,
        days=days,
        quotas=Quotas(tokens_a_day, tokens_a_month, money_a_day, money_a_month).limits(),
    )
    named = "all collections" if scope is None else ", ".join(scope) or "no collection"
    _record(asker, "make key", f"{id} {name}, {role}, {named}")
    missing = tuple(_find_missing(store, collections or ()))
    return NewKey(id, f"{PREFIX}{id}_{secret}", name, role, collections, missing)


@of_admins(
    "/keys",
    command="keys list",
    title="List",
    examples=("keys list", "keys list --json"),
)
def list_keys(asker: Asker) -> KeyList:
    """List all keys, also expired and revoked ones, without their secrets."""
    rows = tuple(_read_key(row["key"]) for row in _connect(asker).rows("service/find_keys"))
    return KeyList(len(rows), rows)


@dataclass(frozen=True)
class RevokedKey:
    """A key that is no longer valid."""

    key: str

    def to_text(self) -> str:
        """Say so."""
        return f"Key {self.key} is revoked."


@of_admins(
    "/keys/{key}",
    method="DELETE",
    status=204,
    is_recorded=False,
    command="keys revoke",
    title="Revoke",
    positional=["key"],
    examples=("keys revoke 5f3a9c01d2",),
)
def revoke_key(
    asker: Asker, key: Annotated[str, Field(max_length=200, description="the id of the key")]
) -> RevokedKey:
    """Revoke a key at once, in every service; sessions and jobs that were begun with it end.

    Raises:
        NotFound: There is no such key.
    """
    if not _connect(asker).rows("service/save_revoked", id=key):
        raise NotFound(
            f"There is no key {quote_name(key)}.", advice="`fabula keys list` shows them."
        )
    _record(asker, "revoke key", key)
    return RevokedKey(key)


@dataclass(frozen=True)
class Act:
    """A change.

    Attributes:
        key: The id of who made it.
        name: Their name at that time.
        what: What was done, such as 'remove document'.
        target: To what.
        request: The id of the request; '' if it was a command.
        at: When, in ISO 8601.
    """

    key: str
    name: str
    what: str
    target: str
    request: str
    at: str


@dataclass(frozen=True)
class Acts:
    """Changes, the newest first."""

    rows: tuple[Act, ...]
    next: str | None


@of_admins(
    "/audit",
    title="Audit log",
    examples=("audit", "audit --limit 200 --csv"),
)
def audit(
    asker: Asker,
    limit: Annotated[int, Field(ge=1, le=500, description="how many at most")] = 50,
    after: After = "",
) -> Acts:
    """List who changed what through the service, the newest changes first.

    Raises:
        BadValue: `after` is not the `next` of such a list.
    """
    at, id = read_cursor(after)
    rows = _connect(asker).rows("service/find_acts", limit=limit + 1, at=at, id=id)
    more = rows[limit - 1]["place"] if len(rows) > limit else None
    return Acts(tuple(Act(**row["act"]) for row in rows[:limit]), more)


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _connect(asker: Asker) -> Store:
    """Return the graph, with the indexes of the service where none runs in this process."""
    from fabula.store import schema

    store = asker.app.connect()
    if asker.services is None:
        schema.make_service(store)
    return store


def _record(asker: Asker, what: str, target: str) -> None:
    from fabula.jobs.audit import Audit

    Audit(asker.app.connect()).record(asker.caller, what, target)


def _find_missing(store: Store, collections: Iterable[str]) -> Sequence[str]:
    """Return the names that no collection has yet: a key may be made before its collection."""
    names = dict.fromkeys(collections)
    return [name for name in names if not store.rows("core/find_space", collection=name)]


def _read_key(row: Mapping[str, Any]) -> Key:
    names = row["collections"]
    times = {name: row[name] or "" for name in ("made", "expires", "used", "revoked")}
    return Key(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        collections=None if names is None else tuple(names),
        quotas=Quotas.of(row).limits(),
        **times,
    )
