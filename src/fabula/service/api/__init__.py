"""The routes under `/api/v1`, one module for each kind of resource."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from fabula.service.api import (
    annotation_layers,
    asking,
    documents,
    jobs,
    operations,
    session,
    uploads,
)

ROUTERS = (
    documents.router,
    uploads.router,
    asking.router,
    jobs.router,
    annotation_layers.router,
    session.router,
)
"""In the order of the OpenAPI document."""


def list_routers() -> Sequence[APIRouter]:
    """Return the routers written by hand, and the one made from operations.

    Raises:
        SettingsError: A package's operation can't be loaded.
    """
    return [*ROUTERS, operations.make_router()]
