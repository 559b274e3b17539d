"""What one Fabula may spend: calls and tokens, over all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fabula.errors import BudgetSpent
from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply
from fabula.text import tokens


class Budget:
    """At most `calls` calls and about `tokens` tokens; None is no limit.

    `refusal` says what whoever runs into it is told, given the tokens spent; the settings' own
    budget has none.
    No call is begun over the limit of calls. A call's own tokens are known when it was answered:
    those that are under way then may go over the limit of tokens by what they reply.
    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        refusal: Callable[[int], str] | None = None,
    ) -> None:
        self._refusal = refusal
        self._most_calls, self._most_tokens = calls, tokens
        self._calls = self._tokens = 0
        self._counting = threading.Lock()

    @property
    def calls(self) -> int:
        """How many were spent, those under way too."""
        return self._calls

    @property
    def tokens(self) -> int:
        """About how many were spent; of calls under way, those that they sent."""
        return self._tokens

    @contextmanager
    def call(self, prompt_tokens: int, bill: Bill | None = None) -> Iterator[Bill]:
        """One call, which sends so many tokens. Raises BudgetSpent; free if not answered."""
        bill = bill or Bill()
        with self._counting:
            self._refuse_more(prompt_tokens)
            self._calls += 1
            self._tokens += prompt_tokens
        try:
            yield bill
        finally:
            with self._counting:
                self._calls -= not bill.answered
                self._tokens += bill.total - prompt_tokens

    def _refuse_more(self, prompt_tokens: int) -> None:
        if self._most_calls is not None and self._calls >= self._most_calls:
            raise self._spent(f"{self._calls:,} model calls", "calls")
        if self._most_tokens is not None and self._tokens + prompt_tokens > self._most_tokens:
            raise self._spent(f"{self._tokens:,} tokens", "tokens")

    def _spent(self, what: str, unit: str) -> BudgetSpent:
        if self._refusal is not None:
            return BudgetSpent(self._refusal(self._tokens))
        most = self._most_calls if unit == "calls" else self._most_tokens
        return BudgetSpent(
            f"Stopped after {what}, which is the limit. Every reply until now is kept: start again "
            "to continue from there.",
            advice=f"The limit is --max-{unit} {most} (FABULA_MAX_{unit.upper()}).",
        )


@dataclass(frozen=True, slots=True)
class Budgets:
    """Several budgets, each of which has to last."""

    each: tuple[Budget, ...]

    @contextmanager
    def call(self, prompt_tokens: int) -> Iterator[Bill]:
        """One call, counted to all of them. Raises BudgetSpent for the first that is spent."""
        bill = Bill()
        with ExitStack() as calls:
            for one in self.each:
                calls.enter_context(one.call(prompt_tokens, bill))
            yield bill


@dataclass(slots=True)
class Bill:
    """Whether one call was answered, and its tokens."""

    answered: bool = False
    total: int = 0

    def add(self, total: int) -> None:
        """Counts an answer's tokens."""
        self.answered = True
        self.total += total


class BudgetedChat:
    """A chat that is asked as long as the budget lasts."""

    def __init__(self, chat: Chat, budget: Budget | Budgets) -> None:
        self._chat, self._budget = chat, budget

    def complete(self, prompt: Prompt) -> Reply:
        """The chat's reply. Raises BudgetSpent."""
        with self._budget.call(_length(prompt)) as bill:
            reply = self._chat.complete(prompt)
            said = reply.completion_tokens or tokens.count(reply.text)
            bill.add((reply.prompt_tokens or _length(prompt)) + said)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The chat's pieces. Raises BudgetSpent."""
        asked = _length(prompt)
        with self._budget.call(asked) as bill:
            for piece in self._chat.stream(prompt):
                # Counted here: most readers leave, and some endpoints tell nothing.
                bill.add(tokens.count(piece.text) + (0 if bill.answered else asked))
                yield piece

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Tells the chat."""
        self._chat.reject(prompt, forget=forget)


class BudgetedEmbedder:
    """An embedder that is asked as long as the budget lasts."""

    def __init__(self, embedder: Embedder, budget: Budget | Budgets) -> None:
        self._embedder, self._budget = embedder, budget
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """The embedder's rows. Raises BudgetSpent."""
        with self._budget.call(sum(tokens.count_all(texts))) as bill:
            embeddings = self._embedder.embed(texts)
            bill.add(embeddings.tokens or sum(tokens.count_all(texts)))
        return embeddings


def _length(prompt: Prompt) -> int:
    return sum(tokens.count_all((prompt.system, prompt.user, prompt.correction)))
