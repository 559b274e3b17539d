"""Soft clusters: every passage in at least one, none too long, and the same ones every time."""

from __future__ import annotations

import importlib.util
import logging
import threading
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from cases import for_each
from fabula.errors import SettingsError
from fabula.graphs.aspects.cluster import Cluster, ClusterOptions, cluster
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


# The search over counts takes seconds for more rows, and divides blocks in no other way.
SEARCHED = [name for name, vectors in AWKWARD.items() if len(vectors) <= 1000]


@for_each(("name", "count"), [(n, "size") for n in AWKWARD] + [(n, "bic") for n in SEARCHED])
def test_any_vectors_give_each_row_a_cluster_within_the_cap(
    name: str, count: Literal["size", "bic"]
) -> None:
    vectors = AWKWARD[name].astype(np.float32)
    tokens = [190] * len(vectors)
    knobs = replace(KNOBS, count=count)
    clusters = cluster(vectors, tokens, knobs)
    assert_sound(clusters, tokens, knobs)
    assert cluster(vectors, tokens, knobs) == clusters


@for_each("seed", range(8))
def test_random_vectors_of_random_lengths_give_sound_clusters(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 300))
    vectors = random.standard_normal((rows, int(random.integers(1, 80)))).astype(np.float32)
    tokens = random.integers(0, 900, rows).tolist()
    knobs = replace(
        KNOBS,
        size=int(random.integers(2, 12)),
        tokens=int(random.integers(800, 4000)),
        membership=float(random.uniform(0.02, 0.4)),
        variance_floor=float(random.uniform(0.0001, 2)),
        seed=seed,
    )
    clusters = cluster(vectors, tokens, knobs)
    assert_sound(clusters, tokens, knobs)
    assert cluster(vectors, tokens, knobs) == clusters


def test_no_rows_give_no_clusters() -> None:
    assert cluster(np.empty((0, 256), np.float32), [], KNOBS) == []


@for_each("rows", [1, 2, 11])
def test_a_few_passages_that_fit_are_one_cluster(rows: int) -> None:
    assert cluster(topics(rows, 3), [200] * rows, KNOBS) == [
        Cluster(tuple(range(rows)), (1.0,) * rows)
    ]


def test_twelve_passages_are_divided_even_when_they_fit() -> None:
    assert len(cluster(topics(12, 2), [10] * 12, KNOBS)) == 2


def test_two_passages_that_do_not_fit_together_are_two_clusters() -> None:
    found = cluster(topics(2, 2), [2000, 2000], KNOBS)
    assert [one.members for one in found] == [(0,), (1,)]


def test_a_passage_over_the_cap_stands_alone() -> None:
    found = cluster(topics(20, 2), [5000] + [100] * 19, KNOBS)
    assert (0,) in [one.members for one in found]
    assert all(0 not in one.members for one in found if len(one.members) > 1)


def test_passages_of_one_topic_come_together() -> None:
    found = cluster(topics(32, 4, noise=0.05), [100] * 32, KNOBS)
    assert [one.members for one in found] == [tuple(range(topic, 32, 4)) for topic in range(4)]


def test_a_passage_between_two_topics_is_in_both() -> None:
    vectors = topics(32, 4, noise=0.3)
    vectors[0] = vectors[1::4].mean(axis=0) + vectors[2::4].mean(axis=0)
    found = cluster(vectors, [100] * 32, KNOBS)
    both = [one for one in found if 0 in one.members]
    assert len(both) == 2
    weights = [one.weights[one.members.index(0)] for one in both]
    assert min(weights) > KNOBS.membership
    assert sum(weights) == pytest.approx(1, abs=0.1)


def test_further_memberships_are_above_the_threshold() -> None:
    vectors = topics(100, 12, columns=16, noise=1.2)
    for threshold in (0.05, 0.2):
        found = cluster(vectors, [30] * 100, replace(KNOBS, membership=threshold))
        weights: dict[int, list[float]] = {}
        for one in found:
            for row, weight in zip(one.members, one.weights, strict=True):
                weights.setdefault(row, []).append(weight)
        further = [w for each in weights.values() for w in sorted(each)[:-1]]
        assert further
        assert min(further) > threshold


def test_a_lower_threshold_makes_clusters_softer() -> None:
    vectors = topics(100, 12, columns=16, noise=1.2)
    strict, loose = (
        len(members(cluster(vectors, [30] * 100, replace(KNOBS, membership=threshold))))
        for threshold in (0.5, 0.02)
    )
    assert strict == 100 < loose


