"""Models whose replies are kept: what was paid for once is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fabula.errors import FabulaError
from fabula.models import Embeddings, Prompt, Reply
from fabula.models.cache import ResponseCache, chat_key, embedding_key
from fabula.models.counted import CountedChat, CountedEmbedder
from fabula.models.stop import Stop
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.text.document import Vector


class CachedChat:
    """A chat whose replies are kept under `endpoint`, `model`, prompt and parameters.

    `open` makes the chat that is asked, which counts what is paid for; a stop ends its calls. What
    needs no asking is counted here, as saved. `stop` ends all waiting for another's call.
    """

    def __init__(
        self,
        open: Callable[[Stop], CountedChat],
        cache: ResponseCache,
        endpoint: str,
        model: str,
        stop: Stop | None = None,
    ) -> None:
        self._open, self._cache = open, cache
        self._endpoint, self._model = endpoint, model
        self._stop = stop or Stop()
        self._chat = open(self._stop)

    def complete(self, prompt: Prompt) -> Reply:
        """The kept reply, or the chat's, kept the moment it arrives."""
        key = chat_key(self._endpoint, self._model, prompt)
        with self._cache.turn([key], self._stop):
            kept = self._cache.reply(key)
            if kept is not None:
                self._chat.count(prompt, kept.text, kept)
                return kept
            reply = self._chat.complete(prompt)
            # Without a text to use, it is refused next time, too, and not paid for again.
            self._cache.keep_reply(
                key, self._model, replace(reply, text="") if reply.trouble else reply
            )
            return reply

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The kept reply in one piece, or the chat's pieces, kept when the last has come.

        All who ask the same meanwhile read one call. Where that fails, or is ended by a budget of
        whoever began it, one of the others who have read nothing yet asks in their place.
        """
        key = chat_key(self._endpoint, self._model, prompt)
        while True:
            with self._cache.streams.join(key, partial(self._ask, key, prompt)) as (call, is_own):
                text: list[str] = []
                told = Reply("", cached=True)
                try:
                    for piece in call.read(self._stop):
                        text.append(piece.text)
                        if piece.prompt_tokens or piece.completion_tokens:
                            told = replace(piece, cached=True)
                        yield piece if is_own else replace(piece, cached=True)
                    return
                except FabulaError:
                    if is_own or text or self._stop.is_set():
                        raise
                finally:
                    if text and not is_own:
                        self._chat.count(prompt, "".join(text), told)

    def _ask(self, key: bytes, prompt: Prompt, stop: Stop) -> Generator[Reply]:
        """The pieces of a call that several may read; counted to whoever began it."""
        with self._cache.turn([key], stop):
            kept = self._cache.reply(key)
            if kept is not None:
                self._chat.count(prompt, kept.text, kept)
                yield kept
                return
            text, told = [], Reply("")
            # Whoever stops reading must not leave the endpoint's turn taken.
            with closing(self._open(stop).stream(prompt)) as pieces:
                for piece in pieces:
                    text.append(piece.text)
                    if piece.prompt_tokens or piece.completion_tokens:
                        told = piece
                    yield piece
            whole = Reply("".join(text), told.prompt_tokens, told.completion_tokens)
            self._cache.keep_reply(key, self._model, whole)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Forgets the reply, if told to, so that the next try is asked and kept in its place."""
        if forget:
            self._cache.forget(chat_key(self._endpoint, self._model, prompt))
        self._chat.reject(prompt, forget=forget)


class CachedEmbedder:
    """An embedder whose vectors are kept, text by text, under `endpoint` and its model's name.

    `embedder` counts what is paid for; what was kept is counted here, as saved.
    """

    def __init__(
        self,
        embedder: CountedEmbedder,
        cache: ResponseCache,
        endpoint: str,
        stop: Stop | None = None,
    ) -> None:
        self._embedder, self._cache, self._endpoint = embedder, cache, endpoint
        self._stop = stop or Stop()
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One row a text, in order; the embedder is asked once for each text that isn't kept."""
        keys = [embedding_key(self._endpoint, self.model, text) for text in texts]
        with self._cache.turn(keys, self._stop):
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
        saved = sum(tokens.count_all(kept))
        if kept:
            self._embedder.count_saved(saved, calls=int(not asked))
        return Embeddings(
            np.stack([rows[key] for key in keys]),
            sum(one.tokens for one in asked),
            sum(one.faults for one in asked),
            cached=not asked,
            saved_tokens=saved,
        )

    def _ask(self, texts: Mapping[bytes, str], rows: dict[bytes, Vector]) -> Embeddings:
        """Asks for texts by key; their vectors are kept the moment they arrive, and in `rows`."""
        wanted = [*texts.values()]
        fresh = self._embedder.embed(wanted)
        found = dict(zip(texts, fresh.vectors, strict=True))
        self._cache.keep_vectors(self.model, found)
        rows |= found
        return replace(fresh, tokens=fresh.tokens or sum(tokens.count_all(wanted)))
