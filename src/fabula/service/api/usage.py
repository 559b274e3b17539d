"""Usage of models by day, key and collection."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from fabula.jobs.ledger import GroupBy
from fabula.service.http.dependencies import Reader, State

router = APIRouter(tags=["usage"])


class UsageRowView(BaseModel):
    """Usage of models: calls, prompt and completion tokens, calls saved by the cache, and cost.

    `what` is a day, the id of a key, or a collection, and `name` is its name. `money` is the cost
    in US dollars without that of the models in `unpriced`, whose prices are not known.
    """

    what: str
    name: str
    calls: int
    tokens: int
    saved: int
    money: float
    unpriced: list[str]


class UnbookedView(BaseModel):
    """Answers that came by batches, as of a job that was cancelled, and that no job has used yet.

    They are paid for, and are booked to the key whose job uses them.
    """

    calls: int
    tokens: int
    money: float
    unpriced: list[str]


class UsageViews(BaseModel):
    """Days are listed with the newest first, keys and collections with the most expensive first.

    `unbooked` is shown to admins of all collections, if there is any.
    """

    items: list[UsageRowView]
    unbooked: UnbookedView | None = None


@router.get("/usage", summary="Usage of models")
def usage(
    state: State,
    caller: Reader,
    by: GroupBy = "day",
    days: Annotated[int, Query(ge=1, le=366)] = 31,
) -> UsageViews:
    """Return the usage of the last days: of all keys for admins, of the caller's key for others."""
    key = "" if caller.may_all else caller.id
    rows = state.ledger.usage(by, key, days=days)
    return UsageViews(
        items=[UsageRowView(**asdict(row)) for row in rows],
        unbooked=_view_unbooked(state) if caller.may_all else None,
    )


def _view_unbooked(state: State) -> UnbookedView | None:
    calls, tokens, price = state.ledger.find_unbooked()
    if not calls:
        return None
    return UnbookedView(
        calls=calls, tokens=tokens, money=round(price.known, 8), unpriced=[*price.unpriced]
    )
