"""Send texts to embed in batches as large as the endpoint takes, which is learned from refusals."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from fabula.errors import BadReply
from fabula.models import Embedder, Embeddings, TextKind
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.text import tokens
from fabula.text.document import excerpt

LOG = logging.getLogger("fabula")
MAX_PLACES = 10
"""How many texts a warning names."""


class BatchRefused(BadReply):
    """A call with several texts was refused, and may succeed with fewer.

    Args:
        message: What happened.
        size: How many texts to send, if it was refused for their number; None if any of the texts
            may be the reason.
    """

    def __init__(self, message: str, size: int | None) -> None:
        super().__init__(message)
        self.size = size


class BatchingEmbedder:
    """An embedder that takes any number of texts, and makes the calls that its endpoint takes.

    It stands around the cache, so that what each call brings is saved before the next one.
    """

    def __init__(self, embedder: Embedder, behaviour: LearnedBehaviour) -> None:
        self._embedder, self._behaviour = embedder, behaviour
        self.model = embedder.model

    @property
    def batch(self) -> int:
        """The number of texts to send at once, as far as it is known."""
        most = self._embedder.batch
        return min(most, self._behaviour.of(self.model).batch or most)

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text.

        Raises:
            ModelError: A text is refused by itself, or the call failed in another way.
        """
        parts: list[tuple[Sequence[int], Embeddings]] = []
        for indices in self._batches(texts):
            parts += self._embed(texts, indices, kind)
        if len(parts) == 1:
            return parts[0][1]
        rows = {
            index: row
            for indices, part in parts
            for index, row in zip(indices, part.vectors, strict=True)
        }
        return Embeddings(
            np.stack([rows[index] for index in range(len(texts))]),
            sum(part.tokens for _, part in parts),
            sum(part.faults for _, part in parts),
            cached=all(part.cached for _, part in parts),
            cut={text: kept for _, part in parts for text, kept in part.cut.items()},
        )

    def _batches(self, texts: Sequence[str]) -> list[Sequence[int]]:
        """The indices of the texts of each call; texts that may be too long have their own."""
        limit = self._behaviour.of(self.model).longest_refused
        if limit is None or len(texts) == 1:
            return [range(len(texts))]
        lengths = tokens.count_all(texts)
        long = [index for index, length in enumerate(lengths) if length >= limit]
        short = [index for index, length in enumerate(lengths) if length < limit]
        return [batch for batch in (short, *([index] for index in long)) if batch]

    def _embed(
        self, texts: Sequence[str], indices: Sequence[int], kind: TextKind
    ) -> list[tuple[Sequence[int], Embeddings]]:
        """Embed the texts of some indices: what each call has brought, with its indices."""
        parts: list[tuple[Sequence[int], Embeddings]] = []
        start = 0
        while start < len(indices):
            batch = indices[start : start + self.batch]
            try:
                sent = [texts[index] for index in batch]
                parts.append((batch, self._embedder.embed(sent, kind)))
            except BatchRefused as refusal:
                if refusal.size is not None:
                    self._behaviour.limit_batch(self.model, min(refusal.size, len(batch) - 1))
                    continue
                parts += self._embed_halves(texts, batch, kind)
            start += len(batch)
        return parts

    def _embed_halves(
        self, texts: Sequence[str], batch: Sequence[int], kind: TextKind
    ) -> list[tuple[Sequence[int], Embeddings]]:
        """Embed a batch that was refused for an unknown reason: its number, or one of its texts."""
        half = (len(batch) + 1) // 2
        parts = self._embed(texts, batch[:half], kind)
        parts += self._embed(texts, batch[half:], kind)
        if not any(part.cut for _, part in parts):
            # Each of the texts is taken, so that there were too many.
            self._behaviour.limit_batch(self.model, max(len(indices) for indices, _ in parts))
        return parts


def warn_of_cut_texts(cut: Mapping[str, int], model: str, places: Mapping[str, str]) -> None:
    """Log one warning of the texts of which only the beginnings were embedded, if there are any.

    Args:
        cut: The texts, and how many tokens of each were embedded.
        model: The embedder's name.
        places: Where the texts are, by text.
    """
    if not cut:
        return
    texts = sorted(cut, key=lambda text: places.get(text, ""))
    named = [f"{places.get(text, 'a text')} ({excerpt(text)})" for text in texts[:MAX_PLACES]]
    more = f"; and {len(texts) - MAX_PLACES} more" if len(texts) > MAX_PLACES else ""
    LOG.warning(
        "%s takes no text as long as this, so that search by meaning knows only its beginning, of "
        "%d tokens: %s%s. Lower FABULA_CHUNK_TOKENS for shorter passages.",
        *(model, min(cut.values()), "; ".join(named), more),
    )
