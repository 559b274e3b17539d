"""Reports asked, by hand: which take part, what is made of their points, how far DRIFT follows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from cases import for_each
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Tools
from fabula.graph.trace import Trace as Steps
from fabula.graphs.communities.modes import drift, dynamic, global_
from fabula.graphs.communities.modes.options import DriftOptions, DynamicOptions, GlobalOptions
from fabula.graphs.communities.points import (
    Point,
    ask_points,
    count_fitting,
    format_report,
    format_reports,
    make_batches,
    rank_points,
    read_points,
    read_score,
    reduce,
    renumber,
    take_batches,
)
from fabula.graphs.communities.report_search import (
    StoredFinding,
    StoredReport,
    make_reports,
    reports_at_level,
)
from fabula.models import NO_ANSWER, Embeddings, Reply, TextKind
from fabula.models.parallel import Workers
from fabula.text import tokens
from fabula.text.document import Vector
from scripted import Models, Says

FILTERS = Filters("default")
TREE = {
    # community: level, above, whether it has a report
    "all": (0, "", True),
    "alone": (0, "", True),
    "left": (1, "all", True),
    "right": (1, "all", False),
    "right a": (2, "right", True),
    "right b": (2, "right", True),
    "deep": (3, "right b", True),
}


def row(community: str, level: int = 0, parent: str = "", **other: Any) -> dict[str, Any]:
    """A row of find_reports, as Neo4j gives it."""
    reply = {
        "community": community,
        "chunks": 1,
        "parent": parent or None,
        "id": community,
        "document": "d",
        "title": "D",
        "language": "en",
        "section": "I",
        "level": level,
        "start": 0,
        "end": 9,
        "heading": community.title(),
        "summary": f"{community} is told of.",
        "text": f"{community} is told of. It is far.",
        "findings": json.dumps(
            [{"summary": f"{community} is far.", "explanation": "", "chunks": [f"c-{community}"]}]
        ),
        "importance": 5.0,
        "sources": [f"c-{community}"],
    }
    return reply | other


def report(id: str, level: int = 0, parent: str = "", **other: Any) -> StoredReport:
    [made] = make_reports([row(id, level, **other)])
    return StoredReport(made.hit, parent, *[getattr(made, name) for name in _REST])


_REST = ("chunks", "importance", "title", "summary", "findings")


def tree() -> tuple[StoredReport, ...]:
    rows = [
        row(name, level, above, id=name if there else None)
        for name, (level, above, there) in TREE.items()
    ]
    return make_reports(rows)


def chunk(id: str, number: int) -> Passage:
    hit = Hit(id, "chunk", "d", "D", "en", "I", "", 0, 0, 9, f"Text of {id}.", 4, 1.0)
    return Passage(number, hit, hit.text, ((0, len(hit.text)),))


class Words:
    """An embedder of bags of words: texts of the same words are the same."""

    model, batch = "words", 4

    def __init__(self) -> None:
        self.sent: list[str] = []

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        assert len(texts) <= self.batch
        self.sent += texts
        return Embeddings(np.stack([self.vector(text) for text in texts]))

    def vector(self, text: str) -> Vector:
        row = np.zeros(64, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            row[sum(map(ord, word)) % 64] += 1
        return row / np.float32(np.linalg.norm(row) or 1)


@contextmanager
def tools_of(says: Says, knobs: Any) -> Iterator[Tools]:
    """What a mode is given; nothing that these tests ask reaches a graph."""
    workers = Workers(8)
    models: Any = Models(says)
    models.embedder = Words()
    nothing: Any = None
    try:
        yield Tools(
            nothing, models.embedder, models, nothing, Steps(), 5, 1000, knobs, None, workers
        )
    finally:
        workers.close()


def notes(tools: Tools) -> dict[str, str]:
    return {step.name: step.note for step in tools.trace.root.steps}


def part(prompt: str, name: str) -> str:
    return prompt.partition(f"<{name}>")[2].partition(f"</{name}>")[0]


# Which take part


@for_each(
    ("level", "read"),
    [
        (0, "all alone"),
        (1, "all alone left"),
        (2, "alone left right a right b"),
        (3, "alone deep left right a"),
        (99, "alone deep left right a"),
    ],
)
def test_a_level_has_the_leaves_above_it_and_a_parent_only_for_whom_no_child_tells_of(
    level: int, read: str
) -> None:
    """At level 1 those of the right are told of by the report on all alone."""
    assert " ".join(sorted(report.id for report in reports_at_level(tree(), level))) == read


def test_a_report_is_under_the_nearest_one_above_it() -> None:
    above = {report.id: report.parent for report in tree()}
    assert above["right a"] == "all", "the community between them has no report"
    assert above["deep"] == "right b"


def test_where_no_child_has_a_report_the_one_above_them_is_read() -> None:
    rows = [row("all"), row("left", 1, "all", id=None), row("right", 1, "all", id=None)]
    assert [report.id for report in reports_at_level(make_reports(rows), 2)] == ["all"]


def test_who_is_in_a_community_without_a_report_is_read_of_at_every_level() -> None:
    rows = [
        row("all"),
        row("left", 1, "all"),
        row("right", 1, "all", id=None),
        row("left a", 2, "left"),
        row("left b", 2, "left"),
    ]
    read = {
        level: " ".join(report.id for report in reports_at_level(make_reports(rows), level))
        for level in (0, 1, 2, 9)
    }
    assert read == {0: "all", 1: "all left", 2: "all left a left b", 9: "all left a left b"}


def test_a_ring_of_communities_ends() -> None:
    rows = [row("a", 0, "b", id=None), row("b", 1, "a", id=None), row("c", 2, "b")]
    [one] = make_reports(rows)
    assert one.parent == ""


def test_a_report_is_shown_under_its_title() -> None:
    assert report("a").hit.text == "A: a is told of. It is far."


def test_a_report_without_findings_is_one_itself() -> None:
    one = report("a", findings="[]", sources=["c1", "c2"])
    assert one.findings == (StoredFinding("a is told of. It is far.", ("c1", "c2")),)


# Batches


def many(count: int, **other: Any) -> list[StoredReport]:
    return [report(f"r{number:02}", **other) for number in range(count)]


def test_batches_are_the_same_whatever_the_order_they_come_in_and_within_their_limit() -> None:
    reports = many(30)
    each = tokens.count(format_report(reports[0], 1))
    batches = make_batches(reports, 7 * each + 3)
    assert batches == make_batches(reports[::-1], 7 * each + 3)
    assert all(len(some) <= 7 for some in batches)
    assert len(batches) == 5
    ids = [one.id for some in batches for one in some]
    assert sorted(ids) == [report.id for report in reports]
    assert ids != sorted(ids), "neighbours are not read together"


def test_a_batch_begins_with_what_most_chunks_mention_then_with_the_most_important() -> None:
    reports = [
        report("a", chunks=2, importance=1),
        report("b", chunks=9, importance=1),
        report("c", chunks=2, importance=9),
        report("d", chunks=2, importance=9),
    ]
    [batch] = make_batches(reports, 10_000)
    assert [one.id for one in batch] == ["b", "c", "d", "a"]


def test_a_report_longer_than_a_batch_is_one_alone() -> None:
    assert [len(some) for some in make_batches(many(3), 1)] == [1, 1, 1]


def test_findings_are_numbered_through_all_reports_of_a_batch() -> None:
    listed, cites = format_reports([report("a"), report("b")])
    assert "[1] a is far." in listed
    assert "[2] b is far." in listed
    assert cites == {1: ("c-a",), 2: ("c-b",)}


def test_a_number_that_a_report_prints_is_no_citation() -> None:
    text = format_report(report("a", summary="He reads [7] and [8]."), 1)
    assert "He reads (7) and (8)." in text


# Points

CITES = {1: ("c1",), 2: ("c2", "c3")}


def points_reply(*points: Any) -> str:
    return json.dumps({"points": list(points)})


def point(text: Any, score: Any, *refs: Any) -> dict[str, Any]:
    return {"description": text, "score": score, "refs": list(refs)}


def test_points_of_score_0_or_without_one_are_dropped() -> None:
    reply = points_reply(
        point("none", 0, 1),
        point("some", 40, 1),
        {"description": "no score", "refs": [1]},
        point("words", "high", 1),
        point("figures", "70", 2),
    )
    assert [(one.text, one.score) for one in read_points(reply, CITES)] == [
        ("some [1]", 40),
        ("figures [2]", 70),
    ]


def test_a_point_rests_on_the_findings_that_there_are() -> None:
    [one] = read_points(points_reply(point("this [9]", 40, 2, 9, "1", True, 2)), CITES)
    assert one.text == "this (9) [2][1]"
    assert one.cites == {2: ("c2", "c3"), 1: ("c1",)}


def test_points_that_help_and_rest_on_nothing_are_asked_for_again() -> None:
    with pytest.raises(BadReply, match="refs"):
        read_points(points_reply(point("this", 40, 9)), CITES)
    assert read_points(points_reply(point("this", 40, 9), point("that", 1, 1)), CITES)[0].score == 1


@for_each("reply", [points_reply(), points_reply(point("no", 0))])
def test_no_points_are_a_good_reply(reply: str) -> None:
    assert read_points(reply, CITES) == []


@for_each(
    ("given", "score"),
    [
        *((5, 5), (101, 100), (-3, 0), ("12", 12), (4.6, 5), (float("inf"), 100)),
        *((None, None), (True, None), ("high", None), ([], None), (float("nan"), None), ("", None)),
    ],
)
def test_a_score_is_a_number_from_0_to_100(given: Any, score: int | None) -> None:
    assert read_score(given, 100) == score


def test_hostile_points_are_bounded() -> None:
    much = point("<b>word</b> " * 50_000, 10**400, *range(10**5))
    [first, *rest] = read_points(points_reply(much, *[point("x", 1, 1)] * 500), CITES)
    assert first.score == 100
    assert tokens.count(first.text) < 400
    assert len(rest) == 99
    for odd in ("[]", '{"points": [null, 3, "x", []]}', '{"points": []}'):
        assert read_points(odd, CITES) == []
    with pytest.raises(BadReply):
        read_points("DROP DATABASE", CITES)


def test_equal_points_come_as_their_batches_and_in_these_as_they_come() -> None:
    def named(text: str, score: int) -> Point:
        return Point(text, score, {})

    first = [named("a", 50), named("b", 90), named("c", 50)]
    second = [named("d", 90), named("e", 60), named("f", 50)]
    assert [point.text for point in rank_points([first, second])] == list("bdeacf")


def test_as_many_points_as_fit_and_at_least_one() -> None:
    texts = ["word " * 10] * 4
    each = tokens.count(texts[0])
    assert count_fitting(texts, 3 * each) == 3
    assert count_fitting(texts, 1) == 1
    assert count_fitting([], 1) == 0


def test_a_citation_becomes_those_of_its_chunks_and_one_of_nothing_goes() -> None:
    told = renumber(Point("This [1, 2], that [2][7].", 5, CITES), {"c1": 4, "c2": 9})
    assert told == "This [4][9], that [9]."


# Global


def mapped(says: Mapping[str, Any]) -> Says:
    """Says of a batch what is scripted for the first title it has, and of points themselves."""

    def say(user: str) -> str:
        if "<points>" in user:
            return part(user, "points").strip()
        for title, reply in says.items():
            if f"Report: {title}\n" in user:
                found = reply(user) if callable(reply) else reply
                return found if isinstance(found, str) else json.dumps({"points": found})
        return points_reply()

    return Says(say)


def numbered(user: str, text: str) -> int:
    """The number of a finding that a prompt shows."""
    [number] = re.findall(rf"\[(\d+)\] {text}", user)
    return int(number)


def asked_of(text: str, score: int) -> Callable[[str], list[dict[str, Any]]]:
    return lambda user: [point(f"said of {text}", score, numbered(user, f"{text} is far"))]


def put_together(
    says: Says, reports: Sequence[StoredReport], context: Sequence[Passage], **knobs: Any
) -> tuple[list[Reply | Passage], dict[str, str]]:
    with tools_of(says, GlobalOptions(**knobs)) as tools:
        pieces = list(global_.answer_from_reports("What?", reports, context, FILTERS, tools))
        return pieces, notes(tools)


def test_an_answer_takes_a_call_a_batch_and_one_more() -> None:
    reports = many(4)
    says = mapped({f"R{n:02}": asked_of(f"r{n:02}", 10 * n + 10) for n in range(4)})
    context = [chunk(f"c-r{n:02}", n + 1) for n in range(4)]
    [answer], told = put_together(says, reports, context, batch_tokens=1)
    assert len(says.prompts) == 4 + 1
    assert isinstance(answer, Reply)
    assert answer.text.splitlines() == [
        "(score 40) said of r03 [4]",
        "(score 30) said of r02 [3]",
        "(score 20) said of r01 [2]",
        "(score 10) said of r00 [1]",
    ]
    assert told["map"] == "4 reports in 4 batches: 4 points"


def test_where_nothing_helps_no_call_is_made_to_say_so() -> None:
    says = mapped({"R00": [point("nothing", 0, 1)]})
    pieces, _ = put_together(says, many(3), [chunk("c", 1)], batch_tokens=1)
    assert pieces == [Reply(NO_ANSWER)]
    assert len(says.prompts) == 3


def test_a_batch_that_fails_is_named_and_the_others_are_read() -> None:
    reports = many(2)
    says = mapped({"R00": "I am not sure.", "R01": asked_of("r01", 50)})
    context = [chunk("c-r01", 1)]
    [answer], told = put_together(says, reports, context, batch_tokens=1)
    assert isinstance(answer, Reply)
    assert answer.text == "(score 50) said of r01 [1]"
    assert re.fullmatch(
        r"2 reports in 2 batches: 1 points; batch [12] failed: No usable .*", told["map"]
    )


def test_where_all_batches_fail_that_is_no_answer() -> None:
    with pytest.raises(BadReply, match="No batch of reports"):
        put_together(mapped({"R00": "no", "R01": "no"}), many(2), [chunk("c", 1)], batch_tokens=1)


def test_a_point_leads_to_the_chunks_of_its_findings() -> None:
    chunks = ["c1", "c2"]
    findings = json.dumps([{"summary": "a is far.", "explanation": "Off.", "chunks": chunks}])
    says = mapped({"A": asked_of("a", 50)})
    context = [chunk("c2", 1), chunk("other", 2), chunk("c1", 3)]
    [answer], _ = put_together(says, [report("a", findings=findings)], context)
    assert isinstance(answer, Reply)
    assert answer.text == "(score 50) said of a [3][1]"


def test_reduce_reads_the_best_points_first() -> None:
    says = Says(lambda user: part(user, "points").strip())
    points = [Point(f"{text} [1]", score, {1: ("c1",)}) for text, score in (("a", 9), ("b", 5))]
    knobs = GlobalOptions(point_tokens=100, words=20)
    with tools_of(says, knobs) as tools:
        [said] = reduce("What?", points, [chunk("c1", 1)], FILTERS, tools)
    assert said == Reply("(score 9) a [1]\n(score 5) b [1]")
    assert "at most about 20 words" in says.prompts[0].user


def test_what_reduce_reads_is_within_its_limit_with_the_numbers_of_all_chunks() -> None:
    says = Says(lambda user: part(user, "points").strip())
    ids = [f"c{number}" for number in range(60)]
    points = [
        Point(f"Number {number} is far. [1]", 9, {1: tuple(ids[number : number + 5])})
        for number in range(50)
    ]
    context = [chunk(id, number) for number, id in enumerate(ids, 1)]
    with tools_of(says, GlobalOptions(point_tokens=500)) as tools:
        [said] = reduce("What?", points, context, FILTERS, tools)
    assert isinstance(said, Reply)
    assert 450 < tokens.count(said.text) <= 500
    assert said.text.endswith("]"), "points are whole"
    assert notes(tools)["reduce"] == f"{len(said.text.splitlines())} of 50 points"


def test_calls_of_the_map_are_the_same_every_time() -> None:
    def asked() -> list[str]:
        says = mapped({})
        with tools_of(says, GlobalOptions(batch_tokens=1)) as tools:
            ask_points("What?", many(9), tools)
        return sorted(prompt.user for prompt in says.prompts)

    assert asked() == asked()


def test_the_calls_of_a_map_are_limited_and_the_first_reports_are_read() -> None:
    """5,000 reports once made 139 calls for one question."""
    says = mapped({})
    with tools_of(says, GlobalOptions(batch_tokens=1, calls=3)) as tools:
        _, note = ask_points("What?", many(9), tools)
    assert note.startswith("3 of 9 reports in 3 batches: ")
    read = sorted(
        name for prompt in says.prompts for name in re.findall(r"Report: (\w+)", prompt.user)
    )
    assert read == ["R00", "R01", "R02"]


@for_each(("calls", "expected"), [(1, 1), (4, 4), (9, 9), (50, 20)])
def test_batches_are_as_many_as_calls_at_most(calls: int, expected: int) -> None:
    ranked = many(40)
    length = tokens.count(format_report(ranked[0], 1))
    batches = take_batches(ranked, 2 * length + 1, calls)
    assert len(batches) == expected
    read = {report.id for batch in batches for report in batch}
    assert read == {report.id for report in ranked[: len(read)]}


# Dynamic selection

ABOVE = ["all", "alone", "left", "right a", "right b"]


def rate_by(
    ratings: Mapping[str, int], asked: list[str]
) -> Callable[[Sequence[StoredReport]], list[int]]:
    def rate(some: Sequence[StoredReport]) -> list[int]:
        asked.extend(one.id for one in some)
        return [ratings.get(one.id, 0) for one in some]

    return rate


@for_each(
    ("ratings", "kept", "rated"),
    [
        # What helps takes the place of what is above it, and has what is below it rated.
        ({"all": 1, "right b": 3, "deep": 5}, ["deep"], [*ABOVE, "deep"]),
        ({"all": 2}, ["all"], ABOVE),
        ({"all": 5, "alone": 1, "left": 1}, ["alone", "left"], ABOVE),
        # Nothing helps: all of the next level are rated, down to the deepest.
        ({"right a": 4, "left": 0}, ["right a"], ABOVE),
        ({}, [], ABOVE),
        ({"deep": 5}, [], ABOVE),
    ],
)
def test_reports_are_rated_from_the_top_down(
    ratings: dict[str, int], kept: list[str], rated: list[str]
) -> None:
    asked: list[str] = []
    found = dynamic.select_reports(tree(), rate_by(ratings, asked), 2)
    assert sorted(one.id for one in found) == kept
    assert sorted(asked) == sorted(rated)


def test_no_more_reports_are_rated_than_may_be() -> None:
    everything = dict.fromkeys((*ABOVE, "deep"), 5)
    for most in range(1, 7):
        asked: list[str] = []
        dynamic.select_reports(tree(), rate_by(everything, asked), 2, most)
        assert len(asked) == min(most, len(everything))


def test_a_branch_without_a_report_keeps_the_one_above_it_that_tells_of_it() -> None:
    rows = [row("all"), row("left", 1, "all"), row("right", 1, "all", id=None)]
    rows += [row("left a", 2, "left"), row("left b", 2, "left")]
    ratings = {"all": 3, "left": 2, "left a": 2}
    found = dynamic.select_reports(make_reports(rows), rate_by(ratings, []), 2)
    # Of whom "right" is, "all" alone tells; "left" is divided into "left a" and "left b".
    assert sorted(one.id for one in found) == ["all", "left a"]
    unhelpful = dynamic.select_reports(make_reports(rows), rate_by({**ratings, "all": 0}, []), 2)
    assert [one.id for one in unhelpful] == ["left a"], "what does not help is never kept"


@for_each(
    ("reply", "rating"),
    [('{"rating": 0}', 0), ('{"rating": 4}', 4), ('{"rating": "3"}', 3), ('{"rating": 9}', 5)]
    + [(reply, 1) for reply in ('{"rating": "high"}', "no idea", "{}", '{"score": 4}')],
)
def test_a_rating_that_can_not_be_read_counts_as_1(reply: str, rating: int) -> None:
    says = Says(lambda user: reply)
    with tools_of(says, DynamicOptions()) as tools:
        assert dynamic.ask_rating("What?", report("a"), tools) == rating
    assert len(says.prompts) == 1


# DRIFT


def step_reply(text: str, score: int, *follow_ups: str) -> str:
    return json.dumps({"response": text, "score": score, "follow_up_queries": follow_ups})


def opened(texts: Mapping[str, float]) -> list[drift.FollowUp]:
    return [drift.FollowUp(text, Words().vector(text), rank) for text, rank in texts.items()]


def test_follow_ups_come_by_rank_equal_ones_by_their_texts() -> None:
    found = opened({"who came": 0.4, "where then": 0.8, "what else": 0.4, "which boat": 0.1})
    chosen, rest = drift.choose(found, [], 3)
    assert [one.text for one in chosen] == ["where then", "what else", "who came"]
    assert [one.text for one in rest] == ["which boat"]


def test_a_follow_up_in_the_same_words_is_dropped_for_good() -> None:
    rates = opened({"who gave the lamp to Boris": 1.0})
    found = opened({"Who gave Boris the lamp to": 0.9, "who sank": 0.5, "sank who": 0.4})
    chosen, rest = drift.choose(found, rates, 3)
    assert [one.text for one in chosen] == ["who sank"]
    assert rest == []


def follow(says: Says, **knobs: Any) -> tuple[list[str], list[drift.StepResult], list[str]]:
    """The questions that are looked up, what is found, and the path's notes."""
    looked_up: list[str] = []

    def look_up(text: str) -> list[Passage]:
        looked_up.append(text)
        return [chunk(f"c{len(looked_up)}", 1)]

    with tools_of(says, DriftOptions(**knobs)) as tools:
        primed = drift.read_folds("What of it?", many(20), tools)
        found = drift.follow_up(
            "What of it?", Words().vector("What of it?"), primed, look_up, tools
        )
        notes = [step.note for step in tools.trace.root.steps if step.name == "round"]
    return looked_up, found, notes


