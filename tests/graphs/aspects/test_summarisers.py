"""A class of another package summarises one aspect: found by its entry point, as if installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.errors import SettingsError
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects import GRAPH
from fabula.graphs.aspects.sets import read_aspect_set, read_aspects
from small_models import SmallModels, build
from small_models import read as read_story
from stories import WINTER

PACKAGE = Path(__file__).parents[2] / "support" / "summariser_package"
SET = """
kind = "a travel book"
kinds = "travel books"
subject = "the journey"

[[aspects]]
name = "places"
description = "Where it is: countries, towns, rivers, houses and roads that are named."
focus = "Tell the places."
summariser = "SUMMARISER"

[[aspects]]
name = "people"
description = "Who is met: travellers, hosts, servants, officials and friends."
focus = "Tell who is met."
"""


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(PACKAGE))
    yield


@pytest.fixture(scope="module")
def text() -> BuildText:
    return read_story(WINTER, Known())


def write_set(folder: Path, summariser: str) -> str:
    file = folder / "travel.toml"
    file.write_text(SET.replace("SUMMARISER", summariser), encoding="utf-8")
    return str(file)


def summaries(built: object) -> dict[str, list[str]]:
    by_aspect: dict[str, list[str]] = {}
    for node in built.nodes:  # type: ignore[attr-defined]
        if node.label == "Summary":
            by_aspect.setdefault(node.properties["aspect"], []).append(node.properties["text"])
    return by_aspect


def test_its_class_writes_the_summaries_of_its_aspect_and_no_others(
    package: None, text: BuildText, tmp_path: Path
) -> None:
    name = write_set(tmp_path, "places")
    by_aspect = summaries(build(text, SmallModels(), set=name, cluster_size=4))
    assert by_aspect.keys() == {"places", "people"}
    assert all(written.startswith("places: ") for written in by_aspect["places"])
    assert not any(written.startswith("places: ") for written in by_aspect["people"])


def test_one_call_for_aspects_and_summaries_leaves_its_aspect_to_it(
    package: None, text: BuildText, tmp_path: Path
) -> None:
    name = write_set(tmp_path, "places")
    models = SmallModels(offline=False)
    built = build(text, models, set=name, cluster_size=4, aspects_with_summaries=True)
    by_aspect = summaries(built)
    assert all(written.startswith("places: ") for written in by_aspect["places"])
    assert by_aspect["people"]


def test_it_may_ask_the_builds_model_and_its_calls_are_counted(
    package: None, text: BuildText, tmp_path: Path
) -> None:
    models, plain = SmallModels(offline=False), SmallModels(offline=False)
    options: dict[str, Any] = {"cluster_size": 4, "aspects_with_summaries": False}
    built = build(text, models, set=write_set(tmp_path, "prompted"), **options)
    by_aspect = summaries(built)
    assert sum(map(len, by_aspect.values())) == models.meter.usage()["summaries"].calls
    assert all(written.startswith("<passages>") for written in by_aspect["places"])
    # As many as without it: it takes the place of the built-in calls.
    file = tmp_path / "plain.toml"
    file.write_text(SET.replace('summariser = "SUMMARISER"\n', ""), encoding="utf-8")
    build(text, plain, set=str(file), **options)
    assert plain.meter.usage()["summaries"].calls == models.meter.usage()["summaries"].calls


def test_a_summary_beyond_its_length_is_cut(package: None, text: BuildText, tmp_path: Path) -> None:
    built = build(
        text,
        SmallModels(offline=False),
        set=write_set(tmp_path, "prompted"),
        cluster_size=4,
        summary_tokens=16,
    )
    assert all(node.properties["tokens"] <= 16 for node in built.nodes if node.label == "Summary")


def test_its_version_is_part_of_what_a_graph_is_made_from(package: None, tmp_path: Path) -> None:
    plain = GRAPH.settings(GRAPH.options(set=write_set(tmp_path, "places")), True)["set"]
    assert plain["places"][-1] == "places 1.2", "the version of the package"
    assert len(plain["people"]) == 2
    prompted = GRAPH.settings(GRAPH.options(set=write_set(tmp_path, "prompted")), True)["set"]
    assert prompted["places"][-1] == "prompted 7", "its own"


def test_one_that_no_package_brings_is_refused_with_its_name(
    package: None, text: BuildText, tmp_path: Path
) -> None:
    name = write_set(tmp_path, "plaices")
    assert read_aspects(name)[0].summariser == "plaices"
    with pytest.raises(SettingsError, match=r"'places' names the summariser 'plaices'.*places"):
        build(text, SmallModels(), set=name)
    with pytest.raises(SettingsError, match=r"fabula\.summarisers"):
        GRAPH.settings(GRAPH.options(set=name), False)


def test_without_any_package_the_message_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No package has any"):
        GRAPH.settings(GRAPH.options(set=write_set(tmp_path, "places")), True)


def test_a_set_has_words_for_its_kind_of_text(tmp_path: Path) -> None:
    words = read_aspect_set(write_set(tmp_path, "places")).words
    assert (words.kind, words.kinds, words.subject) == (
        "a travel book",
        "travel books",
        "the journey",
    )
