"""What a report is written from, and what is read of a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from cases import for_each
from fabula.errors import BadReply
from fabula.graphs.communities.contexts import ContextRenderer, ReportContext
from fabula.graphs.communities.reports import read_report
from fabula.graphs.communities.values import (
    ChunkPlace,
    Claim,
    Community,
    CommunityReport,
    Member,
    MemberNetwork,
    MemberRelation,
    ReportFinding,
)
from fabula.text import tokens

LIMIT = 400


def network(
    bonds: Sequence[tuple[str, str]], told: Mapping[str, str] = {}, claims: Sequence[Claim] = ()
) -> MemberNetwork:
    """Members by their names, each pair's bond in a chunk of its own."""
    names = sorted({name for pair in bonds for name in pair})
    pairs = {f"{one}-{other}": (one, other) for one, other in bonds}
    return MemberNetwork(
        {
            name: Member(
                name,
                name.title(),
                "person",
                told.get(name, f"{name} is there."),
                {name: 1},
                tuple(id for id, pair in pairs.items() if name in pair),
                (name,),
            )
            for name in names
        },
        {
            id: MemberRelation(id, *pair, told.get(id, "They meet."), 1.0, (id,), (id,))
            for id, pair in pairs.items()
        },
        {id: ChunkPlace(order) for order, id in enumerate([*pairs, "claimed"])},
        tuple(claims),
    )


def group(members: str, level: int = 0, parent: str = "") -> Community:
    """One whose members have names of one letter."""
    return Community(members, level, parent, frozenset(members))


def lines(context: ReportContext) -> list[str]:
    return [line for line in context.text.splitlines() if line.startswith("[")]


def written(title: str, *cites: str) -> CommunityReport:
    return CommunityReport(
        title, "In short.", (ReportFinding("They meet.", "", (1,), cites, cites),), 5.0, "they are"
    )


def test_every_bond_and_claim_is_shown_by_degree_with_its_ends() -> None:
    claim = Claim(
        *("c1", "claimed", "b", "c", "promise", "false", "Monday", "", "a", "B will come."),
        quotes=("I come",),
        subjects=("b",),
        objects=("c",),
    )
    graph = network([("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")], claims=[claim])
    context = ContextRenderer(graph, 8000).render(group("abcd"))
    assert context.text.splitlines() == [
        "Entities:",
        "[1] A (person): a is there.",
        "[2] B (person): b is there.",
        "[3] C (person): c is there.",
        "[4] D (person): d is there.",
        "",
        "Claims:",
        "[5] a of b and c (promise, false, Monday): B will come.",
        "",
        "Relations:",
        "[6] A – B: They meet.",
        "[7] A – C: They meet.",
        "[8] A – D: They meet.",
        "[9] B – C: They meet.",
    ]
    assert [row.cites for row in context.rows[3:6]] == [("d",), ("c1",), ("a-b",)]


def test_of_a_hero_of_whom_much_is_claimed_as_much_is_shown_as_there_is_room_for() -> None:
    claims = [
        Claim(
            *(f"c{number}", "claimed", "b", "c", "promise", "false", "Monday", "", "a", "B comes."),
            quotes=("I come",),
            subjects=("b",),
            objects=("c",),
        )
        for number in range(300)
    ]
    graph = network([("a", "b"), ("b", "c")], claims=claims)
    context = ContextRenderer(graph, LIMIT).render(group("abc"))
    assert "] A – B: They meet." in context.text
    assert 5 < context.text.count("B comes.") < 300
    assert tokens.count(context.text) <= LIMIT + 20, "and three headings"


def test_what_is_told_of_others_does_not_change_what_a_report_is_written_from() -> None:
    told = [("a", "b"), ("b", "c"), ("x", "y")]
    one = ContextRenderer(network(told), 8000).render(group("abc"))
    other = ContextRenderer(network([*told, ("c", "x")]), 8000).render(group("abc"))
    changed = ContextRenderer(network(told, {"b-c": "They part."}), 8000).render(group("abc"))
    assert one.text == other.text != changed.text


def test_the_biggest_part_gives_way_to_its_report_first() -> None:
    """A parent of 12,000 tokens with two children: the bigger one is replaced, and then it fits."""
    big, small = "abcdefghijkl", "rstuvwxyz"
    graph = network(
        [(one, other) for some in (big, small) for one, other in pairwise(some)] + [("a", "r")],
        {one: " ".join([f"{one} word"] * 320) for one in big + small},
    )
    children = [group(small, 1, big + small), group(big, 1, big + small)]
    reports = {big: written("The big", "a-b"), small: written("The small", "r-s")}
    assert sum(tokens.count(value.text) for value in graph.members.values()) > 11_500
    whole = ContextRenderer(graph, 8000).render(group(big + small), children, reports)
    assert [line.partition("] ")[2][:9] for line in lines(whole)] == [
        "The big: ",
        *(f"{who} (person"[:9] for who in small.upper()),
        "A – R: Th",
        *(f"{one} – {other}: Th" for one, other in pairwise(small.upper())),
    ]
    assert whole.rows[0].cites == ("a-b",), "a report rests on what its findings rest on"
    assert tokens.count(whole.text) <= 8000
    all_of_it = ContextRenderer(graph, 20_000).render(group(big + small), children, reports)
    assert "Groups within" not in all_of_it.text
    both = ContextRenderer(graph, 1000).render(group(big + small), children, reports)
    assert [line.partition(":")[0] for line in lines(both)[:2]] == [
        "[1] The big",
        "[2] The small",
    ]
    assert tokens.count(both.text) <= 1000


