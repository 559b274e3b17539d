"""What was spent on models, by day, key or collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.jobs.ledger import GroupBy, Ledger, Spent
from fabula.operations.kit import Column, operation

if TYPE_CHECKING:
    from fabula.operations.kit import Asker


@dataclass(frozen=True)
class Unbooked:
    """Answers that came by batches, as of a job that was cancelled, and that no job has used yet.

    They are paid for, and are booked to the key whose job uses them.
    """

    calls: int
    tokens: int
    money: float
    unpriced: Sequence[str]


@dataclass(frozen=True)
class Usages:
    """What was spent: the newest days first, or the most expensive keys or collections.

    Attributes:
        total: How many rows there are.
        rows: The days, keys or collections.
        unbooked: What is booked to no key, for admins of all collections; None if there is nothing.
    """

    total: int
    rows: tuple[Spent, ...]
    unbooked: Annotated[Unbooked | None, Column(is_shown=False)] = None


@operation("/usage", group="Usage", examples=("usage", "usage --by collection --days 7"))
def usage(
    asker: Asker,
    by: Annotated[GroupBy, Field(description="what a row is of")] = "day",
    days: Annotated[int, Field(ge=1, le=366, description="of how many days, today included")] = 31,
) -> Usages:
    """Show what was spent on models in the last days.

    Admins of all collections are shown what all keys have spent, others what their own has.
    """
    with _open_ledger(asker) as ledger:
        if not asker.caller.may_all:
            rows = tuple(ledger.usage(by, asker.caller.id, days))
            return Usages(len(rows), rows)
        rows = tuple(ledger.usage(by, days=days))
        calls, tokens, price = ledger.find_unbooked()
        unbooked = Unbooked(calls, tokens, round(price.known, 8), price.unpriced)
        return Usages(len(rows), rows, unbooked if calls else None)


@contextmanager
def _open_ledger(asker: Asker) -> Iterator[Ledger]:
    if asker.services:
        yield asker.services.ledger
        return
    app = asker.app
    ledger = Ledger(app.connect(), lambda _: None, app.settings, app.settings.cache_folder)
    with closing(ledger):
        yield ledger
