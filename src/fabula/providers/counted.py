"""What models were asked: calls and tokens, by the step that asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from fabula import tokens
from fabula.model import Usage
from fabula.providers import Chat, Embedder, Embeddings, Prompt, Reply


class Meter:
    """Adds up the usage of each step, over all threads; what it counts, `within` counts too."""

    def __init__(self, within: Meter | None = None) -> None:
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
    """A chat whose answered calls are counted; tokens the endpoint does not tell are ours."""

    def __init__(self, chat: Chat, meter: Meter, step: str) -> None:
        self._chat, self._meter, self._step = chat, meter, step

    def complete(self, prompt: Prompt) -> Reply:
        """The chat's reply."""
        reply = self._chat.complete(prompt)
        self._count(prompt, reply.text, reply)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
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
                self._count(prompt, "".join(text), told)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Counts a reply that could not be used."""
        self._meter.add(self._step, Usage(faults=1))
        self._chat.reject(prompt, forget=forget)

    def _count(self, prompt: Prompt, text: str, told: Reply) -> None:
        sent = (prompt.system, prompt.user, prompt.correction)
        asked = told.prompt_tokens or sum(tokens.count_all(sent))
        said = told.completion_tokens or tokens.count(text)
        if told.cached:
            usage = Usage(saved=1, saved_prompt_tokens=asked, saved_completion_tokens=said)
        else:
            usage = Usage(1, asked, said, faults=told.faults, cached_tokens=told.cached_tokens)
        self._meter.add(self._step, usage)


class CountedEmbedder:
    """An embedder whose answered calls are counted."""

    def __init__(self, embedder: Embedder, meter: Meter, step: str) -> None:
        self._embedder, self._meter, self._step = embedder, meter, step
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """The embedder's rows."""
        embeddings = self._embedder.embed(texts)
        kept = embeddings.saved_tokens
        if embeddings.cached:
            self._meter.add(self._step, Usage(saved=1, saved_prompt_tokens=kept))
            return embeddings
        asked = embeddings.tokens or sum(tokens.count_all(texts))
        usage = Usage(1, asked, faults=embeddings.faults, saved_prompt_tokens=kept)
        self._meter.add(self._step, usage)
        return embeddings