def by_prompt(user: str) -> str:
    """Opens ten questions for each fold and two for each answer, told by the prompt alone."""
    mark = sum(map(ord, part(user, "reports") or part(user, "question"))) % 9973
    count = 10 if "<reports>" in user else 2
    return step_reply(
        "found [1]", mark % 100 + 1, *(f"q{mark * 31 + n * n} w{n}{mark}" for n in range(count))
    )


@for_each(("calls", "rounds"), [(20, 3), (7, 3), (1, 3), (0, 3), (20, 1)])
def test_drift_stops_exactly_at_its_budget(calls: int, rounds: int) -> None:
    says = Says(by_prompt)
    looked_up, found, told = follow(says, calls=calls, rounds=rounds)
    assert len(says.prompts) == 5 + calls
    assert len(looked_up) == len(found) == calls
    assert len(told) == min(rounds, calls)


def test_drift_takes_the_same_steps_every_time() -> None:
    assert follow(Says(by_prompt)) == follow(Says(by_prompt))


def test_the_budget_is_shared_over_the_rounds() -> None:
    *_, told = follow(Says(by_prompt), calls=20, rounds=3)
    assert [len(note.split(",")) for note in told] == [7, 7, 6]


def test_drift_ends_where_a_round_reads_nothing_new() -> None:
    says = Says(by_prompt)
    with tools_of(says, DriftOptions(calls=20, rounds=5)) as tools:
        primed = drift.read_folds("What of it?", many(20), tools)
        vector = Words().vector("What of it?")
        found = drift.follow_up("What?", vector, primed, lambda text: [chunk("c", 1)], tools)
    assert len(found) == 8, "two rounds of four"


