"""What models were asked, by day, key, collection and kind of work, and what a key has left."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fabula.errors import BudgetSpent
from fabula.model import Usage
from fabula.store import Store

if TYPE_CHECKING:
    from fabula.service.access.caller import Caller
    from fabula.service.watch.metrics import Metrics

By = Literal["day", "key", "collection"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent by one day, key or collection; `name` is what the key is called."""

    what: str
    name: str
    calls: int
    tokens: int
    saved: int
    money: float


class Ledger:
    """What was spent, kept in the graph; days and months are UTC."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics

    def spent(
        self,
        caller: Caller,
        collection: str,
        what: str,
        usage: Mapping[str, Usage],
        money: float | None,
    ) -> None:
        """Adds what was asked, by step; `money` in US dollars, None where no price is known."""
        self._metrics.spent(usage)
        total = sum(usage.values(), Usage())
        if not (total.calls or total.saved):
            return
        self._store.rows(
            "service/save_spend",
            id=_id(caller.id, collection, what),
            key=caller.id,
            name=caller.name,
            collection=collection,
            what=what,
            calls=total.calls,
            tokens=total.prompt_tokens + total.completion_tokens,
            saved=total.saved,
            money=money or 0.0,
        )

    def refuse_spent(self, caller: Caller) -> None:
        """Raises BudgetSpent where a key has spent what it may, of tokens or of money."""
        for name, most, left in self._left(caller):
            if left <= 0:
                unit, _, when = name.partition("_a_")
                told = f"{most:,.0f} tokens" if unit == "tokens" else f"${most:,.2f}"
                raise BudgetSpent(
                    f"The key {caller.name!r} may spend {told} a {when}, and has: it goes on "
                    f"{'tomorrow' if when == 'day' else 'next month'} (UTC), or with a larger "
                    "quota."
                )

    def left(self, caller: Caller) -> int | None:
        """Tokens that a key may still spend now; None: as many as it likes."""
        tokens = [left for name, _, left in self._left(caller) if name.startswith("tokens")]
        return max(0, int(min(tokens))) if tokens else None

    def _left(self, caller: Caller) -> list[tuple[str, float, float]]:
        """Each of a key's quotas: its name, how much it is, and what is left of it."""
        quotas = caller.quotas.given()
        if not quotas:
            return []
        [spent] = self._store.rows("service/find_spent", key=caller.id)
        return [(name, most, most - spent[name]) for name, most in quotas.items()]

    def usage(
        self, by: By, key: str = "", collections: Sequence[str] | None = None, days: int = 31
    ) -> list[Spent]:
        """What was spent in the last days: of one key, or of all; in these collections."""
        rows = self._store.rows(
            "service/find_usage",
            by=by,
            key=key,
            collections=None if collections is None else list(collections),
            days=days,
        )
        return [Spent(**row) for row in rows]


def _id(*names: str) -> str:
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]
