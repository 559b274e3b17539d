"""Hits that say something new: near-duplicates do not crowd out the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.model import Hit, Vector


def diverse(
    hits: Sequence[Hit], vectors: Mapping[str, Vector], diversity: float, k: int
) -> list[Hit]:
    """`k` hits by maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR, section 2).

    One by one the hit that is most relevant, less `diversity` (0 to 1) times its highest cosine
    with a hit taken before; relevance is the score, scaled to 0..1. `vectors`: unit vectors by id.
    """
    if not hits:
        return []
    scores = np.array([hit.score for hit in hits])
    spread = float(np.ptp(scores)) or 1.0
    relevance = (scores - scores.min()) / spread
    rows = np.stack([vectors[hit.id] for hit in hits])
    likeness = np.full(len(hits), -np.inf)
    taken: list[int] = []
    while len(taken) < min(k, len(hits)):
        worth = (1 - diversity) * relevance - diversity * np.maximum(likeness, 0)
        worth[taken] = -np.inf
        best = int(np.argmax(worth))
        taken.append(best)
        likeness = np.maximum(likeness, rows @ rows[best])
    return [hits[one] for one in taken]