def test_an_answer_that_can_not_be_read_costs_one_call_and_is_told_of() -> None:
    said = iter(range(100))

    def say(user: str) -> str:
        if "<reports>" in user:
            return by_prompt(user)
        return "I am not sure." if next(said) == 0 else by_prompt(user)

    says = Says(say)
    _, found, told = follow(says, calls=6, rounds=2)
    assert len(says.prompts) == 5 + 6
    assert len(found) == 5
    assert sum("failed" in note for note in told) == 1


def test_where_no_fold_can_be_read_the_question_itself_is_looked_up() -> None:
    def say(user: str) -> str:
        return "no" if "<reports>" in user else step_reply("found [1]", 5)

    looked_up, [found], _ = follow(Says(say))
    assert looked_up == ["What of it?"]
    assert found.point.score == 5


def test_folds_share_the_reports_in_their_order() -> None:
    says = Says(by_prompt)
    with tools_of(says, DriftOptions(folds=3)) as tools:
        drift.read_folds("What?", many(7), tools)
    read = sorted(" ".join(re.findall(r"Report: (\w+)", prompt.user)) for prompt in says.prompts)
    assert read == ["R00 R01 R02", "R03 R04 R05", "R06"]


def test_what_does_not_help_is_no_part_of_the_answer() -> None:
    said = [("a", 0), ("", 50), ("c", 20)]
    found = [drift.StepResult(Point(text, score, {}), ()) for text, score in said]
    assert [point.text for point in drift.helpful_points(found)] == ["c"]


