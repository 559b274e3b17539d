"""Placeholders of models for a dry run, which counts what a run would ask and pays for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula.errors import ModelError, ReplyPending
from fabula.models import Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.batch_estimate import BatchEstimate
from fabula.models.cache import ReplyCache, chat_key, embedding_key
from fabula.text import tokens


class PlaceholderChat:
    """A chat that replies from the cache, and otherwise with the prompt's placeholder.

    With `estimate`, that of a run by batches, it does so in the round after it was first asked.
    """

    def __init__(
        self,
        model: str,
        cache: ReplyCache | None,
        endpoint: str,
        estimate: BatchEstimate | None = None,
    ) -> None:
        self._model, self._cache, self._endpoint = model, cache, endpoint
        self._estimate = estimate

    def complete(self, prompt: Prompt) -> Reply:
        """Return the cached reply, or the prompt's placeholder.

        Raises:
            ModelError: There is neither.
            ReplyPending: A batch would bring the reply.
        """
        key = chat_key(self._endpoint, self._model, prompt)
        if self._cache and (cached := self._cache.reply(key)):
            return cached
        texts = prompt.system, prompt.user
        if self._estimate and not self._estimate.ask(key, "chat", self._model, texts):
            raise ReplyPending
        if prompt.placeholder is None:
            raise ModelError(
                "The cost of this run can't be estimated: one of its prompts has no placeholder "
                "for its reply. Run it without --dry-run."
            )
        return Reply(prompt.placeholder())

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the same reply in one piece."""
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Do nothing: a dry run saves no replies."""


class PlaceholderEmbedder:
    """An embedder that has the name of a paid model, and vectors of a free one in its place.

    Texts whose vectors are in the cache count as saved. With `estimate`, they come in the round
    after they were first asked for.
    """

    def __init__(
        self,
        model: str,
        batch: int,
        placeholder: Embedder,
        cache: ReplyCache | None,
        endpoint: str,
        estimate: BatchEstimate | None = None,
    ) -> None:
        self.model, self.batch = model, batch
        self._stand_in, self._cache, self._endpoint = placeholder, cache, endpoint
        self._estimate = estimate

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return vectors of the placeholder, and the tokens of the texts that would be sent.

        Raises:
            ReplyPending: A batch would bring some of the vectors.
        """
        keys = {embedding_key(self._endpoint, self.model, text): text for text in texts}
        cached = self._cache.vectors(list(keys)) if self._cache else {}
        new = {key: text for key, text in keys.items() if key not in cached}
        sent = [*new.values()]
        if self._estimate is not None:
            ask = self._estimate.ask
            asked = [ask(key, "embeddings", self.model, (text,)) for key, text in new.items()]
            if not all(asked):
                raise ReplyPending
        vectors = self._stand_in.embed(texts, kind).vectors
        return Embeddings(vectors, sum(tokens.count_all(sent)), cached=not sent)
