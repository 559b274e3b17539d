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
    State,
)
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
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
    state: State,
    caller: Reader,
    by: By = "day",
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """What a reader may know of it; keys and changes are for admins."""
    return show(request, "house.html", _lay_out(state, caller, by, before))


@router.post("/house/keys")
def make_key(
    request: Request,
    state: State,
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
        id, made = state.keys.make(
            name,
            role,
            None if every else names,
            days=int(days) if days.strip() else None,
            quotas=quotas,
        )
        state.audit.note_key(caller, id, name, role, None if every else names)
    except FabulaError as error:
        wrong, status = error.message, status_of(error)
        if status >= 500:
            raise
    values = _lay_out(state, caller, "day", "") | {"made": made, "made_for": name, "wrong": wrong}
    # What is told once stays in no cache, a browser's own among them.
    return show(request, "house.html", values, status, {"Cache-Control": "no-store"})


@router.post("/house/keys/{id}/revoke")
def revoke_key(state: State, caller: AdminOfAll, id: str) -> Response:
    """Ends a key at once."""
    state.keys.revoke(id)
    state.audit.note(caller, "revoke key", id)
    return RedirectResponse("/house#keys-made", 303)


def _lay_out(state: ServiceState, caller: Caller, by: By, before: str) -> dict[str, Any]:
    """What the template draws, as far as a caller may know it."""
    app, is_admin = state.app, caller.may_all
    values: dict[str, Any] = {
        "is_admin": is_admin,
        "version": version("fabula"),
        "models": _models(state),
        "limits": app.kit.limits(),
        "by": by,
        "bys": get_args(By),
        "days": DAYS,
        "sees_all": is_admin,
        "spent": state.ledger.usage(by, "" if is_admin else caller.id, days=DAYS),
        "left": state.ledger.left(caller),
        "quotas": caller.quotas.limits(),
        "settings": settings_of(app.settings, caller),
        "roles": ROLES,
        "neo4j": app.store.version(),
    }
    if is_admin:
        dumps = state.daily_dump.describe()
        acts, more = state.audit.acts(ACTS, before)
        values |= {
            "python": ".".join(map(str, sys.version_info[:3])),
            "where": "another's" if app.settings.neo4j_uri else "Fabula's own",
            "dumps": dumps,
            "next_dump": datetime.fromtimestamp(dumps.next_at, UTC).isoformat(),
            "indexes": _indexes(state),
            "cache": _cache(state),
            "keys": state.keys.list(),
            "acts": acts,
            "next": more,
        }
    return values


def _cache(state: ServiceState) -> Info | None:
    settings = state.app.settings
    if not settings.cache:
        return None
    with closing(ResponseCache(settings.cache_folder)) as cache:
        return cache.info()


def _models(state: ServiceState) -> list[dict[str, Any]]:
    """What is asked for what, and whether that takes a key and has one; never a key itself."""
    settings = state.app.settings
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


def _indexes(state: ServiceState) -> list[tuple[str, list[str]]]:
    """Of each collection what is wrong with its indexes."""
    store = state.app.store
    return [
        (one.collection, [f"{fault.name} {fault.what}: {fault.cure}" for fault in faults])
        for one in store.spaces()
        if (faults := schema.faults(store, one)) or one.documents
    ]
