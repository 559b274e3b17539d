"""Count what models are asked, by the step that asks and the model that is asked.

The wrappers stand directly around a model that is paid for, inside the response cache: a call is
counted, and charged to a budget, before its reply is saved. So a process that is killed between the
two has counted everything that it received.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from typing import Protocol

from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.budget import Budget, Budgets
from fabula.models.usage import Usage
from fabula.text import tokens

NO_LIMIT = Budgets()
EMBEDDINGS = "embeddings"
"""The step that calls of embedding models are counted to."""


class UsageCounter(Protocol):
    """Receives the usage of each call to a model; called from any thread."""

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` to `step`."""
        ...


class Meter:
    """Adds up the usage of each step, over all threads."""

    def __init__(self, within: UsageCounter | None = None) -> None:
        """Make an empty meter; everything it counts is also counted by `within`."""
        self.within = within
        self._steps: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` to `step`."""
        with self._lock:
            self._steps[step] = self._steps.get(step, Usage()) + usage
        if self.within is not None:
            self.within.add(step, usage)

    def usage(self) -> dict[str, Usage]:
        """Return the usage so far of each step that asked a model."""
        with self._lock:
            return dict(self._steps)

    def total(self) -> Usage:
        """Return the usage so far of all steps together."""
        return sum(self.usage().values(), Usage())


class DirectCounter:
    """Counts for a run by batches what is paid for at once; `BatchCalls` counts what they bring."""

    def __init__(self, counter: UsageCounter) -> None:
        self._counter = counter

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` to `step`, unless it is nothing or was paid at the price of batches."""
        if usage.calls and not usage.batch_prompt_tokens:
            self._counter.add(step, usage)


class CountedChat:
    """A chat whose answered calls are charged to a budget and counted to a step.

    Where the endpoint does not report tokens, they are counted here.
    """

    def __init__(
        self,
        chat: Chat,
        meter: UsageCounter,
        step: str,
        model: str,
        budget: Budget | Budgets = NO_LIMIT,
    ) -> None:
        self._chat, self._meter, self._step, self._model = chat, meter, step, model
        self._budget = budget

    def complete(self, prompt: Prompt) -> Reply:
        """Return the chat's reply.

        Raises:
            BudgetSpent: The budget does not allow another call.
        """
        with self._budget.call(_prompt_tokens(prompt), model=self._model) as bill:
            reply = self._chat.complete(prompt)
            sent, received = _tokens(prompt, reply.text, reply)
            bill.add(sent + received, received=received)
        self.count(prompt, reply.text, reply)
        return reply

    def stream(self, prompt: Prompt) -> Generator[Reply]:
        """Yield the chat's pieces; they are counted when the last was read, or reading ended.

        Raises:
            BudgetSpent: The budget does not allow another call.
        """
        text, counts = [], Reply("")
        prompt_tokens = _prompt_tokens(prompt)
        try:
            with self._budget.call(prompt_tokens, model=self._model) as bill:
                for piece in self._chat.stream(prompt):
                    # Charged piece by piece by our own count: many readers leave before the end,
                    # and some endpoints never report tokens.
                    charge = tokens.count(piece.text)
                    sent = 0 if bill.answered else prompt_tokens
                    bill.add(sent + charge, received=charge)
                    text.append(piece.text)
                    if piece.prompt_tokens or piece.completion_tokens:
                        counts = piece
                    yield piece
        finally:
            if text:
                self.count(prompt, "".join(text), counts)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Count a reply that could not be used."""
        self._meter.add(self._step, Usage.of_model(self._model, Usage(faults=1)))
        self._chat.reject(prompt, forget=forget)

    def count(self, prompt: Prompt, text: str, counts: Reply) -> None:
        """Count one call, as saved if its reply is `cached`, and as paid for otherwise.

        Args:
            prompt: What was sent.
            text: The whole text of the reply.
            counts: The reply, or the piece of it, that has the endpoint's token counts.
        """
        sent, received = _tokens(prompt, text, counts)
        if counts.cached:
            usage = Usage(saved=1, saved_prompt_tokens=sent, saved_completion_tokens=received)
        else:
            usage = Usage(
                *(1, sent, received),
                faults=counts.faults,
                cached_tokens=counts.cached_tokens,
                batch_prompt_tokens=sent * counts.batched,
                batch_completion_tokens=received * counts.batched,
            )
        self._meter.add(self._step, Usage.of_model(self._model, usage))


class CountedEmbedder:
    """An embedder whose answered calls are charged to a budget and counted to a step."""

    def __init__(
        self,
        embedder: Embedder,
        meter: UsageCounter,
        step: str,
        budget: Budget | Budgets = NO_LIMIT,
    ) -> None:
        self._embedder, self._meter, self._step = embedder, meter, step
        self._budget = budget
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return the embedder's vectors.

        Raises:
            BudgetSpent: The budget does not allow another call.
        """
        expected = sum(tokens.count_all(texts))
        with self._budget.call(expected, model=self.model) as bill:
            embeddings = self._embedder.embed(texts, kind)
            sent = embeddings.tokens or expected
            if not embeddings.cached:
                bill.add(sent)
        if embeddings.cached:
            self.count_saved(0)
        else:
            usage = Usage(1, sent, faults=embeddings.faults)
            self._meter.add(self._step, Usage.of_model(self.model, usage))
        return embeddings

    def count_saved(self, texts_tokens: int, *, calls: int = 1) -> None:
        """Count texts whose vectors were cached, by their tokens, and the calls this saved."""
        usage = Usage(saved=calls, saved_prompt_tokens=texts_tokens)
        self._meter.add(self._step, Usage.of_model(self.model, usage))


def _tokens(prompt: Prompt, text: str, counts: Reply) -> tuple[int, int]:
    """The tokens sent and received, as the endpoint reports them or by our own count."""
    sent = counts.prompt_tokens or _prompt_tokens(prompt)
    return sent, counts.completion_tokens or tokens.count(text)


def _prompt_tokens(prompt: Prompt) -> int:
    texts = [prompt.system, prompt.user, prompt.correction]
    if prompt.offer is not None:
        # About what the schemas of the tools take.
        texts.append(prompt.offer.instructions)
    return sum(tokens.count_all(texts))
