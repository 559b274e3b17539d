"""The screen that says what a job will cost, before it begins."""

from __future__ import annotations

import uuid
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from fabula.jobs.estimates import Estimate, cost_by_batches
from fabula.library.collection import Collection
from fabula.service.http.dependencies import Caller
from fabula.service.page.rendering import show
from fabula.service.state import ServiceState


def show_cost(
    request: Request,
    state: ServiceState,
    caller: Caller,
    collection: Collection,
    expected: Estimate,
    *,
    takes_batches: bool,
    **values: Any,
) -> Response:
    """Show what a job is expected to ask of models and cost, with the form that begins it.

    `takes_batches` says whether a chat model is asked, which can be done by batches. `values` are
    the further ones of the template, which lists them.
    """
    values |= {
        "collection": collection.name,
        "once": uuid.uuid4().hex,
        "calls": expected.calls,
        "tokens": expected.tokens,
        "money": expected.money,
        "unpriced": expected.unpriced,
        "left": state.ledger.tokens_left(caller),
        "batch_cost": cost_by_batches(collection, expected)
        if takes_batches and expected.calls
        else None,
        "is_offline": takes_batches and collection.settings.offline,
    }
    return show(request, "cost.html", values)
