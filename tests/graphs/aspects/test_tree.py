"""Trees and aspects: the pure parts of growing them, with clusters and words made up here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from building import at_once
from fabula.graph.builds import Build, settle
from fabula.graphs.aspects.cluster import Cluster
from fabula.graphs.aspects.detection import assign_clusters
from fabula.graphs.aspects.tree import (
    NodeGroup,
    TreeNode,
    embeddings,
    group_nodes,
    grow_trees,
    make_summary,
)
from fabula.graphs.aspects.values import Aspect, Summary
from fabula.text.document import Chunk, Vectors

Clusterer = Callable[[Vectors, Sequence[int]], list[Cluster]]

PLOT, THEME, STYLE = (Aspect(name, name, name) for name in ("plot", "theme", "style"))


def chunk(number: int, section: str = "I") -> Chunk:
    place = (number * 10, number * 10 + 10)
    return Chunk(f"c{number}", number, section, *place, f"text {number}", 5, np.ones(2, np.float32))


def singles(count: int) -> list[NodeGroup]:
    return [NodeGroup((chunk(number),), (1.0,)) for number in range(count)]


def write(aspect: Aspect, level: int, groups: Sequence[NodeGroup]) -> list[Summary]:
    made = (make_summary("d", aspect.name, level, each, f"level {level}", 3) for each in groups)
    return [replace(summary, embedding=np.ones(2, np.float32)) for summary in made]


def in_pairs(vectors: Vectors, tokens: Sequence[int]) -> list[Cluster]:
    rows = range(len(tokens))
    return [Cluster(tuple(rows[n : n + 2]), (1.0,) * len(rows[n : n + 2])) for n in rows[::2]]


def levels(tree: list[Summary]) -> list[int]:
    return [node.level for node in tree]


def grown(
    groups: list[NodeGroup],
    most: int,
    cluster: Clusterer = in_pairs,
    more: Mapping[Aspect, Sequence[NodeGroup]] = MappingProxyType({}),
    asked: list[int] | None = None,
) -> list[Summary]:
    """The trees of PLOT and of more aspects; the levels that were written are added to `asked`."""

    def written(level: int, by: Mapping[Aspect, Sequence[NodeGroup]]) -> Build[list[Summary]]:
        if asked is not None:
            asked.append(level)
        return settle([made for aspect in by for made in write(aspect, level, by[aspect])])

    def divided(aspect: Aspect, level: int, nodes: Sequence[TreeNode]) -> list[NodeGroup]:
        return group_nodes(nodes, cluster(embeddings(nodes), [node.tokens for node in nodes]))

    return at_once(grow_trees({PLOT: groups, **more}, most, written, divided))


def test_a_tree_grows_until_one_node_is_left() -> None:
    assert levels(grown(singles(8), 5)) == [1] * 8 + [2] * 4 + [3] * 2 + [4]


def test_a_tree_has_no_more_levels_than_it_may() -> None:
    assert levels(grown(singles(8), 2)) == [1] * 8 + [2] * 4


def test_one_cluster_makes_a_tree_of_one_summary() -> None:
    assert levels(grown(singles(1), 5)) == [1]


def test_a_tree_stops_when_clusters_merge_nothing() -> None:
    def apart(vectors: Vectors, tokens: Sequence[int]) -> list[Cluster]:
        return [Cluster((row,), (1.0,)) for row in range(len(tokens))]

    assert levels(grown(singles(4), 5, apart)) == [1] * 4


def test_a_summary_alone_in_its_cluster_waits_a_level_instead_of_being_said_again() -> None:
    tree = grown(singles(3), 5)
    assert levels(tree) == [1, 1, 1, 2, 3]
    assert {member.id for member in tree[-1].members} == {tree[2].id, tree[3].id}


def test_all_trees_grow_level_by_level() -> None:
    counts: list[int] = []
    trees = grown(singles(2), 5, more={THEME: singles(8)}, asked=counts)
    assert levels(trees) == [1, 1, 2] + [1] * 8 + [2] * 4 + [3] * 2 + [4]
    assert counts == [1, 2, 3, 4]


def test_clusters_with_the_same_members_become_one_group() -> None:
    nodes = [chunk(0), chunk(1)]
    groups = group_nodes(nodes, [Cluster((0, 1), (0.9, 0.8)), Cluster((0, 1), (0.1, 0.2))])
    assert [group.weights for group in groups] == [(0.9, 0.8)]


def test_a_summary_spans_the_text_and_the_sections_of_its_members() -> None:
    group = NodeGroup((chunk(1, "I"), chunk(4, "II")), (1.0, 0.5))
    made = make_summary("d", "plot", 1, group, "words", 1)
    assert (made.start, made.end, made.section) == (10, 50, "I – II")
    above = make_summary("d", "plot", 2, NodeGroup((made, chunk(7, "III")), (1.0, 1.0)), "words", 1)
    assert (above.start, above.end, above.section) == (10, 80, "I – III")


def assigned(
    aspects: Sequence[Aspect],
    rounds: int,
    detect: Callable[[Sequence[Aspect], int], Sequence[Collection[str]]],
    nearest: int,
) -> list[tuple[Aspect, list[int], bool]]:
    """The aspects with their clusters, in the order in which these were certain."""

    def ask(missing: Sequence[Aspect], number: int) -> Build[Sequence[Collection[str]]]:
        return settle(detect(missing, number))

    return at_once(assign_clusters(aspects, rounds, ask, lambda aspect: settle(nearest)))


def test_every_aspect_gets_the_clusters_that_hold_it() -> None:
    found = [frozenset({"plot"}), frozenset({"plot", "theme"})]
    made = assigned([PLOT, THEME], 2, lambda aspects, number: found, 0)
    assert made == [(PLOT, [0, 1], False), (THEME, [1], False)]


def test_detection_is_repeated_for_missing_aspects_alone() -> None:
    texts: list[list[str]] = []

    def detect(aspects: Sequence[Aspect], number: int) -> list[frozenset[str]]:
        texts.append([aspect.name for aspect in aspects])
        names: set[str] = {1: {"plot"}, 2: {"theme"}}.get(len(texts), set())
        return [frozenset(names), frozenset()]

    made = assigned([PLOT, THEME, STYLE], 2, detect, 1)
    assert texts == [["plot", "theme", "style"], ["theme", "style"], ["style"]]
    assert made == [(PLOT, [0], False), (THEME, [0], False), (STYLE, [1], True)]


def test_without_further_rounds_a_missing_aspect_is_assigned_at_once() -> None:
    made = assigned([PLOT], 0, lambda aspects, number: [frozenset()], 0)
    assert made == [(PLOT, [0], True)]
