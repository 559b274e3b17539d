"""The routes under `/api/v1`, one module for each kind of resource."""

from __future__ import annotations

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
    words,
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
    words.router,
    choices.router,
    usage.router,
    keys.router,
    session.router,
)
"""In the order of the OpenAPI document."""