def test_without_reports_it_is_cut_by_the_bonds_of_those_who_have_most() -> None:
    graph = network(
        [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")],
        {one: " ".join([f"{one} word"] * 90) for one in "abcde"},
    )
    context = ContextRenderer(graph, 1500 // 10).render(group("abcde"), [group("ab", 1)])
    assert tokens.count(context.text) <= 150
    assert [line.split(" (")[0].partition(": ")[0] for line in lines(context)] == [
        *("[1] A", "[2] C", "[3] B"),
        *("[4] A – C", "[5] B – C"),
    ]


def test_nobody_is_so_long_that_nothing_fits() -> None:
    graph = network([("a", "b")], {"a": "word " * 100_000, "b": "word " * 9_000})
    context = ContextRenderer(graph, 200).render(group("ab"))
    assert len(lines(context)) == 3
    assert tokens.count(context.text) <= 200


def test_a_finding_rests_on_what_is_told_of_both_and_not_on_all_of_a_hero() -> None:
    graph = network([("a", "b"), ("a", "c"), ("a", "d")])
    context = ContextRenderer(graph, 8000).render(group("abcd"))
    report = replace(
        written("All"),
        findings=(
            ReportFinding("One", "", (1, 5)),
            ReportFinding("Two", "", (1, 2)),
            ReportFinding("Three", "", (7, 6)),
        ),
    )
    one, two, three = context.resolve(report, graph).findings
    assert (one.cites, one.chunks) == (("a", "a-b"), ("a-b",))
    assert (two.cites, two.chunks) == (("a", "b"), ("a-b", "a-c", "a-d"))
    assert (three.cites, three.chunks) == (("a-d", "a-c"), ("a-c", "a-d"))


# Replies


def reply(**other: Any) -> str:
    told = {
        "title": "A group",
        "summary": "They meet.",
        "findings": [{"summary": "One", "explanation": "It is so.", "refs": [1, 3]}],
        "importance": 7,
        "why": "it turns on them",
    }
    return json.dumps({**told, **other})


def test_a_report_is_read() -> None:
    records = read_report(f"```json\n{reply()}\n```", 3, LIMIT)
    [report] = records.records
    assert report == CommunityReport(
        "A group",
        "They meet.",
        (ReportFinding("One", "It is so.", (1, 3)),),
        7.0,
        "it turns on them",
    )
    assert report.text == "They meet.\nOne It is so."
    assert not records.dropped


def test_a_finding_that_rests_on_nothing_is_left_out_and_counted() -> None:
    findings = [
        {"summary": "Good", "refs": ["[2]", 2, 99, 0, -1]},
        {"summary": "Bad", "refs": [4]},
        {"summary": "Worse", "refs": []},
        {"summary": " ", "refs": [1]},
        "none",
    ]
    records = read_report(reply(findings=findings), 3, LIMIT)
    [report] = records.records
    assert [finding.refs for finding in report.findings] == [(2,)]
    assert records.dropped == {"unknown": 4, "unfounded": 2, "malformed": 2}


@for_each(("given", "read"), [("7/10", 7.0), (1e300, 10.0), (10**400, 10.0), (-3, 0.0), (6.5, 6.5)])
def test_importance_is_from_0_to_10(given: Any, read: float) -> None:
    assert read_report(reply(importance=given), 3, LIMIT).records[0].importance == read


@for_each(
    "other",
    [
        {"title": " "},
        {"summary": None},
        {"findings": []},
        {"findings": [{"summary": "One", "refs": [9]}]},
        {"importance": "high"},
        {"importance": float("nan")},
        {"importance": True},
    ],
)
def test_what_is_no_report_is_refused(other: Any) -> None:
    with pytest.raises(BadReply):
        read_report(reply(**other), 3, LIMIT)


def test_a_report_is_bounded_whatever_is_written() -> None:
    finding = {"summary": "word " * 2_000, "explanation": "<b>" * 2_000, "refs": [1]}
    huge = reply(title="T" * 10_000, why="why " * 9_000, findings=[finding] * 5 + [{}] * 10_000)
    records = read_report(huge, 3, LIMIT)
    [report] = records.records
    assert report.tokens <= 2 * LIMIT
    assert tokens.count(report.title) + tokens.count(report.why) <= 100
    assert records.dropped["surplus"] >= 10_000 - 5
