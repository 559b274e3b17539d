"""All levels at once: chunks, summaries and details compete in one ranking by cosine."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.model import Filters, Hit
from fabula.providers import Embedder
from fabula.store import Store


@dataclass(frozen=True, slots=True)
class Collapsed:
    """The collapsed-tree retrieval of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), section 3."""

    store: Store
    embedder: Embedder
    k: int

    def retrieve(self, question: str, filters: Filters) -> list[Hit]:
        """The `k` passages of highest cosine with the question; one round trip."""
        [vector] = self.embedder.embed([question]).vectors
        return self.store.nearest(vector, self.k, filters, self.embedder.model)
