"""An edited text: what did not change is found again, and only what did is made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cases import for_each
from fabula.graphs.aspects.cluster import cluster
from fabula.graphs.aspects.previous import PreviousAspects
from fabula.graphs.aspects.repair import repair
from fabula.graphs.aspects.tree import NodeGroup, TreeNode, embeddings, group_nodes, make_members
from fabula.graphs.aspects.values import MissingReply, StoredAspects
from fabula.text import tokens
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document, Vector
from knobs import KNOBS as USUAL
from trees import small_earlier

KNOBS = replace(USUAL, tokens=1000)
SENTENCES = [
    f"On day {day} {name} carried {day * 7 + 3} sacks of {thing} from the {place} to the river."
    for day, (name, thing, place) in enumerate(
        [("Anna", "salt", "mill"), ("Boris", "rye", "barn"), ("Clara", "coal", "mine")] * 40
    )
]
TEXT = " ".join(SENTENCES)


def document(text: str) -> Document:
    return Document("d", "default", "a.txt", "A", "", "en", text, (), "0" * 64)


def texts(text: str, known: Sequence[Chunk] = ()) -> list[str]:
    return [chunk.text for chunk in split(document(text), 64, [chunk.text for chunk in known])]


# Chunks


def test_a_changed_word_changes_one_chunk() -> None:
    chunks = split(document(TEXT), 64)
    edited = TEXT.replace("On day 50 ", "On day fifty ")
    new = set(texts(edited, chunks)) - {chunk.text for chunk in chunks}
    assert len(new) == 1


@for_each("place", [0, 10, 60, 119])
def test_a_new_sentence_moves_no_boundary_but_its_own(place: int) -> None:
    chunks = split(document(TEXT), 64)
    edited = " ".join([*SENTENCES[:place], "Nobody had asked for a parrot.", *SENTENCES[place:]])
    now = texts(edited, chunks)
    assert "".join(now) == edited
    assert len({chunk.text for chunk in chunks} - set(now)) <= 1
    assert len(set(now) - {chunk.text for chunk in chunks}) <= 2


def test_a_removed_sentence_takes_one_chunk_along() -> None:
    chunks = split(document(TEXT), 64)
    now = texts(" ".join([*SENTENCES[:30], *SENTENCES[31:]]), chunks)
    assert len({chunk.text for chunk in chunks} - set(now)) <= 2


def test_known_chunks_over_the_limit_are_cut_again() -> None:
    chunks = split(document(TEXT), 128)
    assert max(tokens.count(text) for text in texts(TEXT, chunks)) <= 64


def test_text_that_repeats_itself_is_found_again() -> None:
    text = "Snow fell on the town and on the hills. " * 400
    chunks = split(document(text), 64)
    assert [chunk.id for chunk in split(document(text), 64, [c.text for c in chunks])] == [
        chunk.id for chunk in chunks
    ]


# Clusters


def near(centre: int, seed: int) -> Vector:
    """A unit vector near one of the axes."""
    drawn = np.random.default_rng(seed).standard_normal(16) * 0.1
    drawn[centre] += 1
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def chunk(number: int, centre: int, name: str = "c") -> Chunk:
    place = (number * 10, number * 10 + 10)
    return Chunk(f"{name}{number}", number, "", *place, "text", 50, near(centre, number))


def divide(nodes: Sequence[TreeNode]) -> list[NodeGroup]:
    return group_nodes(nodes, cluster(embeddings(nodes), [node.tokens for node in nodes], KNOBS))


def members(groups: Sequence[NodeGroup]) -> list[set[str]]:
    return [{node.id for node in group.nodes} for group in groups]


@pytest.fixture
def nodes() -> list[Chunk]:
    return [chunk(number, number // 8) for number in range(32)]


PREVIOUS = [{f"c{n}": 1.0 for n in range(first, first + 8)} for first in (0, 8, 16, 24)]


def repaired(
    nodes: Sequence[Chunk], previous: Sequence[dict[str, float]] = PREVIOUS
) -> list[set[str]]:
    before = {f"c{number}" for number in range(32)}
    return members(repair(previous, before, nodes, KNOBS, divide))


def test_what_did_not_change_keeps_its_clusters(nodes: list[Chunk]) -> None:
    assert repaired(nodes) == [previous.keys() for previous in PREVIOUS]


def test_a_changed_chunk_joins_the_cluster_that_it_fits(nodes: list[Chunk]) -> None:
    nodes[3] = chunk(3, 2, "new")
    first, third, second, fourth = repaired(nodes)
    assert first == PREVIOUS[0].keys() - {"c3"}
    assert third == PREVIOUS[2].keys() | {"new3"}
    assert [second, fourth] == [PREVIOUS[1].keys(), PREVIOUS[3].keys()]


def test_a_chunk_joins_one_cluster_alone(nodes: list[Chunk]) -> None:
    both = near(0, 1) + near(1, 2)
    nodes[3] = replace(chunk(3, 0, "new"), embedding=both / np.float32(np.linalg.norm(both)))
    assert sum("new3" in one for one in repaired(nodes)) == 1


def test_an_emptied_cluster_goes(nodes: list[Chunk]) -> None:
    assert repaired(nodes[8:]) == [previous.keys() for previous in PREVIOUS[1:]]


def test_a_cluster_that_is_too_long_is_divided_alone(nodes: list[Chunk]) -> None:
    more = [replace(chunk(32 + n, 3, "new"), tokens=100) for n in range(10)]
    groups = repaired([*nodes, *more])
    assert groups[:3] == [previous.keys() for previous in PREVIOUS[:3]]
    assert len(groups) > 4
    assert set().union(*groups) == {node.id for node in [*nodes, *more]}


def test_without_former_clusters_they_are_made(nodes: list[Chunk]) -> None:
    assert repaired(nodes, []) == members(divide(nodes))


# What can be used again


def test_clusters_are_made_again_once_a_tenth_has_changed() -> None:
    graph = replace(small_earlier(chunks=40), changed=1)

    def changed(count: int) -> int:
        new = [replace(chunk, id=f"new {chunk.id}") for chunk in graph.chunks[:count]]
        return PreviousAspects(graph, [*new, *graph.chunks[count:]]).changed

    assert [changed(count) for count in (0, 1, 3, 4)] == [1, 2, 4, 0]


def grown(graph: StoredAspects, count: int) -> list[Chunk]:
    """The chunks of a text and of as many that come after it."""
    end = graph.chunks[-1].end
    return [
        *graph.chunks,
        *(
            replace(chunk, id=f"new {chunk.id}", start=end + chunk.start, end=end + chunk.end)
            for chunk in graph.chunks[:count]
        ),
    ]


@pytest.mark.parametrize("count", [KNOBS.size // 2, 30])
def test_later_text_has_clusters_of_its_own_and_those_before_stay(count: int) -> None:
    graph = small_earlier(chunks=40)
    before = members(
        PreviousAspects(graph, graph.chunks).groups("", 1, graph.chunks, KNOBS, refuse)
    )
    chunks = grown(graph, count)
    previous = PreviousAspects(graph, chunks)
    assert previous.changed == graph.changed
    now = members(previous.groups("", 1, chunks, KNOBS, divide))
    assert now[: len(before)] == before
    assert set().union(*now[len(before) :]) == {chunk.id for chunk in chunks[40:]}


def test_a_little_later_text_joins_a_cluster_and_few_new_summaries_wait() -> None:
    graph = small_earlier(chunks=40)
    chunks = grown(graph, 3)
    previous = PreviousAspects(graph, chunks)
    now = members(previous.groups("", 1, chunks, KNOBS, divide))
    assert set().union(*now) == {chunk.id for chunk in chunks}
    [*known] = [
        summary for summary in graph.summaries if (summary.aspect, summary.level) == ("plot", 1)
    ]
    late = replace(known[-1], id="late", start=chunks[-1].start, end=chunks[-1].end)
    waiting = members(previous.groups("plot", 2, [*known, late], KNOBS, refuse))
    assert waiting == members(previous.groups("plot", 2, known, KNOBS, refuse))


def test_a_detail_moves_with_its_chunk() -> None:
    graph = small_earlier()
    previous = PreviousAspects(graph, graph.chunks)
    moved = replace(graph.chunks[1], start=500, end=510, section="II")
    assert previous.has_details(moved)
    for detail in previous.details(moved):
        assert (detail.chunk, detail.start, detail.section) == (moved.id, 500, "II")
    assert len(previous.details(moved)) == 2


def test_a_cluster_with_the_same_members_holds_the_same_aspects() -> None:
    graph = small_earlier()
    previous = PreviousAspects(graph, graph.chunks)
    assert previous.aspects(NodeGroup(graph.chunks[:3], (1.0,) * 3)) == {"plot", "theme"}
    assert previous.aspects(NodeGroup(graph.chunks[:2], (1.0,) * 2)) is None


# What was missing


def test_details_that_were_missing_are_asked_for_again() -> None:
    graph = small_earlier()
    [*kept, bare] = graph.chunks
    lost = MissingReply("details", "why", make_members(NodeGroup((bare,), (1.0,))), level=0)
    details = tuple(detail for detail in graph.details if detail.chunk != bare.id)
    previous = PreviousAspects(replace(graph, details=details, missing=(lost,)), graph.chunks)
    assert all(previous.has_details(chunk) for chunk in kept)
    assert not previous.has_details(bare)


@for_each("level", [1, 2])
def test_a_cluster_without_its_summary_stays_one(level: int) -> None:
    graph = small_earlier()
    [lost, *_] = [one for one in graph.summaries if (one.aspect, one.level) == ("plot", level)]
    # Of the cluster's two aspects the other goes, too: nothing else tells of it.
    rest = tuple(summary for summary in graph.summaries if summary.members != lost.members)
    gap = MissingReply("summaries", "why", lost.members, "plot", level)
    previous = PreviousAspects(replace(graph, summaries=rest, missing=(gap,)), graph.chunks)
    below: Sequence[TreeNode] = graph.chunks
    if level > 1:
        below = [one for one in graph.summaries if (one.aspect, one.level) == ("plot", 1)]
    groups = previous.groups("plot" if level > 1 else "", level, below, KNOBS, refuse)
    assert {member.id for member in lost.members} in members(groups)
    if level == 1:
        again = next(group for group in groups if make_members(group) == lost.members)
        assert previous.aspects(again) == {"plot"}


def test_a_cluster_without_its_aspects_stays_one_and_is_asked_for_them() -> None:
    graph = small_earlier()
    [lost, *_] = [summary for summary in graph.summaries if summary.level == 1]
    rest = tuple(summary for summary in graph.summaries if summary.members != lost.members)
    gap = MissingReply("aspects", "why", lost.members)
    previous = PreviousAspects(replace(graph, summaries=rest, missing=(gap,)), graph.chunks)
    groups = previous.groups("", 1, graph.chunks, KNOBS, refuse)
    [again] = [group for group in groups if make_members(group) == lost.members]
    assert previous.aspects(again) is None


def refuse(nodes: Sequence[TreeNode]) -> list[NodeGroup]:
    raise AssertionError("clusters are made again")
