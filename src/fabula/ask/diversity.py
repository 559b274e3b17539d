"""Hits that say something new: near-duplicates do not crowd out the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.graph.hits import Hit
from fabula.text.document import Vector
from fabula.text.ranking import maximal_marginal_relevance, scaled


def diverse(
    hits: Sequence[Hit], vectors: Mapping[str, Vector], diversity: float, k: int
) -> list[Hit]:
    """`k` hits by maximal marginal relevance with those before.

    One by one the hit that is most relevant, less `diversity` (0 to 1) times its highest cosine
    with a hit taken before; relevance is the score, scaled to 0..1. `vectors`: unit vectors by id.
    """
    if not hits:
        return []
    relevance = scaled(np.array([hit.score for hit in hits], np.float64))
    rows = np.stack([vectors[hit.id] for hit in hits])
    one_each = [1] * len(hits)
    picked = maximal_marginal_relevance(relevance, rows, one_each, k, 1 - diversity)
    return [hits[one] for one in picked]