def test_a_follow_up_is_shown_chunks_to_cite_and_reports_to_understand_them() -> None:
    hit = Hit("r", "report", "d", "D", "en", "I", "", 0, 0, 9, "A: she [4] left.", 5, 1.0)
    passages = [Passage(1, hit, hit.text, ((0, 5),)), chunk("c1", 2), chunk("c2", 3)]
    listed, cites = drift.format_passages(passages)
    assert listed == "A: she (4) left.\n\n[1] Text of c1.\n\n[2] Text of c2."
    assert cites == {1: ("c1",), 2: ("c2",)}


def test_hostile_steps_are_bounded() -> None:
    reply = step_reply("word " * 50_000, 10**30, *["why " * 1000, "", *map(str, range(10**4))])
    found = drift.read_step(reply.replace("word ", "[1] word ", 1), {1: ("c1",)})
    assert found.point.score == 100
    assert 1990 < tokens.count(found.point.text) <= 2000
    assert len(found.follow_ups) == 10
    for odd in ("[]", "{}", '{"response": [], "score": 3}', '{"response": "x"}', "no"):
        with pytest.raises(BadReply):
            drift.read_step(odd, {})


def test_a_response_that_no_passage_proves_is_no_part_of_an_answer() -> None:
    cites = {1: ("c1",), 2: ("c2",)}
    proven = drift.read_step(step_reply("Anna left [2].", 60, "Where to?"), cites)
    assert (proven.point.text, proven.follow_ups) == ("Anna left [2].", ("Where to?",))
    for text in ("Anna left.", "Anna left [7].", "Anna left (2)."):
        step = drift.read_step(step_reply(text, 60, "Where to?"), cites)
        assert (step.point.text, step.follow_ups) == ("", ("Where to?",))
        assert drift.helpful_points([step]) == []
        with pytest.raises(BadReply, match="Cite the numbers"):
            drift.read_step(step_reply(text, 60), cites)
