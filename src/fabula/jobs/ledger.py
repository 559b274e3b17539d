"""The ledger: what was spent on models by day, key, collection and kind of work, and the quotas."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, FabulaError, SettingsError
from fabula.jobs.callers import Caller
from fabula.jobs.journal import Journal, Line
from fabula.models.batch_store import BatchStore
from fabula.models.budget import Budget, MoneyLimit
from fabula.models.prices import Cost, cost, read_prices
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.store import Store

LOG = logging.getLogger("fabula.jobs")
GroupBy = Literal["day", "key", "collection"]
Unpriced = Literal["stop", "tokens"]
"""How a quota of money works if a price is not known: see `Serving.unpriced`."""
FLUSH_SECONDS = 1.0
"""How often the journal is written to the graph."""
RENEWAL = {"day": "at midnight UTC", "month": "at midnight UTC, when the next month begins"}


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent on one day, by one key or in one collection."""

    what: str
    """The day, or the id of the key, or the name of the collection."""
    name: str
    """The name of the key."""
    calls: int
    tokens: int
    saved: int
    """Calls that the graph or the cache saved."""
    money: float
    """US dollars, as far as prices are known."""
    unpriced: Sequence[str]
    """The models whose price is not known."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota of a key."""

    unit: Literal["tokens", "money"]
    period: Literal["day", "month"]
    allowed: float
    """How much of the unit the key may spend in a period."""
    spent: float
    """How much it has spent in this period."""
    unpriced: Sequence[str] = ()
    """The models that were used and whose price is not known."""

    def explain(self, name: str, spent: float) -> str:
        """Return how much of the quota a key of that name has spent, as a part of a sentence."""
        if self.unit == "tokens":
            numbers = f"{spent:,.0f} of the {self.allowed:,.0f} tokens"
        else:
            numbers = f"${spent:,.4f} of the ${self.allowed:,.2f}"
        return f"the key {name!r} has spent {numbers} that it may spend a {self.period}"

    def refuse_call(self, name: str, spent: float, more: float) -> str:
        """Return why a call is not made that would add so much to what a key has spent."""
        return (
            "Stopped before a call that would exceed the quota: "
            f"{self.explain(name, spent + more)}. The quota renews {RENEWAL[self.period]}. Every "
            "reply so far is kept, and not paid for again."
        )


class Account:
    """Counts what a caller spends in one collection on one kind of work, call by call."""

    def __init__(
        self, ledger: Ledger, graph: str, caller: Caller, collection: str, what: str
    ) -> None:
        self._ledger, self._graph = ledger, graph
        self._labels = (caller.id, caller.name, collection, what)

    def add(self, step: str, usage: Usage) -> None:
        """Count a usage in the ledger. It is in the journal when this returns."""
        self._ledger.add(self._graph, self._labels, step, usage)


