"""What models were asked, by day, key, collection and kind of work, and what a key has left."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, FabulaError, SettingsError
from fabula.models.budget import Budget
from fabula.models.prices import Cost, cost, read_prices
from fabula.models.usage import Usage
from fabula.service.core.journal import Journal, Line
from fabula.store import Store

if TYPE_CHECKING:
    from fabula.service.core.callers import Caller
    from fabula.service.observe.metrics import Metrics

LOG = logging.getLogger("fabula.service")
By = Literal["day", "key", "collection"]
Unpriced = Literal["stop", "tokens"]
"""What a quota of money does where a price is not known: see `Serving.unpriced`."""
FLUSH_SECONDS = 1.0
"""How often what was spent is handed over to the graph."""
RENEWAL = {"day": "at midnight UTC", "month": "at midnight UTC, when the next month begins"}


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent by one day, key or collection; `name` is what that is called.

    `money` is in US dollars, as far as prices are known; `unpriced` are the models whose are not.
    """

    what: str
    name: str
    calls: int
    tokens: int
    saved: int
    money: float
    unpriced: Sequence[str]


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota of a key: how much it may spend of a `unit` in a `period`, and how much it has.

    `unpriced` are the models whose part of the money is not known.
    """

    unit: Literal["tokens", "money"]
    period: Literal["day", "month"]
    allowed: float
    spent: float
    unpriced: Sequence[str] = ()

    def explain(self, name: str, spent: float) -> str:
        """Say how much of the quota the key called `name` has spent, and how much it may."""
        if self.unit == "tokens":
            numbers = f"{spent:,.0f} of the {self.allowed:,.0f} tokens"
        else:
            numbers = f"${spent:,.4f} of the ${self.allowed:,.2f}"
        return f"the key {name!r} has spent {numbers} that it may spend a {self.period}"


class Account:
    """Counts what one caller spends in one collection on one kind of work, call by call."""

    def __init__(
        self, ledger: Ledger, graph: str, caller: Caller, collection: str, what: str
    ) -> None:
        self._ledger, self._graph = ledger, graph
        self._who = (caller.id, caller.name, collection, what)

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` in the ledger: it is in the journal when this returns."""
        self._ledger.add(self._graph, self._who, step, usage)


