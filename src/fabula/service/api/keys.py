"""Keys: to make, to list, to revoke; and what was changed by whom."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fabula.service.core.keys import Key
from fabula.service.http.dependencies import AdminOfAll, Quotas, Role, TheHouse
from fabula.text.names import LONGEST

router = APIRouter(tags=["keys"])
MOST = 10**15
"""That a quota may be: beyond it, none is meant."""


Name = Annotated[str, StringConstraints(max_length=LONGEST)]


class NewKey(BaseModel):
    """A key to be made; `collections` null: all. Quotas are for a day or a month (UTC)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    role: Role = "read"
    collections: list[Name] | None = Field(None, max_length=1000)
    days: int | None = Field(None, ge=1, le=3660)
    tokens_a_day: int | None = Field(None, ge=0, le=MOST)
    tokens_a_month: int | None = Field(None, ge=0, le=MOST)
    money_a_day: float | None = Field(None, ge=0, le=MOST)
    money_a_month: float | None = Field(None, ge=0, le=MOST)

    @property
    def quotas(self) -> Quotas:
        """What it may spend."""
        return Quotas.of(self.model_dump())


class MadeKey(BaseModel):
    """A key that was made: the whole of it is told this once."""

    id: str
    key: str


class KeyView(BaseModel):
    """A key as it is listed; times are ISO 8601, empty where there is none."""

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
        """As the API shows it."""
        return cls(**asdict(key) | {"quotas": key.quotas.given()})


class KeyViews(BaseModel):
    """All keys, the oldest first."""

    items: list[KeyView]


class ActView(BaseModel):
    """A change: who did what, to what, when, in which request."""

    key: str
    name: str
    what: str
    target: str
    request: str
    at: str


class ActViews(BaseModel):
    """Changes, the newest first; `next` goes on."""

    items: list[ActView]
    next: str | None = None


@router.get("/keys")
def list_keys(house: TheHouse, caller: AdminOfAll) -> KeyViews:
    """All keys, expired and revoked ones, too; never their secrets."""
    return KeyViews(items=[KeyView.of(key) for key in house.keys.list()])


@router.post("/keys", status_code=201)
def make_key(new: NewKey, house: TheHouse, caller: AdminOfAll) -> MadeKey:
    """Makes a key, which is told this once."""
    id, key = house.keys.make(new.name, new.role, new.collections, days=new.days, quotas=new.quotas)
    house.audit.note_key(caller, id, new.name, new.role, new.collections)
    return MadeKey(id=id, key=key)


@router.delete("/keys/{id}", status_code=204)
def revoke_key(id: str, house: TheHouse, caller: AdminOfAll) -> None:
    """Revokes a key at once, and signs out who signed in with it."""
    house.keys.revoke(id)
    house.audit.note(caller, "revoke key", id)


@router.get("/audit")
def list_acts(
    house: TheHouse,
    caller: AdminOfAll,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: str = "",
) -> ActViews:
    """What was changed, the newest first."""
    acts, more = house.audit.acts(limit, after)
    views: list[Any] = [ActView(**asdict(act)) for act in acts]
    return ActViews(items=views, next=more or None)
