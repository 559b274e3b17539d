"""What models are expected to reply, so that a run can be counted before it is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula.errors import ModelError
from fabula.models import Embedder, Embeddings, Prompt, Reply
from fabula.models.cache import ResponseCache, chat_key, embedding_key
from fabula.text import tokens


class ExpectedChat:
    """A chat that asks no model: what is kept is known, all else has a stand-in."""

    def __init__(self, model: str, cache: ResponseCache | None, endpoint: str) -> None:
        self._model, self._cache, self._endpoint = model, cache, endpoint

    def complete(self, prompt: Prompt) -> Reply:
        """What was replied before, or what stands in for it. Raises ModelError for neither."""
        key = chat_key(self._endpoint, self._model, prompt)
        if self._cache and (kept := self._cache.reply(key)):
            return kept
        if prompt.stand_in is None:
            raise ModelError(
                "What this run costs can't be told before: one of its prompts does not say what "
                "reply is expected. Run it without --dry-run."
            )
        return Reply(prompt.stand_in())

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The same in one piece."""
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept here."""


class ExpectedEmbedder:
    """An embedder under the name of a model that is not asked: vectors of a free one stand in.

    What is kept in the cache is counted as saved.
    """

    def __init__(
        self,
        model: str,
        batch: int,
        stand_in: Embedder,
        cache: ResponseCache | None,
        endpoint: str,
    ) -> None:
        self.model, self.batch = model, batch
        self._stand_in, self._cache, self._endpoint = stand_in, cache, endpoint

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Rows of the stand-in; the tokens are those of the texts that would be sent."""
        keys = {embedding_key(self._endpoint, self.model, text): text for text in texts}
        kept = self._cache.vectors(list(keys)) if self._cache else {}
        sent = [text for key, text in keys.items() if key not in kept]
        vectors = self._stand_in.embed(texts).vectors
        return Embeddings(vectors, sum(tokens.count_all(sent)), cached=not sent)
