"""What model calls may spend: calls, tokens and money, counted over all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fabula.errors import BudgetSpent
from fabula.models.usage import Usage


@dataclass(frozen=True, slots=True)
class MoneyLimit:
    """The most money that calls may cost, in US dollars.

    Attributes:
        most: The limit.
        price: Returns the price of the usage of a model, 0 where none is known.
        refuse: Makes the error's message from what was spent, with the call that was refused.
    """

    most: float
    price: Callable[[str, Usage], float]
    refuse: Callable[[float], str]


class Budget:
    """A limit of calls, tokens and money, shared by all threads that spend from it.

    No call begins beyond the limit of calls. The tokens of a call are only known when it was
    answered, so that the calls under way at the limit of tokens may exceed it by their replies. Of
    money, a call reserves the price of its prompt and of an average reply, before it begins.
    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        refusal: Callable[[int], str] | None = None,
        money: MoneyLimit | None = None,
    ) -> None:
        """Make a budget of which nothing is spent.

        Args:
            calls: The most calls; None for no limit.
            tokens: About the most tokens, sent and received; None for no limit.
            refusal: Makes the error's message from the tokens spent; by default, it names the
                settings that set the limits.
            money: The most money; None for no limit.
        """
        self._money_limit, self._money = money, 0.0
        self._replies: dict[str, tuple[int, int]] = {}
        """The number of replies of each model, and their tokens."""
        self._refusal = refusal
        self._max_calls, self._max_tokens = calls, tokens
        self._calls = self._tokens = 0
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """The number of calls spent, including those under way."""
        return self._calls

    @property
    def tokens(self) -> int:
        """About how many tokens were spent; of calls under way, those that they sent."""
        return self._tokens

    @contextmanager
    def call(
        self,
        prompt_tokens: int,
        bill: Bill | None = None,
        *,
        model: str = "",
        is_batched: bool = False,
    ) -> Iterator[Bill]:
        """Reserve one call for as long as it lasts, and charge what its bill says at the end.

        Args:
            prompt_tokens: The tokens that the call sends.
            bill: Where the answer's tokens are entered; a call that was not answered is free.
            model: The model that is called; its price counts for a limit of money.
            is_batched: Whether it is called by a batch, for which it has another price.

        Raises:
            BudgetSpent: The call would exceed the limits.
        """
        bill = bill or Bill()
        with self._lock:
            self._check(prompt_tokens)
            reserved = self._reserve(model, prompt_tokens, is_batched=is_batched)
            self._calls += 1
            self._tokens += prompt_tokens
            self._money += reserved
        try:
            yield bill
        finally:
            with self._lock:
                self._calls -= not bill.answered
                self._tokens += bill.total - prompt_tokens
                self._money -= reserved
                if bill.answered:
                    self._charge_money(model, bill.sent, bill.total - bill.sent, is_batched)

    def add(self, model: str, usage: Usage) -> None:
        """Charge what a call has cost beside its bill, as a reply that came by a batch.

        Args:
            model: The model that was called.
            usage: What it has cost in addition, with the share of batches.
        """
        with self._lock:
            self._tokens += usage.prompt_tokens + usage.completion_tokens
            if self._money_limit is not None:
                self._money += self._money_limit.price(model, usage)
            if usage.completion_tokens:
                self._note_reply(model, usage.completion_tokens)

    def _check(self, prompt_tokens: int) -> None:
        if self._max_calls is not None and self._calls >= self._max_calls:
            raise self._make_error(f"{self._calls:,} model calls", "calls")
        if self._max_tokens is not None and self._tokens + prompt_tokens > self._max_tokens:
            raise self._make_error(f"{self._tokens:,} tokens", "tokens")

    def _reserve(self, model: str, prompt_tokens: int, *, is_batched: bool) -> float:
        """Return about what a call will cost. Raises BudgetSpent if that exceeds the limit."""
        if self._money_limit is None:
            return 0.0
        replies, received = self._replies.get(model, (0, 0))
        usage = Usage(1, prompt_tokens, received // max(1, replies))
        expected = self._money_limit.price(model, usage.batched if is_batched else usage)
        if self._money + expected > self._money_limit.most:
            raise BudgetSpent(self._money_limit.refuse(self._money + expected))
        return expected

    def _charge_money(self, model: str, sent: int, received: int, is_batched: bool) -> None:
        if self._money_limit is None:
            return
        usage = Usage(1, sent, received)
        self._money += self._money_limit.price(model, usage.batched if is_batched else usage)
        # The reply to a call by a batch comes later (`add`): it is not one without tokens.
        if not is_batched:
            self._note_reply(model, received)

    def _note_reply(self, model: str, received: int) -> None:
        replies, so_far = self._replies.get(model, (0, 0))
        self._replies[model] = replies + 1, so_far + received

    def _make_error(self, spent: str, unit: str) -> BudgetSpent:
        if self._refusal is not None:
            return BudgetSpent(self._refusal(self._tokens))
        limit = self._max_calls if unit == "calls" else self._max_tokens
        return BudgetSpent(
            f"Stopped after {spent}, which is the limit. All replies so far are saved: start again "
            "to continue from there.",
            advice=f"The limit is --max-{unit} {limit} (FABULA_MAX_{unit.upper()}).",
        )


@dataclass(frozen=True, slots=True)
class Budgets:
    """Several budgets from which every call is paid together; without any, there is no limit."""

    each: tuple[Budget, ...] = ()

    @contextmanager
    def call(
        self, prompt_tokens: int, *, model: str = "", is_batched: bool = False
    ) -> Iterator[Bill]:
        """Reserve one call in all budgets.

        Raises:
            BudgetSpent: The call would exceed the limits of one of them.
        """
        bill = Bill()
        with ExitStack() as calls:
            for budget in self.each:
                call = budget.call(prompt_tokens, bill, model=model, is_batched=is_batched)
                calls.enter_context(call)
            yield bill

    def add(self, model: str, usage: Usage) -> None:
        """Charge all budgets for what a call has cost beside its bill; see `Budget.add`."""
        for budget in self.each:
            budget.add(model, usage)


@dataclass(slots=True)
class Bill:
    """Whether one call was answered, and its tokens: those sent, and with those received in all."""

    answered: bool = False
    total: int = 0
    sent: int = 0

    def add(self, total: int, *, received: int = 0) -> None:
        """Add the tokens of an answer, or of a piece of it; `received` are part of the total."""
        self.answered = True
        self.total += total
        self.sent += total - received
