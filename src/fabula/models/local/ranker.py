"""Ranking of passages by a cross-encoder on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.errors import BadReply
from fabula.models.local.loading import PROVIDER, load_ranker

PAIRS_AT_ONCE = 16
"""Passages in one run of the network, each with the question; all are padded to the longest."""


@dataclass(frozen=True, slots=True)
class LocalRanker:
    """A reranking model: it reads the question together with each passage.

    Attributes:
        name: A name that fastembed knows, or that of a folder within `folder`.
        folder: The folder of all models.
    """

    name: str
    folder: Path

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text; higher is better.

        Raises:
            SettingsError: fastembed is not installed, or there is no such model.
            ModelError: The model can't be downloaded or loaded.
        """
        if not texts:
            return []
        model = load_ranker(self.name, self.folder)
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in (question, *texts)]
        scores = model.rerank(readable[0], readable[1:], batch_size=PAIRS_AT_ONCE)
        ranked = [float(score) for score in scores]
        if len(ranked) != len(texts):
            raise BadReply(f"{PROVIDER}:{self.name} did not rank all of the {len(texts)} passages.")
        return ranked
