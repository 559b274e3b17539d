"""What models were asked: calls and tokens, by the step that asked and the model that was asked."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from typing import Protocol

from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply
from fabula.models.usage import Usage
from fabula.text import tokens


class Counter(Protocol):
    """Is told of each call to a model, from any thread."""

    def add(self, step: str, usage: Usage) -> None:
        """Count `usage` to `step`."""
        ...


class Meter:
    """Adds up the usage of each step, over all threads; what it counts, `within` counts too."""

    def __init__(self, within: Counter | None = None) -> None:
        self._within = within
        self._steps: dict[str, Usage] = {}
        self._adding = threading.Lock()

    def add(self, step: str, usage: Usage) -> None:
        """Counts `usage` to `step`."""
        with self._adding:
            self._steps[step] = self._steps.get(step, Usage()) + usage
        if self._within is not None:
            self._within.add(step, usage)

    def usage(self) -> dict[str, Usage]:
        """The usage of each step that asked anything, until now."""
        with self._adding:
            return dict(self._steps)

    def total(self) -> Usage:
        """The usage of all steps together, until now."""
        return sum(self.usage().values(), Usage())


class CountedChat:
    """A chat whose answered calls are counted; tokens the endpoint does not tell are ours.

    It stands inside the response cache: a call that was paid for is counted before its reply is
    kept, so that a process that is killed between the two has counted all that it had received.
    """

    def __init__(self, chat: Chat, meter: Counter, step: str, model: str) -> None:
        self._chat, self._meter, self._step, self._model = chat, meter, step, model

    def complete(self, prompt: Prompt) -> Reply:
        """The chat's reply."""
        reply = self._chat.complete(prompt)
        self.count(prompt, reply.text, reply)
        return reply

    def stream(self, prompt: Prompt) -> Generator[Reply]:
        """The chat's pieces; counted when the last was read, or reading ended."""
        text, told = [], Reply("")
        try:
            for piece in self._chat.stream(prompt):
                text.append(piece.text)
                if piece.prompt_tokens or piece.completion_tokens or piece.cached:
                    told = piece
                yield piece
        finally:
            if text:
                self.count(prompt, "".join(text), told)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Counts a reply that could not be used."""
        self._meter.add(self._step, Usage.of_model(self._model, Usage(faults=1)))
        self._chat.reject(prompt, forget=forget)

    def count(self, prompt: Prompt, text: str, told: Reply) -> None:
        """Count one call: as saved where its reply was `cached`, and otherwise as paid for."""
        sent = (prompt.system, prompt.user, prompt.correction)
        asked = told.prompt_tokens or sum(tokens.count_all(sent))
        said = told.completion_tokens or tokens.count(text)
        if told.cached:
            usage = Usage(saved=1, saved_prompt_tokens=asked, saved_completion_tokens=said)
        else:
            usage = Usage(1, asked, said, faults=told.faults, cached_tokens=told.cached_tokens)
        self._meter.add(self._step, Usage.of_model(self._model, usage))


class CountedEmbedder:
    """An embedder whose answered calls are counted; like a CountedChat, inside the cache."""

    def __init__(self, embedder: Embedder, meter: Counter, step: str) -> None:
        self._embedder, self._meter, self._step = embedder, meter, step
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """The embedder's rows."""
        embeddings = self._embedder.embed(texts)
        if embeddings.cached:
            self.count_saved(embeddings.saved_tokens)
            return embeddings
        asked = embeddings.tokens or sum(tokens.count_all(texts))
        usage = Usage(1, asked, faults=embeddings.faults)
        self._meter.add(self._step, Usage.of_model(self.model, usage))
        return embeddings

    def count_saved(self, texts_tokens: int, *, calls: int = 1) -> None:
        """Count texts of so many tokens whose embeddings were kept, and the calls that saved."""
        usage = Usage(saved=calls, saved_prompt_tokens=texts_tokens)
        self._meter.add(self._step, Usage.of_model(self.model, usage))
