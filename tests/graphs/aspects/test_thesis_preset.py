"""The preset `thesis`: the aspect graph built and asked as it was published."""

from __future__ import annotations

import sys

import pytest

from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_build_recipe
from fabula.config.settings import Settings, presets
from fabula.errors import SettingsError
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects import GRAPH
from small_models import SmallModels, build
from small_models import read as read_story
from stories import WINTER


@pytest.fixture(scope="module")
def text() -> BuildText:
    return read_story(WINTER, Known())


@pytest.fixture
def thesis(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    return Settings.read(preset="thesis")


def test_it_sets_building_and_asking(thesis: Settings) -> None:
    options = thesis.table("aspects")
    assert (options.cluster_reduction, options.cluster_count) == ("umap", "bic")
    assert (options.cluster_passes, options.cluster_mixture) == ("two", "full")
    assert (options.repeat, options.set, options.levels) == ("all", "narrative", 5)
    assert (options.details, options.details_form, options.details_per_call) == (2, "whole", 1)
    assert (thesis.chunk_tokens, options.summary_tokens, thesis.temperature) == (200, 200, 0.5)
    assert (thesis.mode, thesis.top_k, thesis.fill) == ("collapsed", 5, False)
    assert (thesis.context, thesis.context_tokens) == ("passages", 1700)
    assert thesis.collection == "thesis"
    assert thesis.graphs == ("aspects",)


def test_a_strong_model_finds_the_aspects(thesis: Settings) -> None:
    assert (thesis.model, thesis.judge) == ("gpt-4.1-mini", "gpt-4.1")
    factory = ModelFactory(thesis)
    try:
        made_with = make_build_recipe(thesis)["models"]
        assert made_with["aspect_model"] == "gpt-4.1"
        assert made_with["model"] == "gpt-4.1-mini"
    finally:
        factory.close()
    assert thesis.model_of("aspects") == "gpt-4.1"


@pytest.mark.parametrize(
    ("model", "given", "judge"),
    [
        ("llama3.1", None, "llama3.1"),
        ("gpt-4.1-mini", "o3", "o3"),
        ("offline", None, "offline"),
    ],
)
def test_what_is_given_beside_it_is_stronger(
    monkeypatch: pytest.MonkeyPatch, model: str, given: str | None, judge: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    assert Settings.read(preset="thesis", model=model, aspect_model=given).judge == judge


def test_published_stays_its_asking_half_over_the_usual_graph() -> None:
    asking = presets()["published"]
    assert asking.items() <= presets()["thesis"].items()
    assert "collection" not in asking
    assert Settings.read(preset="published").table("aspects") == GRAPH.options()


def test_without_umap_it_names_the_cure_before_any_model_is_asked(
    text: BuildText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    models = SmallModels(offline=False)
    with pytest.raises(SettingsError, match=r"preset `thesis`.*pip install 'fabula\[umap\]'"):
        build(text, models, cluster_reduction="umap")
    assert models.meter.usage() == {}


# UMAP is compiled for 20 seconds in each process that uses it.
@pytest.mark.slow
def test_with_umap_it_builds_the_whole_graph(text: BuildText) -> None:
    options = Settings.read(preset="thesis").table("aspects").model_dump()
    built = build(text, SmallModels(), **options)
    assert built.facts["aspects"] == [
        *("plot", "character", "setting", "point of view", "style", "theme", "irony and symbol")
    ]
    assert built.facts["rounds"] >= 1
    assert {node.label for node in built.nodes} == {"Summary", "Detail"}
    assert build(text, SmallModels(), **options) == built
