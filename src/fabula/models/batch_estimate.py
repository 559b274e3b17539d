"""Count the rounds and batches that a run would need, in a dry run: placeholders answer."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.errors import ReplyPending
from fabula.models import Chat, Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.batch_store import MAX_FILE_BYTES, MAX_LINES
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.text import tokens


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call that a round asks: "chat" or "embeddings", and about how much it sends."""

    kind: str
    model: str
    tokens: int
    bytes: int


class BatchEstimate:
    """What a run by batches would send: each round asks what the replies before it allow.

    Attributes:
        rounds: The rounds that end with a batch, which may take hours.
        batches: The batches: each has one model and one kind of call, and is a file of at most
            MAX_LINES calls and MAX_FILE_BYTES.

    Args:
        min_tokens: Embeddings of a round with fewer tokens would be asked for at once.
        min_calls: Fewer calls of a round to chat models would be made at once.

    """

    def __init__(self, min_tokens: int = 0, min_calls: int = 0) -> None:
        self.rounds = self.batches = 0
        self._min_tokens, self._min_calls = min_tokens, min_calls
        self._answered: set[bytes] = set()
        self._asked: dict[bytes, _Asked] = {}
        self._lock = threading.Lock()

    def ask(self, key: bytes, kind: str, model: str, texts: Sequence[str]) -> bool:
        """Return whether an earlier round has asked this; otherwise, this round does.

        Args:
            key: What identifies the call.
            kind: "chat" or "embeddings".
            model: The model.
            texts: What the call sends.

        """
        with self._lock:
            if key in self._answered:
                return True
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
            self._asked[key] = _Asked(kind, model, sum(tokens.count_all(texts)), size)
            return False

    def end_round(self) -> bool:
        """Take all that was asked as answered. Returns whether there was anything."""
        chats = [asked for asked in self._asked.values() if asked.kind == "chat"]
        embedded = [asked for asked in self._asked.values() if asked.kind != "chat"]
        if len(chats) < self._min_calls:
            chats = []
        if sum(asked.tokens for asked in embedded) < self._min_tokens:
            embedded = []
        files: dict[tuple[str, str], list[_Asked]] = defaultdict(list)
        for asked in (*chats, *embedded):
            files[asked.kind, asked.model].append(asked)
        self.batches += sum(map(_count_files, files.values()))
        self.rounds += bool(files)
        self._answered |= self._asked.keys()
        was_asked = bool(self._asked)
        self._asked = {}
        return was_asked


def _count_files(calls: Sequence[_Asked]) -> int:
    """Return how many files calls of one model need."""
    size = sum(call.bytes for call in calls)
    return max(-(-len(calls) // MAX_LINES), -(-size // MAX_FILE_BYTES))


class EstimatedChat:
    """A chat of a dry run by batches: a reply is there in the round after it was asked for."""

    def __init__(
        self,
        chat: Chat,
        estimate: BatchEstimate,
        cache: ReplyCache | None,
        endpoint: str,
        model: str,
    ) -> None:
        self._chat, self._estimate, self._cache = chat, estimate, cache
        self._endpoint, self._model = endpoint, model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the placeholder. Raises ReplyPending in the round that asks for it."""
        key = chat_key(self._endpoint, self._model, prompt)
        if not (self._cache and self._cache.reply(key)):
            texts = prompt.system, prompt.user
            if not self._estimate.ask(key, "chat", self._model, texts):
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
        cache: ReplyCache | None,
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
        known = [self._estimate.ask(key, "embeddings", self.model, (text,)) for key, text in new]
        if not all(known):
            raise ReplyPending
        return self._embedder.embed(texts, kind)