class Ledger:
    """What was spent, kept in the graph; days and months are UTC.

    Each call goes into a journal on the disk as it is answered, and from there into the graph: at
    once where somebody asks what was spent, and within a second otherwise. While Neo4j is away it
    waits in the journal, and so does what a killed process has left, until the next one starts.
    """

    def __init__(
        self,
        store: Store,
        metrics: Metrics,
        settings: Settings,
        folder: Path,
        unpriced: Unpriced = "stop",
    ) -> None:
        self._store, self._metrics, self._settings = store, metrics, settings
        self._unpriced = unpriced
        self._journal = Journal(folder)
        self._graph = ""
        self._flushing = threading.Lock()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Hand over what an earlier process has left, and from now on what is spent."""
        self._thread = threading.Thread(target=self._keep_flushing, name="ledger", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hand over what is left; what can't be, as Neo4j is away, stays in the journal."""
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()
        self._try_to_flush(is_first_failure=True)
        self._journal.close()

    def account(self, caller: Caller, collection: str, what: str) -> Account:
        """Return what is to be told of each call for a caller. Raises StoreError."""
        return Account(self, self._graph_id(), caller, collection, what)

    def add(self, graph: str, who: tuple[str, str, str, str], step: str, usage: Usage) -> None:
        """Write what a step has asked into the journal, a line for each model."""
        self._metrics.spent({step: usage})
        try:
            prices = read_prices(self._settings.prices)
        except SettingsError:
            # A call that was answered is counted whatever else is wrong, and priced later.
            prices = {}
        for model, part in self._settings.by_model({step: usage}).items():
            if not (part.calls or part.saved or part.prompt_tokens or part.completion_tokens):
                continue
            priced = cost(prices, {model: part})
            self._journal.add(
                graph,
                Line(
                    *who,
                    model,
                    part.calls,
                    part.prompt_tokens,
                    part.completion_tokens,
                    part.cached_tokens,
                    part.saved,
                    None if priced.unpriced else priced.known,
                ),
            )

    def flush(self) -> None:
        """Hand over all that is in the journal. Raises StoreError, and nothing is lost then."""
        graph = self._graph_id()
        with self._flushing:
            if not self._journal.is_pending(graph):
                return
            for batch in self._journal.batches(graph):
                self._store.rows(
                    "service/save_spend",
                    journal=batch.owner,
                    batch=batch.number,
                    entries=[
                        {**entry, "id": _id(*(entry[name] for name in PARTS))}
                        for entry in batch.entries
                    ],
                )
                self._journal.delete(graph, batch)

    def refuse_spent(self, caller: Caller) -> None:
        """Raises BudgetSpent where a key has spent what it may, of tokens or of money, or where a
        quota of money can't be told as a price is not known.
        """
        quotas = self._quotas(caller)
        for quota in quotas:
            if quota.spent >= quota.allowed:
                raise BudgetSpent(
                    f"Nothing more is asked: {quota.explain(caller.name, quota.spent)}. The quota "
                    f"renews {RENEWAL[quota.period]}; a larger quota lets it go on at once."
                )
        has_tokens = {quota.period for quota in quotas if quota.unit == "tokens"}
        for quota in quotas:
            falls_back = self._unpriced == "tokens" and quota.period in has_tokens
            if quota.unpriced and not falls_back:
                raise BudgetSpent(_explain_unpriced(caller, quota, self._unpriced))

    def left(self, caller: Caller) -> int | None:
        """Tokens that a key may still spend now; None: as many as it likes."""
        quota = _narrowest(self._quotas(caller))
        return None if quota is None else max(0, int(quota.allowed - quota.spent))

    def budget(self, caller: Caller) -> Budget | None:
        """Return a budget of the tokens that a key may still spend; None where there is no quota
        of tokens.
        """
        quota = _narrowest(self._quotas(caller))
        if quota is None:
            return None

        def refuse(more: int) -> str:
            return (
                f"Stopped before a call that the quota has no room for: "
                f"{quota.explain(caller.name, quota.spent + more)}. The quota renews "
                f"{RENEWAL[quota.period]}. Every reply until now is kept, and not paid for again."
            )

        return Budget(tokens=max(0, int(quota.allowed - quota.spent)), refusal=refuse)

    def usage(
        self, by: By, key: str = "", collections: Sequence[str] | None = None, days: int = 31
    ) -> list[Spent]:
        """What was spent in the last days: of one key, or of all; in these collections."""
        self.flush()
        rows = self._store.rows(
            "service/find_usage",
            by=by,
            key=key,
            collections=None if collections is None else list(collections),
            days=days,
        )
        found = []
        for row in rows:
            late = self._price(row.pop("unpriced"))
            money = row.pop("money") + late.known
            found.append(Spent(**row, money=round(money, 8), unpriced=late.unpriced))
        return found

    def _quotas(self, caller: Caller) -> list[Quota]:
        """Return each quota of a key, and what is spent of it."""
        given = caller.quotas.given()
        if not given:
            return []
        self.flush()
        [row] = self._store.rows("service/find_spent", key=caller.id)
        quotas = []
        for name, allowed in given.items():
            unit, _, period = name.partition("_a_")
            if unit == "tokens":
                quotas.append(Quota("tokens", _period(period), allowed, row[name]))
                continue
            parts = [one for one in row["unpriced"] if one["is_today"] or period == "month"]
            late = self._price(parts)
            spent = row[name] + late.known
            quotas.append(Quota("money", _period(period), allowed, spent, late.unpriced))
        return quotas

    def _price(self, parts: Iterable[Mapping[str, Any]]) -> Cost:
        """Price what had no price when it was spent, by the prices that are known now."""
        models: dict[str, Usage] = {}
        for one in parts:
            names = ("prompt_tokens", "completion_tokens", "cached_tokens")
            usage = Usage(**{name: one[name] for name in names})
            models[one["model"]] = models.get(one["model"], Usage()) + usage
        return cost(read_prices(self._settings.prices), models)

    def _graph_id(self) -> str:
        """The id of the graph that the ledger is in: one journal may serve several."""
        if not self._graph:
            [row] = self._store.rows("service/save_ledger")
            self._graph = row["id"]
        return self._graph

    def _keep_flushing(self) -> None:
        is_well = True
        while not self._is_closing.wait(FLUSH_SECONDS):
            is_well = self._try_to_flush(is_first_failure=is_well)

    def _try_to_flush(self, *, is_first_failure: bool) -> bool:
        try:
            self.flush()
        except FabulaError as error:
            if is_first_failure:
                LOG.warning("What was spent can't be kept now, and waits in its journal: %s", error)
            return False
        except Exception:
            if is_first_failure:
                LOG.exception("What was spent can't be kept now, and waits in its journal.")
            return False
        return True


PARTS = ("key", "collection", "what", "model")
"""What one node of the ledger adds up, beside the day."""


def _narrowest(quotas: Iterable[Quota]) -> Quota | None:
    """Return the quota of tokens that has least left."""
    of_tokens = [quota for quota in quotas if quota.unit == "tokens"]
    return min(of_tokens, key=lambda quota: quota.allowed - quota.spent, default=None)


def _period(name: str) -> Literal["day", "month"]:
    return "day" if name == "day" else "month"


def _explain_unpriced(caller: Caller, quota: Quota, policy: Unpriced) -> str:
    models = ", ".join(quota.unpriced)
    why = (
        f"The key {caller.name!r} may spend ${quota.allowed:,.2f} a {quota.period}, and what it "
        f"has spent can't be told, as no price is known of {models}. Whoever runs the service "
        "names a TOML file with its price (FABULA_PRICES); it counts from then on for what was "
        "spent before, too."
    )
    if policy == "tokens":
        return f"{why} Or gives the key a quota of tokens a {quota.period}, which holds instead."
    return (
        f"{why} Or gives the key a quota of tokens a {quota.period}, which holds instead with "
        "FABULA_SERVE__UNPRICED=tokens."
    )


def _id(*names: str) -> str:
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]
