"""Select hits that add something new, so that near-duplicates do not crowd out the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.graph.hits import Hit
from fabula.text.document import Vector
from fabula.text.ranking import maximal_marginal_relevance, scale


def select_diverse(
    hits: Sequence[Hit], vectors: Mapping[str, Vector], diversity: float, k: int
) -> list[Hit]:
    """Return `k` hits by maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR).

    Each time the hit is taken that is most relevant, less `diversity` times its highest cosine with
    a hit taken before. The relevance is the score, scaled to 0..1.

    Args:
        hits: The candidates.
        vectors: The unit vector of each candidate, shape (dimensions,), by its id.
        diversity: From 0, by relevance alone, to 1.
        k: How many are taken, if there are as many.
    """
    if not hits:
        return []
    relevance = scale(np.array([hit.score for hit in hits], np.float64))
    rows = np.stack([vectors[hit.id] for hit in hits])
    costs = [1] * len(hits)
    selected = maximal_marginal_relevance(relevance, rows, costs, k, 1 - diversity)
    return [hits[row] for row in selected]
