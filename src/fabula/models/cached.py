"""Models whose replies are cached, so that nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fabula.models import Embeddings, Prompt, Reply, TextKind
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.models.counted import CountedChat, CountedEmbedder
from fabula.models.read_ahead import read_ahead
from fabula.models.stop import Stop
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.text.document import Vector


class CachedChat:
    """A chat whose replies are cached by endpoint, model, prompt and parameters.

    Calls that the cache answers are counted as saved.
    """

    def __init__(
        self,
        open: Callable[[Stop], CountedChat],
        cache: ReplyCache,
        endpoint: str,
        model: str,
        stop: Stop | None = None,
    ) -> None:
        """Put a cache before a chat.

        Args:
            open: Makes the chat that is asked and paid for; the stop it is given ends its calls.
            cache: Where replies are saved.
            endpoint: The endpoint's checked URL.
            model: The model's name.
            stop: Ends all waiting for another thread's call.
        """
        self._open, self._cache = open, cache
        self._endpoint, self._model = endpoint, model
        self._stop = stop or Stop()
        self._chat = open(self._stop)

    def complete(self, prompt: Prompt) -> Reply:
        """Return the cached reply, or the chat's, which is saved the moment it arrives."""
        key = chat_key(self._endpoint, self._model, prompt)
        with self._cache.lock([key], self._stop):
            cached = self._cache.reply(key)
            if cached is not None:
                self._chat.count(prompt, cached.text, cached)
                return cached
            reply = self._chat.complete(prompt)
            # A reply without usable text is saved as an empty one: the next run refuses that, too,
            # and does not pay for it again. One that did not end by itself is no reply.
            if not reply.incomplete:
                self._cache.save_reply(
                    key, self._model, replace(reply, text="") if reply.problem else reply
                )
            return reply

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the cached reply in one piece, or the chat's pieces, saved after the last.

        Who asks what another thread is just asking waits for that reply, and has it whole.
        """
        key = chat_key(self._endpoint, self._model, prompt)
        return read_ahead(partial(self._open_stream, key, prompt), self._stop)

    def _open_stream(self, key: bytes, prompt: Prompt, stop: Stop) -> Generator[Reply]:
        """The pieces of the cached reply or of a call, which is counted and saved."""
        with self._cache.lock([key], stop):
            cached = self._cache.reply(key)
            if cached is not None:
                self._chat.count(prompt, cached.text, cached)
                yield cached
                return
            text, counts, is_whole = [], Reply(""), True
            # A reader that leaves early has to give the limiter's slot back.
            with closing(self._open(stop).stream(prompt)) as pieces:
                for piece in pieces:
                    text.append(piece.text)
                    is_whole = is_whole and not (piece.incomplete or piece.problem)
                    if piece.prompt_tokens or piece.completion_tokens:
                        counts = piece
                    yield piece
            if is_whole:
                whole = Reply("".join(text), counts.prompt_tokens, counts.completion_tokens)
                self._cache.save_reply(key, self._model, whole)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Report an unusable reply; with `forget`, delete it, so that the next try asks again."""
        if forget:
            self._cache.forget(chat_key(self._endpoint, self._model, prompt))
        self._chat.reject(prompt, forget=forget)


class CachedEmbedder:
    """An embedder whose vectors are cached, text by text, by endpoint and model.

    Texts that the cache has the vectors of are counted as saved. A prefix is a part of its text.

    Args:
        embedder: Asks the model.
        cache: Where vectors are saved.
        endpoint: The endpoint's checked URL.
        stop: Ends the waiting for others that ask for the same texts.
        key_kind: What the key of a text has of its kind; None for nothing.
    """

    def __init__(
        self,
        embedder: CountedEmbedder,
        cache: ReplyCache,
        endpoint: str,
        stop: Stop | None = None,
        key_kind: Callable[[TextKind], str] | None = None,
    ) -> None:
        self._embedder, self._cache, self._endpoint = embedder, cache, endpoint
        self._stop, self._key_kind = stop or Stop(), key_kind
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text; each text that is not cached is asked for once."""
        keys = self._keys(texts, kind)
        # All keys at once: one by one, two threads with the same texts in another order could each
        # hold what the other waits for.
        with self._cache.lock(keys, self._stop):
            return self._embed(dict(zip(keys, texts, strict=True)), keys, kind)

    def _keys(self, texts: Iterable[str], kind: TextKind) -> list[bytes]:
        key_kind = self._key_kind(kind) if self._key_kind else ""
        return [embedding_key(self._endpoint, self.model, text, key_kind) for text in texts]

    def _embed(
        self, texts: Mapping[bytes, str], keys: Sequence[bytes], kind: TextKind
    ) -> Embeddings:
        rows = self._cache.vectors(keys)
        missing = {key: text for key, text in texts.items() if key not in rows}
        cached = [text for key, text in texts.items() if key in rows]
        answers = [self._ask(missing, rows, kind)] if missing else []
        if len({row.shape for row in rows.values()}) > 1:
            # The name stood for another model before, so that the cached vectors are of no use.
            answers.append(self._ask(texts, rows, kind))
            cached = []
        if cached:
            saved = sum(tokens.count_all(cached))
            self._embedder.count_saved(saved, calls=int(not answers))
        return Embeddings(
            np.stack([rows[key] for key in keys]),
            sum(answer.tokens for answer in answers),
            sum(answer.faults for answer in answers),
            cached=not answers,
            cut={text: kept for answer in answers for text, kept in answer.cut.items()},
        )

    def _ask(
        self, texts: Mapping[bytes, str], rows: dict[bytes, Vector], kind: TextKind
    ) -> Embeddings:
        """Ask for texts by key; their vectors are saved at once, and put in `rows`."""
        values = [*texts.values()]
        answer = self._embedder.embed(values, kind)
        vectors = dict(zip(texts, answer.vectors, strict=True))
        # By keys made anew: that a model wants to know the kind is learned by its first call.
        saved = dict(zip(self._keys(values, kind), answer.vectors, strict=True))
        self._cache.save_vectors(self.model, saved)
        rows |= vectors
        return replace(answer, tokens=answer.tokens or sum(tokens.count_all(values)))
