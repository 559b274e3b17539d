"""Vectors around topics, and what holds of any clusters of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.graphs.aspects.cluster import Cluster, ClusterOptions
from fabula.text.document import Vectors
from knobs import KNOBS


def topics(rows: int, topics: int, columns: int = 64, noise: float = 0.5, seed: int = 0) -> Vectors:
    """Vectors around `topics` directions, in turn."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((topics, columns))
    vectors = centres[np.arange(rows) % topics] + noise * random.standard_normal((rows, columns))
    return vectors.astype(np.float32)


def members(clusters: list[Cluster]) -> list[int]:
    return [row for cluster in clusters for row in cluster.members]


def assert_sound(clusters: list[Cluster], tokens: list[int], knobs: ClusterOptions = KNOBS) -> None:
    """What holds of any clustering of any vectors."""
    assert set(members(clusters)) == set(range(len(tokens)))
    assert clusters == sorted(clusters, key=lambda one: one.members)
    assert len({cluster.members for cluster in clusters}) == len(clusters)
    for one in clusters:
        assert list(one.members) == sorted(set(one.members))
        assert len(one.weights) == len(one.members)
        assert all(0 < weight <= 1 + 1e-9 for weight in one.weights)
        assert len(one.members) == 1 or sum(tokens[row] for row in one.members) <= knobs.tokens


AWKWARD: dict[str, np.ndarray[Any, Any]] = {
    "zeros": np.zeros((40, 16)),
    "not a number": np.full((40, 16), np.nan),
    "infinite": np.full((40, 16), np.inf),
    "huge": np.full((40, 16), 3e38) * np.eye(40, 16),
    "tiny": topics(40, 3) * 1e-30,
    "partly not a number": np.where(np.arange(40)[:, None] % 5, topics(40, 3), np.nan),
    "equal": np.ones((50, 16)),
    "two, many times": np.repeat(np.eye(2, 16), 30, axis=0),
    "one column": np.linspace(-1, 1, 40)[:, None],
    "on a line": np.outer(np.linspace(1, 2, 40), np.ones(16)) + np.eye(1, 16),
    "equal but ten": np.concatenate([np.ones((200, 16)), topics(10, 10, 16)]),
    "more rows than a block": topics(1300, 40, 24),
    "equal, more than a block": np.ones((1001, 8)),
    "wide": topics(30, 4, 700),
}
