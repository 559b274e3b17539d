"""The settings of a service: models and database, and the way to usage, keys and the audit."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fabula.config.settings import OFFLINE, STATIC
from fabula.models.cache import CacheInfo, ResponseCache
from fabula.models.providers import LOCAL, split_provider
from fabula.service.http.dependencies import Caller, Reader, State
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState
from fabula.store import schema

router = APIRouter()


@router.get("/admin")
def show_admin(
    request: Request,
    state: State,
    caller: Reader,
) -> Response:
    """Show the screen; what is of the whole service is only shown to admins."""
    return show(request, "admin.html", _lay_out(state, caller))


def _lay_out(state: ServiceState, caller: Caller) -> dict[str, Any]:
    """Return the values of the template that the caller may see."""
    app, is_admin = state.app, caller.may_all
    values: dict[str, Any] = {
        "is_admin": is_admin,
        "version": version("fabula"),
        "models": _models(state),
        "limits": app.models.limits(),
        "left": state.ledger.tokens_left(caller),
        "quotas": caller.quotas.limits(),
        "neo4j": app.connect().version(),
    }
    if is_admin:
        dumps = state.daily_dump.describe()
        values |= {
            "where": "an external server" if app.settings.neo4j_uri else "Fabula's own server",
            "dumps": dumps,
            "next_dump": datetime.fromtimestamp(dumps.next_at, UTC).isoformat(),
            "indexes": _indexes(state),
            "cache": _cache(state),
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