class Ledger:
    """What was spent on models, saved in the graph. Days and months are UTC.

    Each call is written to a journal on the disk when it is answered, and from there to the graph:
    at once if somebody asks what was spent, otherwise within a second. While Neo4j is down it waits
    in the journal. What a killed process has left there is written by the next one.

    Args:
        store: The graph that the ledger is in.
        count: Counts each usage once more, by step, for metrics.
        settings: The prices, and the models of the steps.
        folder: Where the journal is.
        unpriced: How a quota of money works if a price is not known.
    """

    def __init__(
        self,
        store: Store,
        count: Callable[[Mapping[str, Usage]], None],
        settings: Settings,
        folder: Path,
        unpriced: Unpriced = "stop",
    ) -> None:
        self._store, self._count, self._settings = store, count, settings
        self._unpriced = unpriced
        self._journal = Journal(folder)
        self._graph = ""
        self._flushing = threading.Lock()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Start to write the journal to the graph, with what an earlier process has left in it."""
        self._thread = threading.Thread(target=self._keep_flushing, name="ledger", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write the rest to the graph. While Neo4j is down it stays in the journal."""
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()
        self._try_to_flush(is_first_failure=True)
        self._journal.close()

    def account(self, caller: Caller, collection: str, what: str) -> Account:
        """Return the account that counts a caller's calls. Raises StoreError."""
        return Account(self, self._graph_id(), caller, collection, what)

    def add(self, graph: str, labels: tuple[str, str, str, str], step: str, usage: Usage) -> None:
        """Write the usage of a step to the journal, one line for each model.

        Args:
            graph: The id of the graph that the ledger is in.
            labels: The id and the name of the key, the collection, and the kind of work.
            step: The step that has asked the models.
            usage: Its usage.
        """
        self._count({step: usage})
        try:
            prices = read_prices(self._settings.prices)
        except SettingsError:
            # An answered call is counted even if the prices can't be read, and is priced later.
            prices = {}
        for model, part in self._settings.by_model({step: usage}).items():
            counts = {name: getattr(part, name) for name in ("calls", "saved", *PRICED_TOKENS)}
            if any(counts.values()):
                priced = cost(prices, {model: part})
                money = None if priced.unpriced else priced.known
                self._journal.add(graph, Line(*labels, model, money=money, **counts))

    def flush(self) -> None:
        """Write the journal to the graph. Raises StoreError; nothing is lost then."""
        graph = self._graph_id()
        with self._flushing:
            if not self._journal.is_pending(graph):
                return
            for batch in self._journal.batches(graph):
                self._store.rows(
                    "jobs/save_spend",
                    journal=batch.owner,
                    batch=batch.number,
                    entries=[
                        {**entry, "id": _id(*(entry[name] for name in ENTRY_KEYS))}
                        for entry in batch.entries
                    ],
                )
                self._journal.delete(graph, batch)

    def refuse_spent(self, caller: Caller) -> None:
        """Raise BudgetSpent if a caller has spent one of its quotas.

        It is also raised if a quota of money can't be checked, as a price is not known.
        """
        quotas = self._quotas(caller)
        for quota in quotas:
            if quota.spent >= quota.allowed:
                raise BudgetSpent(
                    f"The quota is spent: {quota.explain(caller.name, quota.spent)}. The quota "
                    f"renews {RENEWAL[quota.period]}; a larger quota takes effect at once."
                )
        has_tokens = {quota.period for quota in quotas if quota.unit == "tokens"}
        for quota in quotas:
            falls_back = self._unpriced == "tokens" and quota.period in has_tokens
            if quota.unpriced and not falls_back:
                raise BudgetSpent(_explain_unpriced(caller, quota, self._unpriced))

    def tokens_left(self, caller: Caller) -> int | None:
        """Return how many tokens a key may still spend now; None if it has no quota of tokens."""
        quota = _narrowest(self._quotas(caller))
        return None if quota is None else max(0, int(quota.allowed - quota.spent))

    def budget(
        self, caller: Caller, in_flight: Mapping[str, int] = MappingProxyType({})
    ) -> Budget | None:
        """Return a budget of the tokens and money that a key may still spend; None for no limit.

        Args:
            caller: The key.
            in_flight: Tokens that it has sent by batches and that the ledger does not have yet, by
                model.
        """
        quotas, sent = self._quotas(caller), sum(in_flight.values())
        quota = _narrowest(quotas)
        money = self._money_limit(caller, _narrowest(quotas, "money"), in_flight)
        if quota is None:
            return None if money is None else Budget(money=money)
        refuse = partial(quota.refuse_call, caller.name, quota.spent + sent)
        left = int(quota.allowed - quota.spent) - sent
        return Budget(tokens=max(0, left), refusal=refuse, money=money)

    def _money_limit(
        self, caller: Caller, quota: Quota | None, in_flight: Mapping[str, int]
    ) -> MoneyLimit | None:
        """Return the money that a key may still spend; what has no price counts as nothing."""
        if quota is None:
            return None

        def price(model: str, usage: Usage) -> float:
            try:
                return cost(read_prices(self._settings.prices), {model: usage}).known
            except SettingsError:
                return 0.0  # as in `add`: it is priced later

        sent = sum(price(model, Usage(1, tokens).batched) for model, tokens in in_flight.items())

        refuse = partial(quota.refuse_call, caller.name, quota.spent + sent)
        return MoneyLimit(max(0.0, quota.allowed - quota.spent - sent), price, refuse)

    def usage(self, by: GroupBy, key: str = "", days: int = 31) -> list[Spent]:
        """Return what was spent in the last days.

        Args:
            by: What each row of the result is: a day, a key or a collection.
            key: Only this key; '' for all.
            days: How many days, today included.
        """
        self.flush()
        rows = self._store.rows("jobs/find_usage", by=by, key=key, days=days)
        spendings = []
        for row in rows:
            priced_now = self._price(row.pop("unpriced"))
            money = row.pop("money") + priced_now.known
            spendings.append(Spent(**row, money=round(money, 8), unpriced=priced_now.unpriced))
        return spendings

    def find_unbooked(self) -> tuple[int, int, Cost]:
        """Return what came by batches and is booked to no key: calls, tokens and their cost.

        It is booked to the key whose job uses it. What a cancelled job had sent stays here until
        then, or for 90 days.
        """
        with closing(BatchStore(self._settings.cache_folder)) as store:
            usages = store.find_unbooked() if store.exists else {}
        total = sum(usages.values(), Usage())
        price = cost(read_prices(self._settings.prices), usages)
        return total.calls, total.prompt_tokens + total.completion_tokens, price

    def _quotas(self, caller: Caller) -> list[Quota]:
        """Return each quota of a key, with what is spent of it."""
        limits = caller.quotas.limits()
        if not limits:
            return []
        self.flush()
        [row] = self._store.rows("jobs/find_spent", key=caller.id)
        quotas = []
        for name, allowed in limits.items():
            period: Literal["day", "month"] = "day" if name.endswith("day") else "month"
            if name.startswith("tokens"):
                quotas.append(Quota("tokens", period, allowed, row[name]))
                continue
            parts = [part for part in row["unpriced"] if part["is_today"] or period == "month"]
            priced_now = self._price(parts)
            spent = row[name] + priced_now.known
            quotas.append(Quota("money", period, allowed, spent, priced_now.unpriced))
        return quotas

    def _price(self, parts: Iterable[Mapping[str, Any]]) -> Cost:
        """Return the cost, by today's prices, of what had no price when it was spent."""
        models: dict[str, Usage] = {}
        for part in parts:
            usage = Usage(**{name: part[name] for name in PRICED_TOKENS})
            models[part["model"]] = models.get(part["model"], Usage()) + usage
        return cost(read_prices(self._settings.prices), models)

    def _graph_id(self) -> str:
        """Return the id of the ledger's graph: several graphs may share one journal."""
        if not self._graph:
            [row] = self._store.rows("jobs/save_ledger")
            self._graph = row["id"]
        return self._graph

    def _keep_flushing(self) -> None:
        is_well = True
        while not self._is_closing.wait(FLUSH_SECONDS):
            is_well = self._try_to_flush(is_first_failure=is_well)

    def _try_to_flush(self, *, is_first_failure: bool) -> bool:
        problem = "Spending can't be written to Neo4j now, and waits in the journal"
        try:
            self.flush()
        except FabulaError as error:
            if is_first_failure:
                LOG.warning("%s: %s", problem, error)
            return False
        except Exception:
            if is_first_failure:
                LOG.exception("%s.", problem)
            return False
        return True


