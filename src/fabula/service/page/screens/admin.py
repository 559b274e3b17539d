"""The admin screen: models, database, usage, keys, the audit log and the settings."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.config.settings import OFFLINE, STATIC
from fabula.errors import FabulaError
from fabula.jobs.callers import Role
from fabula.jobs.ledger import GroupBy
from fabula.models.cache import CacheInfo, ResponseCache
from fabula.models.providers import LOCAL, split_provider
from fabula.operations import keys as operations
from fabula.operations.choices import list_settings
from fabula.operations.usage import usage
from fabula.service.core.errors import Problem, status_of
from fabula.service.http.dependencies import ROLES, AdminOfAll, Caller, Reader, State
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
from fabula.store import schema

router = APIRouter()
USAGE_DAYS = 31
"""Days of which the usage is shown."""
MAX_CHANGES = 30
"""Entries of the audit log on one page."""
Whole = Annotated[str, Form(pattern=r"^\s*[0-9]{0,12}\s*$")]
Money = Annotated[str, Form(pattern=r"^\s*([0-9]{1,9}([.][0-9]{1,6})?)?\s*$")]


@router.get("/admin")
def show_admin(
    request: Request,
    state: State,
    caller: Reader,
    by: GroupBy = "day",
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the screen; keys and the audit log are only shown to admins."""
    return show(request, "admin.html", _lay_out(state, caller, by, before))


@router.post("/admin/keys")
def make_key(
    request: Request,
    state: State,
    caller: AdminOfAll,
    name: Annotated[str, Form(max_length=200)] = "",
    role: Annotated[Role, Form()] = "read",
    collections: Annotated[list[str], Form(max_length=200)] = [],  # noqa: B006
    every: Annotated[bool, Form()] = False,
    days: Whole = "",
    tokens_a_day: Whole = "",
    tokens_a_month: Whole = "",
    money_a_day: Money = "",
    money_a_month: Money = "",
) -> Response:
    """Create a key, and show it this one time."""
    key, key_error, status = "", "", 201
    names = [name for field in collections for name in field.replace(",", " ").split()]
    try:
        if not (every or names):
            raise Problem("Enter the collections that the key may read, or choose all.")
        made = operations.make_key(
            state.asker(caller),
            name,
            role,
            None if every else tuple(names),
            int(days) if days.strip() else None,
            int(tokens_a_day) if tokens_a_day.strip() else None,
            int(tokens_a_month) if tokens_a_month.strip() else None,
            float(money_a_day) if money_a_day.strip() else None,
            float(money_a_month) if money_a_month.strip() else None,
        )
        key = made.key
    except FabulaError as error:
        key_error, status = error.message, status_of(error)
        if status >= 500:
            raise
    values = _lay_out(state, caller, "day", "")
    values |= {"new_key": key, "new_key_name": name, "key_error": key_error}
    # The page has the key, so no cache may keep it, not even the browser's.
    return show(request, "admin.html", values, status, {"Cache-Control": "no-store"})


@router.post("/admin/keys/{id}/revoke")
def revoke_key(state: State, caller: AdminOfAll, id: str) -> Response:
    """Revoke a key at once."""
    operations.revoke_key(state.asker(caller), id)
    return RedirectResponse("/admin#access-keys", 303)


def _lay_out(state: ServiceState, caller: Caller, by: GroupBy, before: str) -> dict[str, Any]:
    """Return the values of the template that the caller may see."""
    app, is_admin, asker = state.app, caller.may_all, state.asker(caller)
    values: dict[str, Any] = {
        "is_admin": is_admin,
        "version": version("fabula"),
        "models": _models(state),
        "limits": app.models.limits(),
        "by": by,
        "bys": get_args(GroupBy),
        "days": USAGE_DAYS,
        "usage": usage(asker, by, USAGE_DAYS).rows,
        "left": state.ledger.tokens_left(caller),
        "quotas": caller.quotas.limits(),
        "settings": list_settings(asker).rows,
        "roles": ROLES,
        "neo4j": app.connect().version(),
    }
    if is_admin:
        dumps = state.daily_dump.describe()
        changes = operations.audit(asker, MAX_CHANGES, before)
        values |= {
            "where": "an external server" if app.settings.neo4j_uri else "Fabula's own server",
            "dumps": dumps,
            "next_dump": datetime.fromtimestamp(dumps.next_at, UTC).isoformat(),
            "indexes": _indexes(state),
            "cache": _cache(state),
            "keys": operations.list_keys(asker).rows,
            "changes": changes.rows,
            "next": changes.next,
        }
    return values


def _cache(state: ServiceState) -> CacheInfo | None:
    """Return the size of the response cache; None if it is turned off."""
    settings = state.app.settings
    if not settings.cache:
        return None
    with closing(ResponseCache(settings.cache_folder)) as cache:
        return cache.info()


def _models(state: ServiceState) -> list[dict[str, Any]]:
    """Return the models with what they are used for and whether they have a key, never the key."""
    settings = state.app.settings
    has_key = bool(settings.api_key or settings.keyring)
    uses = [
        ("answers and graphs", settings.model),
        ("aspects", settings.judge),
        ("embeddings", settings.embedding_model),
    ]
    rows = []
    for use, model in uses:
        if model in (OFFLINE, STATIC) or split_provider(model)[0] == LOCAL:
            key = "not needed"
        elif has_key:
            key = "set"
        else:
            # An endpoint of one's own may need no key.
            key = "not set" if settings.base_url else "missing"
        rows.append({"use": use, "model": model, "key": key})
    return rows


def _indexes(state: ServiceState) -> list[tuple[str, list[str]]]:
    """Return each collection with the faults of its indexes."""
    return [
        (space.collection, [f"{fault.name} {fault.what}: {fault.cure}" for fault in faults])
        for space in state.app.spaces()
        for store in [state.app.store_of(space.collection)]
        if (faults := schema.find_faults(store, space)) or space.has_documents
    ]
