"""How the tests cluster where they do not say otherwise."""

from __future__ import annotations

from fabula.graphs.aspects.cluster import Clustering

KNOBS = Clustering(
    size=8,
    tokens=3500,
    count="size",
    reduction="pca",
    dimensions=32,
    membership=0.1,
    variance_floor=1.0,
    seed=0,
)
