"""Count the rounds and batches that a run would need, in a dry run: placeholders answer."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from fabula.errors import ReplyPending
from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.cache import ResponseCache, chat_key, embedding_key
from fabula.text import tokens


class BatchEstimate:
    """What a run by batches would send: each round asks what the replies before it allow.

    Attributes:
        rounds: The rounds that end with a batch, which may take hours.
        batches: The batches: each has one model and one kind of call.

    Args:
        min_tokens: Embeddings of a round with fewer tokens would be asked for at once.

    """

    def __init__(self, min_tokens: int = 0) -> None:
        self.rounds = self.batches = 0
        self._min_tokens = min_tokens
        self._answered: set[bytes] = set()
        self._asked: dict[bytes, tuple[str, str, int]] = {}
        self._lock = threading.Lock()

    def ask(self, key: bytes, kind: str, model: str, size: int) -> bool:
        """Return whether an earlier round has asked this; otherwise, this round does.

        Args:
            key: What identifies the call.
            kind: "chat" or "embeddings".
            model: The model.
            size: About how many tokens the call sends.

        """
        with self._lock:
            if key in self._answered:
                return True
            self._asked[key] = (kind, model, size)
            return False

    def end_round(self) -> bool:
        """Take all that was asked as answered. Returns whether there was anything."""
        sizes: Counter[tuple[str, str]] = Counter()
        for kind, model, size in self._asked.values():
            sizes[kind, model] += size
        sent = [
            kind for (kind, _), size in sizes.items() if kind == "chat" or size >= self._min_tokens
        ]
        self.batches += len(sent)
        self.rounds += bool(sent)
        self._answered |= self._asked.keys()
        was_asked = bool(self._asked)
        self._asked = {}
        return was_asked


class EstimatedChat:
    """A chat of a dry run by batches: a reply is there in the round after it was asked for."""

    def __init__(
        self,
        chat: Chat,
        estimate: BatchEstimate,
        cache: ResponseCache | None,
        endpoint: str,
        model: str,
    ) -> None:
        self._chat, self._estimate, self._cache = chat, estimate, cache
        self._endpoint, self._model = endpoint, model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the placeholder. Raises ReplyPending in the round that asks for it."""
        key = chat_key(self._endpoint, self._model, prompt)
        if not (self._cache and self._cache.reply(key)):
            size = sum(tokens.count_all((prompt.system, prompt.user)))
            if not self._estimate.ask(key, "chat", self._model, size):
                raise ReplyPending
        return self._chat.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the same reply in one piece."""
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Do nothing: a dry run saves no replies."""


class EstimatedEmbedder:
    """An embedder of a dry run by batches."""

    def __init__(
        self,
        embedder: Embedder,
        estimate: BatchEstimate,
        cache: ResponseCache | None,
        endpoint: str,
    ) -> None:
        self._embedder, self._estimate, self._cache = embedder, estimate, cache
        self._endpoint = endpoint
        self.model, self.batch = embedder.model, embedder.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return vectors of a placeholder. Raises ReplyPending in the round that asks for them."""
        keys = {embedding_key(self._endpoint, self.model, text): text for text in texts}
        cached = self._cache.vectors(list(keys)) if self._cache else {}
        new = [(key, text) for key, text in keys.items() if key not in cached]
        known = [
            self._estimate.ask(key, "embeddings", self.model, tokens.count(text))
            for key, text in new
        ]
        if not all(known):
            raise ReplyPending
        return self._embedder.embed(texts, kind)
