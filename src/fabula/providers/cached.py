"""Models whose replies are kept: what was paid for once is not asked again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fabula import tokens
from fabula.providers import Chat, Embedder, Embeddings, Prompt, Reply
from fabula.providers.cache import ResponseCache, chat_key, embedding_key

if TYPE_CHECKING:
    from fabula.model import Vector


class CachedChat:
    """A chat whose replies are kept under `endpoint`, `model`, prompt and parameters."""

    def __init__(self, chat: Chat, cache: ResponseCache, endpoint: str, model: str) -> None:
        self._chat, self._cache = chat, cache
        self._endpoint, self._model = endpoint, model

    def complete(self, prompt: Prompt) -> Reply:
        """The kept reply, or the chat's, kept the moment it arrives."""
        key = chat_key(self._endpoint, self._model, prompt)
        with self._cache.turn([key]):
            kept = self._cache.reply(key)
            if kept is not None:
                return kept
            reply = self._chat.complete(prompt)
            # Without a text to use, it is refused next time, too, and not paid for again.
            self._cache.keep_reply(
                key, self._model, replace(reply, text="") if reply.trouble else reply
            )
            return reply

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The kept reply in one piece, or the chat's pieces, kept when the last has come."""
        key = chat_key(self._endpoint, self._model, prompt)
        kept = self._cache.reply(key)
        if kept is not None:
            yield kept
            return
        text, told = [], Reply("")
        pieces = self._chat.stream(prompt)
        try:
            for piece in pieces:
                text.append(piece.text)
                if piece.prompt_tokens or piece.completion_tokens:
                    told = piece
                yield piece
        finally:
            # Whoever stops reading must not leave the endpoint's turn taken.
            if isinstance(pieces, Generator):
                pieces.close()
        whole = Reply("".join(text), told.prompt_tokens, told.completion_tokens)
        self._cache.keep_reply(key, self._model, whole)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Forgets the reply, if told to, so that the next try is asked and kept in its place."""
        if forget:
            self._cache.forget(chat_key(self._endpoint, self._model, prompt))
        self._chat.reject(prompt, forget=forget)


class CachedEmbedder:
    """An embedder whose vectors are kept, text by text, under `endpoint` and its model's name."""

    def __init__(self, embedder: Embedder, cache: ResponseCache, endpoint: str) -> None:
        self._embedder, self._cache, self._endpoint = embedder, cache, endpoint
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One row a text, in order; the embedder is asked once for each text that isn't kept."""
        keys = [embedding_key(self._endpoint, self.model, text) for text in texts]
        with self._cache.turn(keys):
            return self._embedded(texts, keys)

    def _embedded(self, texts: Sequence[str], keys: Sequence[bytes]) -> Embeddings:
        rows = self._cache.vectors(keys)
        wanted = dict(zip(keys, texts, strict=True))
        missing = {key: text for key, text in wanted.items() if key not in rows}
        kept = [text for key, text in wanted.items() if key in rows]
        asked = [self._ask(missing, rows)] if missing else []
        if len({row.shape for row in rows.values()}) > 1:
            # Another model was behind that name before.
            asked.append(self._ask(wanted, rows))
            kept = []
        return Embeddings(
            np.stack([rows[key] for key in keys]),
            sum(one.tokens for one in asked),
            sum(one.faults for one in asked),
            cached=not asked,
            saved_tokens=sum(tokens.count_all(kept)),
        )

    def _ask(self, texts: Mapping[bytes, str], rows: dict[bytes, Vector]) -> Embeddings:
        """Asks for texts by key; their vectors are kept the moment they arrive, and in `rows`."""
        wanted = [*texts.values()]
        fresh = self._embedder.embed(wanted)
        found = dict(zip(texts, fresh.vectors, strict=True))
        self._cache.keep_vectors(self.model, found)
        rows |= found
        return replace(fresh, tokens=fresh.tokens or sum(tokens.count_all(wanted)))
