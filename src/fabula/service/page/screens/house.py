"""The house: what it is made of, what was spent, who has keys, and what was changed."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.config.settings import OFFLINE, STATIC
from fabula.errors import FabulaError
from fabula.models.cache import Info, ResponseCache
from fabula.service.core.accounts import By
from fabula.service.core.choices import settings_of
from fabula.service.core.errors import status_of
from fabula.service.http.dependencies import (
    ROLES,
    AdminOfAll,
    Caller,
    Quotas,
    Reader,
    Role,
    TheHouse,
)
from fabula.service.page.rendering import show
from fabula.service.state import House
from fabula.store import schema

router = APIRouter()
DAYS = 31
ACTS = 30
"""Changes that are told at once."""
Whole = Annotated[str, Form(pattern=r"^\s*[0-9]{0,12}\s*$")]
Money = Annotated[str, Form(pattern=r"^\s*([0-9]{1,9}([.][0-9]{1,6})?)?\s*$")]


@router.get("/house")
def house(
    request: Request,
    house: TheHouse,
    caller: Reader,
    by: By = "day",
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """What a reader may know of it; keys and changes are for admins."""
    return show(request, "house.html", _lay_out(house, caller, by, before))


@router.post("/house/keys")
def make_key(
    request: Request,
    house: TheHouse,
    caller: AdminOfAll,
    name: Annotated[str, Form(max_length=200)] = "",
    role: Annotated[Role, Form()] = "read",
    which: Annotated[list[str], Form(alias="collections", max_length=200)] = [],  # noqa: B006
    every: Annotated[bool, Form()] = False,
    days: Whole = "",
    tokens_a_day: Whole = "",
    tokens_a_month: Whole = "",
    money_a_day: Money = "",
    money_a_month: Money = "",
) -> Response:
    """Makes a key, and shows the whole of it this once."""
    quotas = Quotas(
        int(tokens_a_day) if tokens_a_day.strip() else None,
        int(tokens_a_month) if tokens_a_month.strip() else None,
        float(money_a_day) if money_a_day.strip() else None,
        float(money_a_month) if money_a_month.strip() else None,
    )
    made, wrong, status = "", "", 201
    names = [one for each in which for one in each.replace(",", " ").split()]
    try:
        if not (every or names):
            raise FabulaError("Say which collections the key is for, or that it is for all.")
        id, made = house.keys.make(
            name,
            role,
            None if every else names,
            days=int(days) if days.strip() else None,
            quotas=quotas,
        )
        house.audit.note_key(caller, id, name, role, None if every else names)
    except FabulaError as error:
        wrong, status = str(error), status_of(error)
        if status >= 500:
            raise
    values = _lay_out(house, caller, "day", "") | {"made": made, "made_for": name, "wrong": wrong}
    # What is told once stays in no cache, a browser's own among them.
    return show(request, "house.html", values, status, {"Cache-Control": "no-store"})


@router.post("/house/keys/{id}/revoke")
def revoke_key(house: TheHouse, caller: AdminOfAll, id: str) -> Response:
    """Ends a key at once."""
    house.keys.revoke(id)
    house.audit.note(caller, "revoke key", id)
    return RedirectResponse("/house#keys-made", 303)


def _lay_out(house: House, caller: Caller, by: By, before: str) -> dict[str, Any]:
    """What the template draws, as far as a caller may know it."""
    app, is_admin = house.app, caller.may_all
    values: dict[str, Any] = {
        "is_admin": is_admin,
        "version": version("fabula"),
        "models": _models(house),
        "limits": app.kit.limits(),
        "by": by,
        "bys": get_args(By),
        "days": DAYS,
        "sees_all": is_admin,
        "spent": house.ledger.usage(by, "" if is_admin else caller.id, days=DAYS),
        "left": house.ledger.left(caller),
        "quotas": caller.quotas.given(),
        "settings": settings_of(app.settings, caller),
        "roles": ROLES,
        "neo4j": app.store.version(),
    }
    if is_admin:
        dumps = house.daily_dump.describe()
        acts, more = house.audit.acts(ACTS, before)
        values |= {
            "python": ".".join(map(str, sys.version_info[:3])),
            "where": "another's" if app.settings.neo4j_uri else "Fabula's own",
            "dumps": dumps,
            "next_dump": datetime.fromtimestamp(dumps.next_at, UTC).isoformat(),
            "indexes": _indexes(house),
            "cache": _cache(house),
            "keys": house.keys.list(),
            "acts": acts,
            "next": more,
        }
    return values


def _cache(house: House) -> Info | None:
    settings = house.app.settings
    if not settings.cache:
        return None
    with closing(ResponseCache(settings.cache_folder)) as cache:
        return cache.info()


def _models(house: House) -> list[dict[str, Any]]:
    """What is asked for what, and whether that takes a key and has one; never a key itself."""
    settings = house.app.settings
    has_key = bool(settings.api_key or settings.keyring)
    named = [
        ("answers and graphs", settings.model),
        ("judgements", settings.aspect_model or settings.model),
        ("embeddings", settings.embedding_model),
    ]
    rows = []
    for use, model in named:
        if model in (OFFLINE, STATIC):
            key = "needs none"
        elif has_key:
            key = "present"
        else:
            key = "none given" if settings.base_url else "missing"
        rows.append({"use": use, "model": model, "key": key})
    return rows


def _indexes(house: House) -> list[tuple[str, list[str]]]:
    """Of each collection what is wrong with its indexes."""
    store = house.app.store
    return [
        (one.collection, [f"{fault.name} {fault.what}: {fault.cure}" for fault in faults])
        for one in store.spaces()
        if (faults := schema.faults(store, one)) or one.documents
    ]
