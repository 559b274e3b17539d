"""The routes under `/api/v1`, one module for each kind of resource."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from fastapi import APIRouter

from fabula.graph.installed import load
from fabula.service.api import (
    annotation_layers,
    asking,
    choices,
    collections,
    conversations,
    decisions,
    documents,
    jobs,
    keys,
    passages,
    queries,
    session,
    uploads,
    usage,
)

ROUTERS = (
    collections.router,
    documents.router,
    uploads.router,
    passages.router,
    asking.router,
    conversations.router,
    jobs.router,
    queries.router,
    decisions.router,
    annotation_layers.router,
    choices.router,
    usage.router,
    keys.router,
    session.router,
)
"""In the order of the OpenAPI document."""
GROUP = "fabula.routes"
"""The group of entry points by which a package brings routes under `/api/v1`, an `APIRouter`."""


def find_routers() -> Sequence[APIRouter]:
    """Return the routers of Fabula itself, and those that other packages bring.

    Raises:
        SettingsError: A package's router can't be loaded.

    """
    return [*ROUTERS, *(load(entry) for entry in sorted(entry_points(group=GROUP)))]
