"""The story of a document: which events are read of the graph, in which rows, and the files."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

from fabula.graph import Edge
from fabula_graphs.discourse.labels import IS, TERM
from fabula_graphs.discourse.mapping import nodes_and_edges
from fabula_graphs.discourse.values import Event, Link
from fabula_scholar.pictures.story.events import NOBODY, read_story, section_starts
from fabula_scholar.pictures.story.page import to_story_page
from fabula_scholar.pictures.story.svg import (
    LETTER_WIDTH,
    draw_story,
    link_shape,
    list_rows,
    select_captions,
)
from plotted import HOSTILE, story
from scripted import made_chunks


def test_events_are_in_the_order_told_each_in_the_rows_of_who_and_where() -> None:
    chunks = made_chunks("Anna came. ", "Then she left, with Boris. ", "It rained. ")
    events = [
        Event(chunks[1].id, 1, {"who": "Boris", "predicate": "waved"}),
        Event(chunks[1].id, 0, {"who": "she", "predicate": "left", "where": "the mill"}),
        Event(chunks[0].id, 0, {"who": "Anna", "predicate": "came", "when": "at noon"}),
        Event(chunks[2].id, 0, {"predicate": "rained"}),
    ]
    links = [Link(chunks[0].id, chunks[1].id, "Contingency.Cause.Result", "explicit", "so")]
    nodes, edges = nodes_and_edges("d", events, links, chunks, str.casefold, lambda sense: "arg1")
    she = next(node for node in nodes if node.label == TERM and node.properties["key"] == "she")
    lanes, told, ties = read_story(
        nodes, [*edges, Edge(IS, she.id, "anna")], chunks, {"anna": "Anna"}
    )
    assert [(lane.slot, lane.name, lane.events) for lane in lanes] == [
        ("who", "Anna", 2),
        ("who", "Boris", 1),
        ("who", NOBODY, 1),
        ("where", "the mill", 1),
    ]
    assert [event.slots["predicate"] for event in told] == ["came", "left", "waved", "rained"]
    assert [event.lanes for event in told] == [(0,), (0, 3), (1,), (2,)]
    assert [event.at for event in told] == sorted(event.at for event in told)
    assert [(tie.chunks, tie.kind, tie.cause) for tie in ties] == [((0, 1), "cause", 0)]


def test_those_of_few_events_share_a_row() -> None:
    chunks = made_chunks(*(f"This is {number}. " for number in range(40)))
    events = [
        Event(chunk.id, 0, {"who": f"P{place % 30:02}"}) for place, chunk in enumerate(chunks)
    ]
    nodes, edges = nodes_and_edges("d", events, [], chunks, str.casefold, str)
    lanes, drawn, _ = read_story(nodes, edges, chunks, {})
    assert [lane.name for lane in lanes][-1] == "others"
    assert (len(lanes), sum(lane.events for lane in lanes)) == (15, 40)
    assert all(len(event.lanes) == 1 for event in drawn)


def test_who_is_called_as_the_rows_of_others_are_has_a_row() -> None:
    chunks = made_chunks("Anna came. ", "Others came. ")
    who = ("Anna", "others")
    events = [Event(chunk.id, 0, {"who": name}) for chunk, name in zip(chunks, who, strict=True)]
    nodes, edges = nodes_and_edges("d", events, [], chunks, str.casefold, str)
    lanes, drawn, _ = read_story(nodes, edges, chunks, {})
    assert [(lane.name, lane.events) for lane in lanes] == [("Anna", 1), ("others", 1)]
    assert [event.lanes for event in drawn] == [(0,), (1,)]


def test_sections_begin_where_their_first_chunk_does() -> None:
    chunks = [
        replace(chunk, section=section)
        for chunk, section in zip(made_chunks("A. ", "B. ", "C. "), ("I", "I", "II"), strict=True)
    ]
    assert section_starts(chunks[::-1]) == (("I", 0), ("II", 2))


def test_a_cause_points_to_what_comes_of_it() -> None:
    causes = [link for link in story().links if link.kind == "cause"]
    assert {cause.cause == cause.chunks[0] for cause in causes} == {True, False}
    for one in causes:
        tip = re.findall(r"L(-?\d+) 0", link_shape(one))[0]
        assert (int(tip) > 0) == (one.cause == one.chunks[0])


def test_captions_cover_no_other() -> None:
    found = list(select_captions((float(x), "a caption") for x in range(0, 1200, 7)))
    assert len(found) > 5
    for (x, text), (after, _) in pairwise(found):
        assert x + len(text) * LETTER_WIDTH <= after


def test_a_picture_has_all_events_and_only_the_rows_that_there_are() -> None:
    picture = story(60, words=HOSTILE, question="Who?")
    svg = ElementTree.fromstring(draw_story(picture, alone=True))
    drawn = [
        group.get("class", "").split() for group in svg.iter() if group.get("id", "")[:1] == "e"
    ]
    assert len(drawn) == 60
    assert sum("found" in words for words in drawn) == 1
    assert [kind for kind, *_ in list_rows(picture)][-5:] == [
        "why",
        "cause",
        "time",
        "contrast",
        "more",
    ]
    bare = replace(picture, links=(), events=(), lanes=())
    assert list_rows(bare) == []
    ElementTree.fromstring(draw_story(bare, alone=True))
    assert "0 events" in to_story_page(bare)


def test_a_page_of_a_story_lets_nothing_out() -> None:
    html = to_story_page(story(60, words=HOSTILE, question=HOSTILE))
    assert html.count("</script>") == 2
    assert "<b>" not in html
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
