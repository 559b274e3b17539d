"""Aspect sets: the shipped ones, and a user's own file with clear words for its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import SettingsError
from fabula.graph.sets import list_shipped
from fabula.graphs.aspects import GRAPH
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.sets import chosen_aspects, read_aspects
from fabula.graphs.aspects.values import Aspect

ONE = '[[aspects]]\nname = "food"\ndescription = "What is eaten."\nfocus = "Tell the meals."\n'


def test_the_narrative_set_has_the_seven_dimensions() -> None:
    assert [aspect.name for aspect in read_aspects("narrative")] == [
        "plot",
        "character",
        "setting",
        "point of view",
        "style",
        "theme",
        "irony and symbol",
    ]


def test_the_general_set_has_one_aspect() -> None:
    assert [aspect.name for aspect in read_aspects("general")] == ["general"]


@for_each("name", list_shipped("fabula.graphs.aspects.sets"))
def test_shipped_aspects_are_described(name: str) -> None:
    for aspect in read_aspects(name):
        assert len(aspect.description.split()) >= 10
        assert len(aspect.focus.split()) >= 10
        assert "\n" not in aspect.description + aspect.focus


def test_a_file_is_a_set_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "kitchen.toml"
    file.write_text(ONE, encoding="utf-8")
    assert read_aspects(str(file)) == (Aspect("food", "What is eaten.", "Tell the meals."),)


def test_an_unknown_name_is_told_the_shipped_ones() -> None:
    with pytest.raises(SettingsError, match=r"'narative'.*general, narrative"):
        read_aspects("narative")


@for_each(
    ("text", "words"),
    [
        ("[[aspects]\n", "can't be read as TOML"),
        ("", "is not a valid aspect set: the file, 'aspects'"),
        ("aspects = []\n", "is not a valid aspect set"),
        ("aspects = 3\n", "is not a valid aspect set"),
        (ONE + '[[aspects]]\nname = "drink"\nfocus = "Wine."\n', "aspect 2, 'description'"),
        (ONE.replace('"food"', '"  "'), "aspect 1, 'name'"),
        (ONE.replace('"food"', "7"), "aspect 1, 'name'"),
        (ONE + 'colour = "red"\n', "aspect 1, 'colour'"),
        (ONE + ONE.replace("food", "Food"), "more than one aspect named 'food'"),
    ],
)
def test_a_malformed_file_is_refused_with_its_name_and_place(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "kitchen.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=words) as caught:
        read_aspects(str(file))
    assert str(file) in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kitchen.toml"
    file.write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(SettingsError, match="can't be read"):
        read_aspects(str(file))


# Some aspects of a set


def chosen(**options: str) -> list[str]:
    return [aspect.name for aspect in chosen_aspects(Options(**options)).aspects]


def test_aspects_are_chosen_from_a_set_or_left_out_in_its_order() -> None:
    assert chosen(only_aspects="Theme, point of view") == ["point of view", "theme"]
    assert "irony and symbol" not in chosen(without_aspects="irony and symbol")
    assert len(chosen(without_aspects="irony and symbol")) == 6
    assert chosen(only_aspects="plot,theme", without_aspects="plot") == ["theme"]
    assert chosen() == [aspect.name for aspect in read_aspects("narrative")]


def test_an_aspect_that_the_set_does_not_have_is_named_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"only_aspects.*'plott'.*Did you mean plot"):
        chosen(only_aspects="plott")
    with pytest.raises(SettingsError, match="without_aspects"):
        chosen(without_aspects="plot, weather")


def test_a_graph_of_summaries_has_at_least_one_aspect() -> None:
    with pytest.raises(SettingsError, match="leave no aspect"):
        chosen(only_aspects="plot", without_aspects="plot")


def test_what_a_graph_is_made_from_has_the_chosen_aspects_and_not_how_they_were_chosen() -> None:
    whole = GRAPH.settings(Options(), False)
    assert not {"only_aspects", "without_aspects"} & whole.keys()
    one = GRAPH.settings(Options(only_aspects="plot"), False)
    assert list(one["set"]) == ["plot"]
    assert one == GRAPH.settings(Options(only_aspects=" plot,"), False)
    assert {**one, "set": whole["set"]} == whole
    assert list(GRAPH.aspects(Options(only_aspects="plot"))) == ["plot"]
