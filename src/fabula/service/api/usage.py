"""What models were asked, by day, key and collection."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from fabula.service.core.accounts import By
from fabula.service.http.dependencies import Reader, TheHouse

router = APIRouter(tags=["usage"])


class SpentView(BaseModel):
    """What was spent: calls, tokens of both kinds, saved calls, and money.

    `what` is a day, the id of a key, or a collection, and `name` is what that is called. `money` is
    in US dollars, as far as prices are known; `unpriced` are the models whose are not: what they
    cost is not in `money`.
    """

    what: str
    name: str
    calls: int
    tokens: int
    saved: int
    money: float
    unpriced: list[str]


class UsageViews(BaseModel):
    """By day the newest first, else the dearest."""

    items: list[SpentView]


@router.get("/usage")
def usage(
    house: TheHouse,
    caller: Reader,
    by: By = "day",
    days: Annotated[int, Query(ge=1, le=366)] = 31,
) -> UsageViews:
    """What was spent in the last days: an admin sees all, everybody else what their key spent."""
    own = "" if caller.may_all else caller.id
    found = house.ledger.usage(by, own, days=days)
    return UsageViews(items=[SpentView(**asdict(one)) for one in found])
