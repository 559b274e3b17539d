"""What was learned about the models at one endpoint, beside the parameters that they accept."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabula.models import Reply
from fabula.models.cache import behaviour_key

if TYPE_CHECKING:
    from fabula.models.cache import ReplyCache

LOG = logging.getLogger("fabula")
MIN_PROMPT_TOKENS = 200
"""Shorter prompts, by our count, fit any context."""
RAISE_CONTEXT = (
    "Raise its context (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; llama.cpp: --ctx-size; "
    "LM Studio: Context Length)"
)
READ_SHARE = 0.5
"""A model that reports fewer tokens than this share of our count has not read the whole prompt. The
tokenizers of real models differ from ours by less than that."""


@dataclass(slots=True)
class _Model:
    batch: int | None = None
    holds_streams: bool | None = None
    """None: not looked up yet."""
    most_read: int = 0
    longest_refused: int | None = None
    window: int | None = None
    spoils_batches: bool = False
    ends_streams: bool = False
    warnings: set[str] = field(default_factory=set)


class LearnedBehaviour:
    """What was learned of each model; all threads share it."""

    def __init__(self, url: str = "", memory: ReplyCache | None = None) -> None:
        """Know nothing yet.

        Args:
            url: The endpoint's checked URL.
            memory: Where the one thing is saved that costs an answer to learn.

        """
        self._url, self._memory = url, memory
        self._models: dict[str, _Model] = defaultdict(_Model)
        self._lock = threading.Lock()

    def batch(self, model: str) -> int | None:
        """Return the most texts that an embedding model takes in a call, if that was learned."""
        return self._models[model].batch

    def limit_batch(self, model: str, batch: int) -> None:
        """Remember that an embedding model takes no more than `batch` texts in a call."""
        with self._lock:
            # A smaller limit stays: calls under way may be refused with older, larger ones.
            known = self._models[model]
            if known.batch is not None and known.batch <= batch:
                return
            known.batch = batch
        LOG.info("Calls for embeddings to %s have at most %d texts: it refuses more.", model, batch)

    def holds_streams(self, model: str) -> bool:
        """Return whether a model's thoughts begin without a tag, so that streams are held back."""
        known = self._models[model]
        if known.holds_streams is None:
            key = behaviour_key(self._url, model)
            known.holds_streams = self._memory is not None and self._memory.reply(key) is not None
        return known.holds_streams

    def hold_streams(self, model: str) -> None:
        """Remember that a model's thoughts may begin without a tag."""
        if not self.holds_streams(model):
            self._models[model].holds_streams = True
            if self._memory is not None:
                note = Reply("Its thoughts begin without a tag.")
                self._memory.save_reply(behaviour_key(self._url, model), model, note)

    def spoils_batches(self, model: str) -> bool:
        """Return whether a batch to embed was answered without a usable vector for each text."""
        return self._models[model].spoils_batches

    def spoil_batches(self, model: str) -> None:
        """Remember that a batch to embed was answered so."""
        self._models[model].spoils_batches = True

    def ends_streams(self, model: str) -> bool:
        """Return whether a model's streams have ended with a reason, as they should."""
        return self._models[model].ends_streams

    def note_end(self, model: str) -> None:
        """Remember that a model's stream has ended with a reason."""
        self._models[model].ends_streams = True

    def longest_refused(self, model: str) -> int | None:
        """Return the fewest tokens, by our count, that an embedding model did not take."""
        return self._models[model].longest_refused

    def refuse_length(self, model: str, tokens: int) -> None:
        """Remember that an embedding model did not take a text of `tokens` tokens."""
        with self._lock:
            known = self._models[model]
            known.longest_refused = min(tokens, known.longest_refused or tokens)

    def window(self, model: str) -> int | None:
        """Return the most tokens that a chat model takes in a call, if that was learned."""
        return self._models[model].window

    def limit_window(self, model: str, tokens: int) -> None:
        """Remember that a chat model takes no more than `tokens` in a call."""
        with self._lock:
            known = self._models[model]
            known.window = min(tokens, known.window or tokens)

    def check_prompt(self, model: str, url: str, sent: int, read: int) -> None:
        """Warn, once for each model, if a prompt was cut by its server.

        Args:
            model: The model.
            url: Where it is.
            sent: The tokens of the prompt by our count.
            read: Those that the model has read, by the server's count; 0 if it does not say.

        """
        if read <= 0:
            return
        with self._lock:
            known = self._models[model]
            # A server may leave out what it has in its cache, so that the largest count is
            # compared: it is never larger than a limit.
            known.most_read = max(known.most_read, read)
            read = known.most_read
        if sent >= MIN_PROMPT_TOKENS and read < READ_SHARE * sent:
            self.limit_window(model, read)
            self.warn(
                model,
                "prompt",
                f"{model} at {url} read only {read:,} tokens of a prompt that has about {sent:,}: "
                "its server cuts prompts to its context and does not say so. What it replies rests "
                f"on a part of the text. {RAISE_CONTEXT}, or lower aspects.cluster_tokens "
                "and context_tokens.",
            )

    def warn_about_endpoint(self, about: str, message: str) -> None:
        """Log a warning about the endpoint, once for each thing that it is `about`."""
        self.warn("", about, message)

    def warn(self, model: str, about: str, message: str) -> None:
        """Log a warning, once for each model and each thing that it is `about`."""
        with self._lock:
            warnings = self._models[model].warnings
            # Hundreds of calls meet the same limit; one line says it.
            if about in warnings:
                return
            warnings.add(about)
        LOG.warning("%s", message)
