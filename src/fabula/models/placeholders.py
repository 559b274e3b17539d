"""Placeholders of models for a dry run, which counts what a run would ask and pays for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.errors import ModelError
from fabula.models import Embedder, Embeddings, Prompt, Reply, TextKind
from fabula.models.cache import ReplyCache, embedding_key
from fabula.text import tokens


@dataclass(frozen=True, slots=True)
class DryRun:
    """What stands in for models.

    Attributes:
        dimensions: Those of the collection's embeddings, for a question; 0 for those at hand.
        embedded: The cache's keys of the texts that were embedded: the cache would have them. None
            for a build with a chat model: placeholders may be alike where its replies are not.
        saves: Whether placeholders' replies are saved as a model's are, so that what is asked twice
            is counted once. The cache of the settings must then be one of this dry run's own.
    """

    dimensions: int = 0
    embedded: set[bytes] | None = None
    saves: bool = False


class PlaceholderChat:
    """A chat that replies with the prompt's placeholder, about as long as a model's reply."""

    def complete(self, prompt: Prompt) -> Reply:
        """Return the prompt's placeholder.

        Raises:
            ModelError: It has none.
        """
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

    Texts whose vectors are in the cache count as saved. Where the collection's have more
    dimensions, the numbers are repeated, so that an index can be asked: it finds other passages,
    but as many.
    """

    def __init__(
        self,
        model: str,
        batch: int,
        placeholder: Embedder,
        cache: ReplyCache | None,
        endpoint: str,
        dry_run: DryRun,
        *,
        is_free: bool = False,
    ) -> None:
        self.model, self.batch, self.is_free = model, batch, is_free
        self._stand_in, self._cache, self._endpoint = placeholder, cache, endpoint
        self._dry_run = dry_run

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return vectors of the placeholder, and the tokens of the texts that would be sent."""
        keys = {embedding_key(self._endpoint, self.model, text): text for text in texts}
        cached = self._cache.find(list(keys)) if self._cache else {}
        embedded = self._dry_run.embedded
        known = cached.keys() | (embedded or ())
        new = {key: text for key, text in keys.items() if key not in known}
        if embedded is not None:
            embedded.update(new)
        vectors = self._stand_in.embed(texts, kind).vectors
        dimensions = self._dry_run.dimensions or vectors.shape[1]
        if dimensions != vectors.shape[1]:
            repeats = -(-dimensions // vectors.shape[1])
            wide = np.tile(vectors, repeats)[:, :dimensions]
            vectors = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)
        return Embeddings(vectors, sum(tokens.count_all([*new.values()])), cached=not new)


def keep_order(question: str, texts: Sequence[str]) -> list[float]:
    """Rank texts as they come; the calls of a model that only ranks are not counted."""
    del question
    return [-float(place) for place in range(len(texts))]