def test_asking_for_smaller_clusters_gives_more_of_them() -> None:
    vectors = topics(120, 30)
    few, many = (len(cluster(vectors, [20] * 120, replace(KNOBS, size=size))) for size in (20, 4))
    assert few < many


def test_equal_vectors_are_cut_in_text_order_into_near_equal_runs() -> None:
    found = cluster(np.ones((50, 8), np.float32), [100] * 50, KNOBS)
    assert [one.members for one in found] == [tuple(range(25)), tuple(range(25, 50))]


def test_bic_finds_the_topics_that_are_there() -> None:
    vectors = topics(60, 3, noise=0.05)
    found = cluster(vectors, [50] * 60, replace(KNOBS, count="bic"))
    assert [one.members for one in found] == [tuple(range(topic, 60, 3)) for topic in range(3)]


def test_the_length_of_vectors_does_not_matter() -> None:
    vectors = topics(60, 6)
    lengths = np.random.default_rng(1).uniform(0.1, 9, (60, 1)).astype(np.float32)
    once = cluster(vectors, [100] * 60, KNOBS)
    again = cluster(vectors * lengths, [100] * 60, KNOBS)
    assert [one.members for one in once] == [one.members for one in again]


def test_threads_that_cluster_side_by_side_find_the_same() -> None:
    levels = [topics(150, 20, seed=seed) for seed in range(4)]
    alone = [cluster(level, [100] * 150, KNOBS) for level in levels]
    together: dict[int, list[Cluster]] = {}

    def run(at: int) -> None:
        together[at] = cluster(levels[at], [100] * 150, KNOBS)

    threads = [threading.Thread(target=run, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[at] for at in range(4)] == alone


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="3 vectors but 2 token counts"):
        cluster(topics(3, 1), [1, 2], KNOBS)


def test_clustering_prints_and_logs_nothing(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        cluster(topics(100, 10), [100] * 100, KNOBS)
    assert caplog.records == []
    assert capsys.readouterr() == ("", "")


# Clusters in two passes, of full covariance

RAPTOR = ClusterOptions(
    size=8,
    tokens=3500,
    count="bic",
    reduction="pca",
    dimensions=10,
    membership=0.1,
    variance_floor=1.0,
    seed=0,
    passes="two",
    mixture="full",
)


@for_each("name", [name for name, rows in AWKWARD.items() if len(rows) <= 50])
def test_two_passes_give_each_row_a_cluster_within_the_cap(name: str) -> None:
    vectors = AWKWARD[name].astype("float32")
    tokens = [190] * len(vectors)
    clusters = cluster(vectors, tokens, RAPTOR)
    assert_sound(clusters, tokens, RAPTOR)
    assert cluster(vectors, tokens, RAPTOR) == clusters


def test_two_passes_find_topics_within_topics() -> None:
    # Three far topics, each of two near ones of six rows.
    far = topics(36, 3, noise=0.02)
    near = topics(36, 6, noise=0.02, seed=1)
    clusters = cluster(far + 0.4 * near, [190] * 36, replace(RAPTOR, dimensions=3))
    topic_of = [row % 6 for row in range(36)]
    for each in clusters:
        assert len({topic_of[row] % 3 for row in each.members}) == 1, "one far topic"
    assert sum(len({topic_of[row] for row in each.members}) == 1 for each in clusters) >= 6


def test_a_passage_may_be_in_several_clusters_without_a_limit_of_room() -> None:
    between = topics(40, 2, columns=6, noise=0.9)
    clusters: list[Cluster] = cluster(between, [60] * 40, replace(RAPTOR, dimensions=3))
    assert_sound(clusters, [60] * 40, RAPTOR)
    for each in clusters:
        assert all(weight > 0.1 or len(each.members) == 1 for weight in each.weights)


def test_many_rows_need_no_square_matrix() -> None:
    options = replace(KNOBS, passes="two")
    rows = topics(1200, 40, 24)
    clusters = cluster(rows, [190] * 1200, options)
    assert_sound(clusters, [190] * 1200, options)


# UMAP is compiled for 20 seconds in each process that uses it.
@pytest.mark.slow
def test_umap_is_an_extra() -> None:
    knobs = replace(KNOBS, reduction="umap", dimensions=5)
    rows = topics(60, 6)
    if importlib.util.find_spec("umap") is None:
        with pytest.raises(SettingsError, match=r"pip install 'fabula\[umap\]'"):
            cluster(rows, [100] * 60, knobs)
    else:
        found = cluster(rows, [100] * 60, knobs)
        assert {row for one in found for row in one.members} == set(range(60))
        assert cluster(rows, [100] * 60, knobs) == found
