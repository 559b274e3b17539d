"""Measures on gold annotations, on findings whose figures can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fabula.graph.findings import (
    Findings,
    FoundEntity,
    FoundEvent,
    FoundQuotation,
    GivenName,
    JoinedNames,
    SharedScenes,
)
from fabula_bench.gold import novels, plays
from fabula_bench.gold.litbank import LitBankText, read_litbank
from fabula_bench.gold.novels import pair_given_names, score_findings, score_pairs
from fabula_bench.gold.poldracor import Play, read_poldracor
from fabula_bench.gold.scores import TextScores, align_clusters, rank_correlation, summarise
from gold_data import write_litbank, write_play


@pytest.fixture
def text(tmp_path: Path) -> LitBankText:
    write_litbank(tmp_path)
    [text] = read_litbank(tmp_path)
    return text


@pytest.fixture
def play(tmp_path: Path) -> Play:
    write_play(tmp_path)
    [play] = read_poldracor(tmp_path)
    return play


def entity(text: str, id: str, type: str, *names: str) -> FoundEntity:
    """An entity at the first place of each name."""
    return FoundEntity(id, names[0], type, {name: (text.index(name),) for name in names})


def means(scores: TextScores) -> dict[str, float]:
    return {name: sum(items) / len(items) for name, items in scores.items.items() if items}


def test_given_names_are_judged_pair_by_pair(text: LitBankText) -> None:
    """Anna has three printed names, so three pairs; Tom has two, so one."""
    given: list[GivenName] = []

    def join(names: Sequence[GivenName], language: str) -> list[JoinedNames]:
        given.extend(names)
        numbers = {name.name: number for number, name in enumerate(names)}
        pairs = (("Miss Anna Bell", "Anna Bell", "title"), ("Tom", "Anna", "first"))
        return [
            JoinedNames(
                min(numbers[first], numbers[second]), max(numbers[first], numbers[second]), rule
            )
            for first, second, rule in pairs
        ]

    pairs = pair_given_names(text, join)
    assert all(text.text[name.places[0] :].startswith(name.name) for name in given)
    verdicts = {frozenset(pair.names): (pair.verdict, pair.rule) for pair in pairs}
    assert verdicts == {
        frozenset(("Miss Anna Bell", "Anna Bell")): ("right", "title"),
        frozenset(("Tom", "Anna")): ("wrong", "first"),
        frozenset(("Miss Anna Bell", "Anna")): ("missed", ""),
        frozenset(("Anna", "Anna Bell")): ("missed", ""),
        frozenset(("Tom", "Tom Gray")): ("missed", ""),
    }
    scores = TextScores("t")
    score_pairs(scores, "pairs", pairs)
    assert means(scores) == {
        "pairs, precision": 1 / 2,
        "pairs, recall": 1 / 4,
        "pairs, F1": 2 / 6,
    }


def test_found_persons_places_and_names_are_compared_by_place(text: LitBankText) -> None:
    source = text.text
    anna = FoundEntity(
        "a", "Anna Bell", "person",
        {"Anna Bell": (source.index("Anna Bell"), source.rindex("Anna Bell"))},
    )  # fmt: skip
    tom = entity(source, "t", "person", "Tom Gray")
    nobody = entity(source, "n", "person", "Good")
    london = entity(source, "l", "place", "London")
    scores = TextScores("t")
    score_findings(scores, text, Findings((anna, tom, nobody, london)), source)
    figures = means(scores)
    # Anna: two of three names, so 2 x 2 / (2 + 3); Tom: one of two, so 2 x 1 / (1 + 2).
    assert figures["persons, precision"] == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert figures["persons, recall"] == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert figures["persons, found by any name"] == 1.0
    assert (figures["places, precision"], figures["places, recall"]) == (1.0, 1.0)
    # Of four pairs of names, "Miss Anna Bell" and "Anna Bell" have one entity.
    assert figures[f"{novels.ALIASES}, recall"] == 1 / 4
    assert figures[f"{novels.ALIASES}, precision"] == 1.0


def test_quotations_speakers_and_events(text: LitBankText) -> None:
    source = text.text
    anna = entity(source, "a", "person", "Miss Anna Bell")
    tom = entity(source, "t", "person", "Tom Gray")
    # The marks of a quotation may be in it or not: its words count.
    start, end = source.index("“"), source.index("”") + 1
    right = FoundQuotation(start + 1, end - 2, "a")
    events = (
        FoundEvent("went out", ((source.index("went"), source.index("went") + 4),)),
        FoundEvent("lived", ((source.index("lived"), source.index("lived") + 5),)),
    )
    figures = {}
    for name, quotation in {
        "right": right,
        "wrong": FoundQuotation(start, end, "t"),
        "by words": FoundQuotation(
            start, end, "", (source.index("Anna to"), source.index(" to Tom Gray"))
        ),
    }.items():
        scores = TextScores("t")
        score_findings(scores, text, Findings((anna, tom), (), (quotation,), events), source)
        figures[name] = means(scores)
    assert [figures[name]["speakers"] for name in figures] == [1.0, 0.0, 1.0]
    assert figures["right"]["quotations, F1"] == 1.0
    assert figures["right"]["events, precision"] == 1 / 2
    assert figures["right"]["events, recall"] == 1 / 2


def test_a_family_is_among_the_persons(text: LitBankText) -> None:
    family = entity(text.text, "f", "group", "Tom Gray")
    scores = TextScores("t")
    score_findings(scores, text, Findings((family,)), text.text)
    assert means(scores)["persons, precision"] == pytest.approx(2 / 3)


def test_a_text_in_which_nothing_is_found_counts_where_it_was_looked_for(
    text: LitBankText,
) -> None:
    scores = TextScores("t")
    score_findings(scores, text, Findings(), text.text)
    assert not {name for name in scores.items if name.startswith(("events", "quotations"))}
    looked = Findings(finds_quotations=True, finds_events=True)
    score_findings(scores, text, looked, text.text)
    figures = means(scores)
    assert (figures["events, recall"], figures["quotations, recall"]) == (0.0, 0.0)
    assert figures["speakers"] == 0.0


def test_a_play_is_compared_by_its_speeches_and_its_network(play: Play) -> None:
    document = "\n\n".join(f"{speech.label}\nMówię." for speech in play.speeches)
    starts: dict[str, list[int]] = {}
    place = 0
    for speech in play.speeches:
        starts.setdefault(speech.speakers[0], []).append(place)
        place += len(f"{speech.label}\nMówię.\n\n")
    # Jan's first speech went to a person whom the play has not.
    found = Findings(
        (
            FoundEntity("a", "ANNA", "person", {}, tuple(starts["anna"])),
            FoundEntity("j", "JAN", "person", {}, tuple(starts["jan"][1:])),
            FoundEntity("e", "EWA", "person", {}, tuple(starts["ewa"])),
            FoundEntity("x", "JANEK", "person", {}, (starts["jan"][0],)),
        ),
        (SharedScenes("a", "j", 2), SharedScenes("a", "e", 1), SharedScenes("a", "x", 1)),
    )
    scores = TextScores("t")
    plays.score_play(scores, play, found, document)
    figures = means(scores)
    assert figures[plays.KEPT] == 1.0
    assert figures[plays.SPEAKERS] == 10 / 11
    assert figures["persons who speak, recall"] == pytest.approx((1 + 6 / 7 + 1) / 3)
    assert figures["edges of the network, precision"] == 2 / 3
    assert figures["edges of the network, recall"] == 2 / 3
    assert plays.DEGREES in figures


def test_clusters_are_matched_so_that_most_is_common() -> None:
    """By the largest overlap first, "b" would get x, and "a" nothing."""
    found = {"a": frozenset({1, 2}), "b": frozenset({1, 2, 3, 9})}
    gold = {"x": frozenset({1, 2, 3}), "y": frozenset({9})}
    partners = align_clusters(found, gold)
    assert partners == {"a": ("x", 4 / 5), "b": ("y", 2 / 5)}
    assert align_clusters({}, gold) == {}


def test_rank_correlation_shares_the_ranks_of_equal_values() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4.
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert rank_correlation([1, 2], [1, 2]) is None


def test_figures_are_means_over_items_with_intervals_over_texts() -> None:
    scores = [TextScores("a"), TextScores("b")]
    scores[0].add("m", [1, 1, 1])
    scores[1].add("m", [0])
    figure = summarise(scores)["m"]
    assert (figure.mean, figure.low, figure.high) == (0.75, 0.0, 1.0)
    assert (figure.questions, figure.texts) == (4, 2)
