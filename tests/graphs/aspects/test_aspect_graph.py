"""The aspect graph as the core sees it: a text in, nodes and edges out, and back again."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest
from pydantic import ValidationError

from cases import for_each
from fabula.errors import ModelError, SettingsError
from fabula.graph.installed import GROUP, graph
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects import GRAPH
from fabula.graphs.aspects.labels import MODEL, RULES
from fabula.graphs.aspects.mapping import make_edges, make_nodes, read_stored
from fabula.models import Prompt
from fabula.models.placeholders import PlaceholderChat
from fabula.models.usage import Usage
from fabula_scholar.pictures.trees.svg import name_passage
from small_models import SmallModels, as_known, build
from small_models import read as read_story
from stories import WINTER
from trees import small_earlier

NOTHING = Known()


@pytest.fixture(scope="module")
def text() -> BuildText:
    return read_story(WINTER, NOTHING)


def test_the_core_knows_it_by_its_entry_point_alone() -> None:
    [entry] = [point for point in entry_points(group=GROUP) if point.name == "aspects"]
    assert entry.load() is GRAPH is graph("aspects")


# The border


def test_what_becomes_nodes_and_edges_comes_back_as_it_was() -> None:
    graph = small_earlier()
    known = Known(
        graph.chunks,
        tuple(reversed(make_nodes(graph.chunks, graph.summaries, graph.details))),
        make_edges(graph.summaries, graph.details),
        {"assigned": ["theme"], "changed": 3},
    )
    again = read_stored(known)
    assert set(again.summaries) == set(graph.summaries)
    assert sorted(again.details, key=lambda detail: detail.id) == sorted(
        graph.details, key=lambda detail: detail.id
    )
    assert (again.assigned, again.changed) == (("theme",), 3)


def test_what_someone_took_the_edges_of_is_read_nevertheless() -> None:
    graph = small_earlier()
    nodes = make_nodes(graph.chunks, graph.summaries, graph.details)
    again = read_stored(Known(graph.chunks, nodes))
    assert {one.id: one.members for one in again.summaries} == {
        summary.id: () for summary in graph.summaries
    }
    assert not again.details, "a detail is of a chunk"


def test_a_summary_rests_on_all_chunks_below_it_in_text_order() -> None:
    graph = small_earlier(chunks=6)
    nodes = {node.id: node for node in make_nodes(graph.chunks, graph.summaries, graph.details)}
    low, _, top = graph.summaries[:3]
    assert nodes[low.id].sources == tuple(chunk.id for chunk in graph.chunks[:4])
    assert nodes[top.id].sources == tuple(chunk.id for chunk in graph.chunks)
    assert nodes[top.id].properties["name"] == "plot 2: plot at level 2"
    assert nodes[graph.details[0].id].sources == (graph.chunks[0].id,)


def test_an_extract_says_that_it_is_one() -> None:
    graph = small_earlier()
    top = graph.summaries[2]
    names = {RULES: "plot 2, extract: plot at level 2", MODEL: "plot 2: plot at level 2"}
    for by, name in names.items():
        made = make_nodes(graph.chunks, graph.summaries, graph.details, by)
        nodes = {node.id: node for node in made}
        assert nodes[top.id].properties["name"] == name
        assert {node.properties["by"] for node in made} == {by}
        edges = make_edges(graph.summaries, graph.details)
        again = read_stored(Known(graph.chunks, made, edges))
        read: list[Any] = [*again.summaries, *again.details]
        assert {each.by for each in read} == {by}
        mark = ", extract" if by == RULES else ""
        shown = set(map(name_passage, read))
        assert f"plot, level 2{mark}" in shown
        assert f"detail{mark}" in shown


# Building


def test_a_story_becomes_trees_and_details_offline(text: BuildText) -> None:
    built = build(text, SmallModels())
    chunks = {chunk.id for chunk in text.chunks}
    labels = {node.id: node.label for node in built.nodes}
    assert set(labels.values()) == set(GRAPH.passages)
    assert {edge.type for edge in built.edges} == set(GRAPH.edges)
    for node in built.nodes:
        assert node.embedding is not None and len(node.embedding) == 256
        assert set(node.sources) <= chunks and node.sources
        assert node.properties["text"].strip()
    for edge in built.edges:
        ends = (labels[edge.start], labels.get(edge.end, "Chunk"))
        assert ends in {("Summary", "Chunk"), ("Summary", "Summary"), ("Detail", "Chunk")}
    aspects = {node.properties["aspect"] for node in built.nodes} - {""}
    assert aspects == set(built.facts["aspects"])
    assert len(aspects) == 7
    assert built.facts["details"] == 2
    assert 0 < built.facts["mean_detail"] <= 60
    assert 0 < built.facts["mean_summary"] <= 200
    assert built.facts["mean_aspects"] >= 1


def test_the_same_text_becomes_the_same_graph(text: BuildText) -> None:
    assert build(text, SmallModels()) == build(text, SmallModels())


def test_what_is_known_of_an_unchanged_text_is_used_again_whole(text: BuildText) -> None:
    built, models = build(text, SmallModels()), SmallModels()
    again = build(text, models, as_known(text, built))
    assert {node.id: node for node in again.nodes} == {node.id: node for node in built.nodes}
    ties, same = ({(edge.start, edge.end): edge for edge in made.edges} for made in (built, again))
    assert ties == same
    usage = models.meter.usage()
    assert {step for step, one in usage.items() if one.saved} == {"aspects", "summaries", "details"}


def test_an_edit_changes_what_it_touches_alone(text: BuildText) -> None:
    built = build(text, SmallModels(), cluster_size=4)
    known = as_known(text, built)
    edited = read_story(WINTER.replace("on day 7 of", "on day seven of", 1), known)
    again = build(edited, SmallModels(), known, cluster_size=4)
    assert again.facts["changed"] == 1
    before, now = {node.id for node in built.nodes}, {node.id for node in again.nodes}
    assert 0 < len(before - now) < len(before) / 4


def test_without_levels_and_details_there_is_nothing_to_build(text: BuildText) -> None:
    built = build(text, SmallModels(), levels=0, details=0)
    assert (built.nodes, built.edges) == ((), ())
    assert built.facts == {"assigned": [], "changed": 0, "aspects": [], "details": 0}


# Settings


@for_each("given", [{"levels": -1}, {"membership": 1}, {"cluster_count": "aic"}, {"level": 3}])
def test_knobs_out_of_range_or_unknown_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GRAPH.options(**given)


def test_the_result_depends_on_what_the_aspects_say_and_offline_on_no_chat() -> None:
    knobs = GRAPH.options(set="general")
    online, offline = GRAPH.settings(knobs, False), GRAPH.settings(knobs, True)
    [described] = online["set"].values()
    assert len(described) == 2
    chat_only = {"details_form", "details_per_call", "aspects_with_summaries"}
    assert set(online) - set(offline) == chat_only | {"words"}
    # Others choose aspects.
    choosing = {"only_aspects", "without_aspects"}
    assert set(online) == set(GRAPH.options.model_fields) - choosing | {"words"}


def test_an_aspect_set_that_is_none_is_refused(text: BuildText) -> None:
    with pytest.raises(SettingsError, match="narative"):
        build(text, SmallModels(), set="narative")


# What a dry run counts


def spent(text: BuildText, means: dict[str, float] | None = None, **knobs: Any) -> dict[str, Usage]:
    models = SmallModels(offline=False)
    build(text, models, Known(means=means or {}), cluster_size=4, **knobs)
    return models.meter.usage()


def test_a_dry_run_expects_as_many_aspects_as_there_were(text: BuildText) -> None:
    apart = {"aspects_with_summaries": False}
    few, many = (
        spent(text, {"mean_aspects": mean}, **apart)["summaries"].calls for mean in (1.0, 3.0)
    )
    assert 2 * few < many <= 3.5 * few
    few, many = (
        spent(text, {"mean_aspects": mean})["summaries"].completion_tokens for mean in (1.0, 3.0)
    )
    assert 2 * few < many <= 4 * few


def test_a_dry_run_expects_summaries_and_details_as_long_as_they_were(text: BuildText) -> None:
    short, long = (
        spent(text, {"mean_summary": 40.0 * times, "mean_detail": 8.0 * times}) for times in (1, 2)
    )
    for step in ("summaries", "details"):
        assert long[step].completion_tokens > 1.4 * short[step].completion_tokens


@pytest.mark.parametrize("knobs", [{}, {"aspects_with_summaries": False}, {"details_per_call": 1}])
def test_no_stand_in_is_refused_by_who_reads_it(text: BuildText, knobs: dict[str, Any]) -> None:
    usage = spent(text, **knobs)
    assert sum(value.faults for value in usage.values()) == 0
    calls = usage["details"].calls
    assert calls == (len(text.chunks) if "details_per_call" in knobs else -(-len(text.chunks) // 4))


def test_a_prompt_without_a_stand_in_can_not_be_expected() -> None:
    with pytest.raises(ModelError, match="without --dry-run"):
        PlaceholderChat().complete(Prompt("", "Who?", 10, 0.0))
