"""Senses of discourse relations: two hierarchies, their descendants, what one is in the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import SettingsError
from fabula.graph.sets import list_shipped
from fabula_graphs.discourse.senses import Senses, matches, read_senses

SETS = [(name, read_senses(name)) for name in list_shipped("fabula_graphs.discourse.senses")]


def at_depth(senses: Senses, depth: int) -> list[str]:
    return [sense.path for sense in senses.all if sense.path.count(".") == depth - 1]


def test_pdtb_3_has_4_classes_22_types_and_36_leaves() -> None:
    senses = read_senses("pdtb3")
    assert at_depth(senses, 1) == ["Temporal", "Contingency", "Comparison", "Expansion"]
    assert (len(at_depth(senses, 2)), len(senses.leaves)) == (22, 36)


def test_pdtb_2_has_4_classes_and_30_leaves_spelt_as_in_olia() -> None:
    senses = read_senses("pdtb2")
    assert at_depth(senses, 1) == ["TEMPORAL", "CONTIGENCY", "COMPARISON", "EXPANSION"]
    assert len(senses.leaves) == 30
    three = {leaf.path for leaf in read_senses("pdtb3").leaves}
    assert {leaf.pdtb3 for leaf in senses.leaves} <= three


@for_each(("name", "senses"), SETS)
def test_each_path_comes_after_its_parents(name: str, senses: Senses) -> None:
    paths = [sense.path for sense in senses.all]
    for at, path in enumerate(paths):
        above = path.rpartition(".")[0]
        assert not above or above in paths[:at]
        assert senses.find(path.upper()) == path


@for_each(("senses", "path"), [(senses, sense.path) for _, senses in SETS for sense in senses.all])
def test_all_descendants_of_a_sense_match_it_and_nothing_else(senses: Senses, path: str) -> None:
    depth = path.count(".") + 1
    below = {
        sense.path
        for sense in senses.all
        # Of Cause+Belief the part that counts is Cause, where that is what is asked for.
        if sense.path.split(".")[:depth] == path.split(".")
        or (
            sense.path.split(".")[: depth - 1] == path.split(".")[:-1]
            and sense.path.count(".") >= depth - 1
            and sense.path.split(".")[depth - 1].startswith(path.split(".")[-1] + "+")
        )
    }
    assert {sense.path for sense in senses.all if matches(sense.path, path)} == below


def test_a_sense_is_asked_for_with_those_of_belief_and_speech() -> None:
    assert matches("Contingency.Cause+Belief.Reason+Belief", "Contingency.Cause")
    assert not matches("Contingency.Cause+Belief.Reason+Belief", "Contingency.Cause.Reason")
    assert not matches("Expansion.Conjunction", "Expansion.Con")


def test_neg_result_is_known_by_the_name_that_the_released_data_has() -> None:
    senses = read_senses("pdtb3")
    assert senses.find("Contingency.Negative-cause.NegResult") == "Contingency.Cause.NegResult"


def test_a_sense_is_known_by_its_last_part_where_that_is_of_one_alone() -> None:
    assert read_senses("pdtb3").find(" reason ") == "Contingency.Cause.Reason"
    assert read_senses("pdtb3").find("Cause of things") == ""


def test_what_is_known_of_pdtb_3_serves_another_set() -> None:
    two = read_senses("pdtb2")
    assert two.nearest_leaf("Contingency.Cause.Reason") == "CONTIGENCY.Cause.reason"
    assert two.nearest_leaf("Expansion.Manner.Arg1-as-manner") in {leaf.path for leaf in two.leaves}


@for_each(
    ("path", "cause"),
    [
        ("Contingency.Cause.Result", "arg1"),
        ("Contingency.Cause.NegResult", "arg1"),
        ("Contingency.Cause.Reason", "arg2"),
        ("Contingency.Cause+Belief.Reason+Belief", "arg2"),
        ("Contingency.Condition.Arg1-as-cond", "arg1"),
        ("Contingency.Condition+SpeechAct", "arg2"),
        ("Contingency.Purpose.Arg2-as-goal", "arg2"),
        ("Contingency.Cause", ""),
        ("Contingency", ""),
        ("Temporal.Asynchronous.Precedence", ""),
        ("Expansion.Manner.Arg1-as-manner", ""),
    ],
)
def test_a_sense_tells_which_argument_is_why_the_other_is_so(path: str, cause: str) -> None:
    assert read_senses("pdtb3").cause(path) == cause


def test_the_cause_is_told_in_another_set_too() -> None:
    two = read_senses("pdtb2")
    assert two.cause("CONTIGENCY.Condition") == two.cause("CONTIGENCY.Cause.reason") == "arg2"
    assert two.cause("CONTIGENCY.Cause.result") == "arg1"


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("", "senses"),
        ('[[senses]]\nname = "A.B"\nabout = "b"', "needs the sense A before it"),
        ('[[senses]]\nname = "A"\nabout = "b"\n[[senses]]\nname = "a"\nabout = "b"', "more than"),
        ('[[senses]]\nname = "A"\nabout = "b"\n[[senses]]\nname = "A."\nabout = "b"', "empty part"),
        ('[[senses]]\nname = "A"', "about"),
    ],
)
def test_a_set_that_is_none_is_refused_by_its_file(toml: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(toml)
    with pytest.raises(SettingsError, match=why) as raised:
        read_senses(str(file))
    assert "mine.toml" in str(raised.value)


def test_a_set_of_ones_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[senses]]\nname = "Echo"\nabout = "one says again what the other said"')
    senses = read_senses(str(file))
    assert [leaf.path for leaf in senses.leaves] == ["Echo"]
    assert senses.nearest_leaf("Contingency.Cause") == "Echo"