PRICED_TOKENS = (
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "batch_prompt_tokens",
    "batch_completion_tokens",
)
"""The counts of tokens that have prices of their own."""
ENTRY_KEYS = ("key", "collection", "what", "model")
"""The fields that identify a node of the ledger, beside the day."""


def _narrowest(
    quotas: Iterable[Quota], unit: Literal["tokens", "money"] = "tokens"
) -> Quota | None:
    """Return the quota of a unit of which the least is left."""
    of_unit = [quota for quota in quotas if quota.unit == unit]
    return min(of_unit, key=lambda quota: quota.allowed - quota.spent, default=None)


def _explain_unpriced(caller: Caller, quota: Quota, policy: Unpriced) -> str:
    models = ", ".join(quota.unpriced)
    why = (
        f"The key {caller.name!r} may spend ${quota.allowed:,.2f} per {quota.period}, but how much "
        f"it has spent can't be calculated, as no price is known of {models}. Whoever runs the "
        "service can name a TOML file with that price (FABULA_PRICES), which then also applies to "
        "what was spent before,"
    )
    how = "" if policy == "tokens" else " with FABULA_SERVE__UNPRICED=tokens"
    return (
        f"{why} or give the key a quota of tokens per {quota.period}, which applies instead{how}."
    )


def _id(*names: str) -> str:
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]
