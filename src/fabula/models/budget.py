"""What model calls may spend: a number of calls and of tokens, counted over all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fabula.errors import BudgetSpent


class Budget:
    """A limit of calls and tokens, shared by all threads that spend from it.

    No call begins beyond the limit of calls. The tokens of a call are only known when it was
    answered, so that the calls under way at the limit of tokens may exceed it by their replies.
    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        refusal: Callable[[int], str] | None = None,
    ) -> None:
        """Make a budget of which nothing is spent.

        Args:
            calls: The most calls; None for no limit.
            tokens: About the most tokens, sent and received; None for no limit.
            refusal: Makes the error's message from the tokens spent; by default, it names the
                settings that set the limits.

        """
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
    def call(self, prompt_tokens: int, bill: Bill | None = None) -> Iterator[Bill]:
        """Reserve one call for as long as it lasts, and charge what its bill says at the end.

        Args:
            prompt_tokens: The tokens that the call sends.
            bill: Where the answer's tokens are entered; a call that was not answered is free.

        Raises:
            BudgetSpent: The call would exceed the limits.

        """
        bill = bill or Bill()
        with self._lock:
            self._check(prompt_tokens)
            self._calls += 1
            self._tokens += prompt_tokens
        try:
            yield bill
        finally:
            with self._lock:
                self._calls -= not bill.answered
                self._tokens += bill.total - prompt_tokens

    def _check(self, prompt_tokens: int) -> None:
        if self._max_calls is not None and self._calls >= self._max_calls:
            raise self._make_error(f"{self._calls:,} model calls", "calls")
        if self._max_tokens is not None and self._tokens + prompt_tokens > self._max_tokens:
            raise self._make_error(f"{self._tokens:,} tokens", "tokens")

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
    def call(self, prompt_tokens: int) -> Iterator[Bill]:
        """Reserve one call in all budgets.

        Raises:
            BudgetSpent: The call would exceed the limits of one of them.

        """
        bill = Bill()
        with ExitStack() as calls:
            for budget in self.each:
                calls.enter_context(budget.call(prompt_tokens, bill))
            yield bill


@dataclass(slots=True)
class Bill:
    """Whether one call was answered, and its tokens, sent and received."""

    answered: bool = False
    total: int = 0

    def add(self, total: int) -> None:
        """Add the tokens of an answer, or of a piece of it."""
        self.answered = True
        self.total += total
