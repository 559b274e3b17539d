"""Keys: list, create, revoke; and the audit log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fabula.operations.kit import Role
from fabula.service.core.keys import Key
from fabula.service.http.dependencies import AdminOfAll, Quotas, State
from fabula.text.names import MAX_NAME_BYTES

router = APIRouter(tags=["keys"])
MAX_QUOTA = 10**15
"""Beyond it a quota would limit nothing."""


Name = Annotated[str, StringConstraints(max_length=MAX_NAME_BYTES)]


class NewKey(BaseModel):
    """A key to create. `collections` null means all; quotas are per day or month (UTC)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    role: Role = "read"
    collections: list[Name] | None = Field(None, max_length=1000)
    days: int | None = Field(None, ge=1, le=3660)
    tokens_a_day: int | None = Field(None, ge=0, le=MAX_QUOTA)
    tokens_a_month: int | None = Field(None, ge=0, le=MAX_QUOTA)
    money_a_day: float | None = Field(None, ge=0, le=MAX_QUOTA)
    money_a_month: float | None = Field(None, ge=0, le=MAX_QUOTA)

    @property
    def quotas(self) -> Quotas:
        """The quotas of the new key."""
        return Quotas.of(self.model_dump())


class CreatedKey(BaseModel):
    """A new key. Its secret is returned only this one time.

    `missing` are those of its collections that are not there yet: one may be mistyped.
    """

    id: str
    key: str
    missing: list[str]


class KeyView(BaseModel):
    """A key without its secret; times are ISO 8601, or empty."""

    id: str
    name: str
    role: Role
    collections: list[str] | None
    quotas: dict[str, float]
    made: str
    expires: str
    used: str
    revoked: str

    @classmethod
    def of(cls, key: Key) -> KeyView:
        """Return the view of a key."""
        return cls(**asdict(key) | {"quotas": key.quotas.limits()})


class KeyViews(BaseModel):
    """All keys, the oldest first."""

    items: list[KeyView]


class ActView(BaseModel):
    """An entry of the audit log."""

    key: str
    name: str
    what: str
    target: str
    request: str
    at: str


class ActViews(BaseModel):
    """Entries of the audit log, the newest first; pass `next` as `after` for the next page."""

    items: list[ActView]
    next: str | None = None


@router.get("/keys", summary="List keys")
def list_keys(state: State, caller: AdminOfAll) -> KeyViews:
    """List all keys, also expired and revoked ones, without their secrets."""
    return KeyViews(items=[KeyView.of(key) for key in state.keys.list()])


@router.post("/keys", status_code=201, summary="Create a key")
def make_key(new: NewKey, state: State, caller: AdminOfAll) -> CreatedKey:
    """Create a key. Its secret is returned only this one time."""
    id, key = state.keys.make(new.name, new.role, new.collections, days=new.days, quotas=new.quotas)
    state.audit.record_key(caller, id, new.name, new.role, new.collections)
    missing = state.keys.find_missing(new.collections or ())
    return CreatedKey(id=id, key=key, missing=missing)


@router.delete("/keys/{id}", status_code=204, summary="Revoke a key")
def revoke_key(id: str, state: State, caller: AdminOfAll) -> None:
    """Revoke a key at once, and end the sessions that were begun with it."""
    state.keys.revoke(id)
    state.audit.record(caller, "revoke key", id)


@router.get("/audit", summary="Read the audit log")
def list_acts(
    state: State,
    caller: AdminOfAll,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: str = "",
) -> ActViews:
    """List changes, the newest first."""
    acts, more = state.audit.acts(limit, after)
    views: list[Any] = [ActView(**asdict(act)) for act in acts]
    return ActViews(items=views, next=more or None)
