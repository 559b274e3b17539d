"""Count the rounds and batches that a run would need, in a dry run: placeholders answer."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.models import Embeddings, Prompt, Reply
from fabula.models.batch_store import MAX_FILE_BYTES, MAX_LINES
from fabula.models.batched import Line, Lines
from fabula.models.cache import ReplyCache
from fabula.models.roles import Models, Role
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

    def open(self, lines: Lines, cache: ReplyCache | None) -> EstimatedBatches:
        """Return what answers the requests of a build, and counts them."""
        return EstimatedBatches(self, lines, cache)

    def end_round(self) -> None:
        """Take all that was asked as answered."""
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
        self._asked = {}


@dataclass(frozen=True, slots=True)
class EstimatedBatches:
    """Answers by placeholders what the cache has, or an earlier round has asked for.

    Attributes:
        counts: Counts what each round asks for.
        lines: Makes the lines of requests.
        cache: What is in the cache is not sent.
    """

    counts: BatchEstimate
    lines: Lines
    cache: ReplyCache | None

    def complete(self, models: Models, role: Role, step: str, prompt: Prompt) -> Reply | None:
        """Return the placeholder of a reply; None in the round that asks for it."""
        model = models.model(role)
        if not self._are_there("chat", model, [self.lines.of_prompt(model, prompt)]):
            return None
        return models.chat(role, step).complete(prompt)

    def embed(self, models: Models, texts: Sequence[str]) -> Embeddings | None:
        """Return placeholders of vectors; None in the round that asks for some of them."""
        model = self.lines.embedder
        lines = [self.lines.of_text(text) for text in texts] if model else []
        there = self._are_there("embeddings", model, lines)
        return models.embedder.embed(texts, "passage") if there else None

    def _are_there(self, kind: str, model: str, lines: Sequence[Line]) -> bool:
        cached = self.cache.find([line.key for line in lines]) if self.cache else {}
        ask = self.counts.ask
        asked = [ask(line.key, kind, model, line.texts) for line in lines if line.key not in cached]
        return all(asked)


def _count_files(calls: Sequence[_Asked]) -> int:
    """Return how many files calls of one model need."""
    size = sum(call.bytes for call in calls)
    return max(-(-len(calls) // MAX_LINES), -(-size // MAX_FILE_BYTES))
