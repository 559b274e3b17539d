"""What one Fabula may spend: calls and tokens, over all threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fabula import tokens
from fabula.errors import BudgetSpent
from fabula.providers import Chat, Embedder, Embeddings, Prompt, Reply


class Budget:
    """At most `calls` calls and about `tokens` tokens; None is no limit.

    No call is begun over the limit of calls. A call's own tokens are known when it was answered:
    those that are under way then may go over the limit of tokens by what they reply.
    """

    def __init__(self, calls: int | None, tokens: int | None) -> None:
        self._most_calls, self._most_tokens = calls, tokens
        self._calls = self._tokens = 0
        self._counting = threading.Lock()

    @contextmanager
    def call(self, prompt_tokens: int) -> Iterator[_Bill]:
        """One call, which sends so many tokens. Raises BudgetSpent; free if not answered."""
        bill = _Bill()
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
        kept = "Every reply until now is kept: run the same command again to go on from there."
        if self._most_calls is not None and self._calls >= self._most_calls:
            raise BudgetSpent(
                f"Stopped after {self._calls:,} model calls, as --max-calls {self._most_calls} "
                f"(FABULA_MAX_CALLS) says. {kept}"
            )
        if self._most_tokens is not None and self._tokens + prompt_tokens > self._most_tokens:
            raise BudgetSpent(
                f"Stopped after {self._tokens:,} tokens, as --max-tokens {self._most_tokens} "
                f"(FABULA_MAX_TOKENS) says. {kept}"
            )


@dataclass(slots=True)
class _Bill:
    """Whether one call was answered, and its tokens."""

    answered: bool = False
    total: int = 0

    def add(self, total: int) -> None:
        """Counts an answer's tokens."""
        self.answered = True
        self.total += total


class BudgetedChat:
    """A chat that is asked as long as the budget lasts."""

    def __init__(self, chat: Chat, budget: Budget) -> None:
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

    def __init__(self, embedder: Embedder, budget: Budget) -> None:
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
