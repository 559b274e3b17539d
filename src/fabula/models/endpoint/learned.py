"""What was learned of the models at one endpoint: what they refuse, and how they behave.

What a server refuses (a parameter, the system role, a schema, a number of texts) is saved beside
the replies, so that the next process is not refused again. What a user may change at the server,
as the length of its context, is not saved.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from fabula.models.cache import learned_key
from fabula.models.endpoint.parameters import Parameters

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


KEPT_SECONDS = 7 * 86_400.0
"""How long what a server refused is remembered: it may have been updated since."""


@dataclass(slots=True)
class ModelBehaviour:
    """What was learned of one model.

    Attributes:
        parameters: The parameters that it is known to accept.
        batch: The most texts that it takes in a call; None if that was not learned.
        batch_lines: The most calls of a batch file that it takes; None if that was not learned.
        holds_streams: Whether its thoughts begin without a tag, so that streams are held back.
        is_probed: Whether a first call has shown what it accepts, so that batches can be sent.
        is_guessed: Whether a failing server led to the parameters. They may be wrong: from then on
            nothing is saved. What follows is never saved.
        accepted: The optional parameters that it has accepted in an answered call.
        most_read: The most tokens of a prompt that it has read.
        longest_refused: The fewest tokens, by our count, of a text that it could not embed.
        window: The most tokens that it takes in a call, if that was learned.
        spoils_batches: Whether a batch was answered without a usable vector for each text.
        ends_streams: Whether its streams have ended with a reason, as they should.
        warnings: What was warned of.
    """

    parameters: Parameters = field(default_factory=Parameters)
    batch: int | None = None
    batch_lines: int | None = None
    holds_streams: bool = False
    is_probed: bool = False
    is_guessed: bool = False
    accepted: set[str] = field(default_factory=set)
    most_read: int = 0
    longest_refused: int | None = None
    window: int | None = None
    spoils_batches: bool = False
    ends_streams: bool = False
    warnings: set[str] = field(default_factory=set)


class LearnedBehaviour:
    """What was learned of each model; all threads share it."""

    def __init__(self, url: str = "", memory: ReplyCache | None = None) -> None:
        """Know what earlier processes have saved: at first, that each model is sent all parameters.

        Args:
            url: The endpoint's URL without secrets.
            memory: Where what the server refuses is saved.
        """
        self._url, self._memory = url, memory
        self._models: dict[str, ModelBehaviour] = {}
        self._lock = threading.RLock()

    def of(self, model: str) -> ModelBehaviour:
        """Return what is known of a model; it is read from the memory at first."""
        with self._lock:
            if model not in self._models:
                known = self._models[model] = ModelBehaviour()
                key = learned_key(self._url, model)
                saved = self._memory.find([key]).get(key) if self._memory else None
                # What another version of Fabula has saved may not be understood.
                with suppress(ValueError, TypeError, KeyError):
                    row = json.loads(saved or "{}")
                    if row["at"] > time.time() - KEPT_SECONDS:
                        known.parameters = Parameters(**row["parameters"])
                        known.batch, known.holds_streams = row["batch"], row["holds_streams"]
                        known.is_probed = row["is_probed"]
                        known.batch_lines = row["batch_lines"]
            return self._models[model]

    def _save(self, model: str) -> None:
        """Save what a model refuses."""
        known = self.of(model)
        if self._memory is None or known.is_guessed:
            return
        row = {
            "at": time.time(),
            "parameters": asdict(known.parameters),
            "batch": known.batch,
            "batch_lines": known.batch_lines,
            "holds_streams": known.holds_streams,
            "is_probed": known.is_probed,
        }
        key = learned_key(self._url, model)
        self._memory.save([(key, "learned", model, json.dumps(row).encode())])

    def note_probe(self, model: str) -> None:
        """Remember that a first call has shown what a model accepts."""
        self.of(model).is_probed = True
        self._save(model)

    def learn(
        self, model: str, used: Parameters, better: Parameters, *reasons: str, guessed: bool = False
    ) -> None:
        """Remember a model's parameters, unless another thread has changed them meanwhile.

        Args:
            model: The model.
            used: The parameters that a call was made with.
            better: Those that were accepted in the end.
            reasons: Why they are changed, as clauses.
            guessed: Whether they may be wrong, so that they are not saved.
        """
        with self._lock:
            known = self.of(model)
            # Two calls may learn different things side by side. The first one counts: the other
            # call meets its own refusal again, and then adds to what is known.
            if better == used or known.parameters != used:
                return
            known.parameters, known.is_guessed = better, known.is_guessed or guessed
        for reason in reasons:
            LOG.info("Requests to %s at %s are changed: %s.", model, self._url, reason)
        self._save(model)

    def allow_thinking(self, model: str, used: Parameters) -> bool:
        """Give a model that spent its whole reply on thinking more tokens from now on.

        Returns:
            Whether to ask again; False if the call, made with the parameters `used`, had them.
        """
        if used.thinks:
            return False
        self.learn(model, used, replace(used, thinks=True), "it thinks before it replies")
        return True

    def limit_batch(self, model: str, batch: int) -> None:
        """Remember that an embedding model takes no more than `batch` texts in a call."""
        with self._lock:
            # A smaller limit stays: calls under way may be refused with older, larger ones.
            known = self.of(model)
            if known.batch is not None and known.batch <= batch:
                return
            known.batch = batch
        self._save(model)
        LOG.info("Calls for embeddings to %s have at most %d texts: it refuses more.", model, batch)

    def limit_lines(self, model: str, lines: int | None) -> None:
        """Remember how many calls a batch file of a model may have at most; None: any number."""
        self.of(model).batch_lines = lines
        self._save(model)

    def hold_streams(self, model: str) -> None:
        """Remember that a model's thoughts may begin without a tag."""
        if not self.of(model).holds_streams:
            self.of(model).holds_streams = True
            self._save(model)

    def refuse_length(self, model: str, tokens: int) -> None:
        """Remember that an embedding model did not take a text of `tokens` tokens."""
        with self._lock:
            known = self.of(model)
            known.longest_refused = min(tokens, known.longest_refused or tokens)

    def limit_window(self, model: str, tokens: int) -> None:
        """Remember that a chat model takes no more than `tokens` in a call."""
        with self._lock:
            known = self.of(model)
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
            known = self.of(model)
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

    def warn(self, model: str, about: str, message: str) -> None:
        """Log a warning, once for each model ('' for all) and each thing that it is `about`."""
        with self._lock:
            warnings = self.of(model).warnings
            # Hundreds of calls meet the same limit; one line says it.
            if about in warnings:
                return
            warnings.add(about)
        LOG.warning("%s", message)
