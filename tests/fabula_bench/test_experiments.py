"""Suites as their files say them, what a run of them would do, and the log of its results."""

from __future__ import annotations

import functools
import itertools
import json
import shutil
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cases import for_each
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.config.settings import OFFLINE, STATIC, Settings, presets
from fabula.errors import BadReply, FabulaError, NotFound, SettingsError
from fabula.graph.installed import graphs
from fabula.graph.recipes import with_bases
from fabula.graphs.aspects.sets import chosen_aspects, read_aspects
from fabula.models import prompts
from fabula.models.replies import read_choice
from fabula.models.usage import Usage
from fabula_bench.data import NAMES, has_part
from fabula_bench.log import RESULTS, Log, lock_folder
from fabula_bench.metrics import names
from fabula_bench.model import BenchQuestion, DataSet, Result, Text
from fabula_bench.plan import limit_questions, plan_systems, version_info
from fabula_bench.suite import DataOverrides, read_suite, shipped_suites

if TYPE_CHECKING:  # pytest would take the class for a test
    from fabula_bench.plan import TestedSystem

TEXTS = tuple(Text(f"t{n}", f"Title {n}", "", "en", "Words.") for n in range(5))
QUESTIONS = tuple(
    BenchQuestion(f"t{text}-{n}", f"t{text}", "Who?") for text in range(5) for n in range(4 + text)
)
DATA = DataSet("own", TEXTS, QUESTIONS, {"a.jsonl": "0"})
RESULT = Result(
    system="one",
    question="t0-0",
    answer="He did.",
    choice=None,
    context=(),
    cited=(1,),
    context_tokens=3,
    calls=1,
    prompt_tokens=10,
    completion_tokens=2,
    seconds=0.5,
    scores={"accuracy": 1.0},
)
SUITE = """
name = "tiny"
purpose = "A test."
ask = "retrieve"
metrics = ["answer_coverage"]
{more}
[data]
set = "own"
part = "questions"

[systems.naive]
preset = "naive"
"""


def suite(folder: Path, more: str = "") -> str:
    path = folder / "tiny.toml"
    path.write_text(SUITE.replace("{more}", "") + more)
    return str(path)


# The suites that come with Fabula


@functools.cache
def systems_of(suite: str) -> list[TestedSystem]:
    return plan_systems(read_suite(suite), DATA, {})


@for_each("name", shipped_suites())
def test_a_shipped_suite_names_what_is_there(name: str) -> None:
    read = read_suite(name)
    assert read.name == name
    assert set(read.metrics) <= set(names())
    assert read.data.set in NAMES
    assert has_part(read.data.set, read.data.part)
    systems = systems_of(name)
    assert len({system.name for system in systems}) == len(systems)
    for system in systems:
        aspects = {aspect.name for aspect in read_aspects(system.settings.table("aspects").set)}
        built = {graph.name for graph in with_bases(graphs(), system.settings.graphs)}
        for mode in Query.of("Who?", system.settings).modes:
            assert modes()[mode].graph in ("", *built), f"{system.name} asks by {mode}"
        assert {*system.filters.get("aspects", ())} <= {"", *aspects}


def planned(name: str) -> dict[str, TestedSystem]:
    """The systems of a shipped suite by name, with an endpoint."""
    systems = plan_systems(read_suite(name), DATA, {"base_url": "http://a/v1"})
    return {system.name: system for system in systems}


def test_every_preset_of_a_published_system_is_in_a_suite() -> None:
    tried = {
        system.preset for name in shipped_suites() for system in read_suite(name).systems.values()
    }
    published = {name for name in presets() if name.endswith("-published")}
    assert published | {"fabula", "naive", "raptor", "thesis"} <= tried


# The figures of the aspect graph's publication, 4.1 to 4.13, and those of others

FIGURES = {
    "quality": "aspect graph",
    "quality-hard": "aspect graph",
    "narrativeqa": "aspect graph",
    "sweep-top-k": "aspect graph, as published",
    "sweep-context": "aspect graph, as published",
    "aspects-single-built": "as published, one aspect",
    "aspects-all-but-one-built": "as published, without an aspect",
    "sweep-details": "aspect graph, as published",
    "sweep-lengths": "aspect graph, as published",
}


@for_each("name", FIGURES)
def test_a_figure_is_made_as_published_and_with_our_defaults(name: str) -> None:
    read = read_suite(name)
    presets_used = {series: system.preset for series, system in read.systems.items()}
    assert presets_used[FIGURES[name]] == "thesis"
    assert "fabula" in presets_used.values()
    as_published = [value for value in planned(name).values() if value.series == FIGURES[name]]
    assert {one.settings.aspect_model for one in as_published} == {"strong"}
    aspects = as_published[0].settings.table("aspects")
    assert (aspects.cluster_reduction, aspects.details_form) == ("umap", "whole")


@for_each("name", FIGURES)
@for_each("set", ["quality", "narrativeqa"])
def test_a_figure_can_be_made_of_each_of_the_publication_s_data_sets(name: str, set: str) -> None:
    suite = DataOverrides(set, "all", None, "gutenberg").apply(read_suite(name))
    assert (suite.data.set, suite.data.part, suite.data.only) == (set, "all", "gutenberg")
    assert has_part(suite.data.set, suite.data.part)


def test_raptor_s_column_is_raptor_with_its_own_settings() -> None:
    for name in ("quality", "quality-hard", "narrativeqa", "graphrag-bench-novel"):
        raptor = planned(name)["RAPTOR"].settings
        aspects = raptor.table("aspects")
        assert (raptor.chunk_tokens, raptor.top_k, raptor.context_tokens) == (100, 20, 2000)
        assert (aspects.cluster_reduction, aspects.cluster_count) == ("umap", "bic")
        assert (aspects.set, aspects.details, aspects.summary_tokens) == ("general", 0, 100)


def test_naive_rag_is_asked_with_a_reranker_too() -> None:
    for name in ("quality", "narrativeqa", "graphrag-bench-novel", "graphrag-bench-novel-graphs"):
        systems = planned(name)
        assert systems["naive RAG with reranker"].settings.rerank
        assert not systems["naive RAG"].settings.rerank


@for_each(("name", "left"), [("aspects-single-built", 1), ("aspects-all-but-one-built", 6)])
def test_graphs_are_built_of_one_aspect_and_of_all_but_one(name: str, left: int) -> None:
    systems = [one for one in planned(name).values() if one.value is not None]
    built = [chosen_aspects(system.settings.table("aspects")).aspects for system in systems]
    names = [aspect.name for aspect in read_aspects("narrative")]
    assert [len(aspects) for aspects in built] == 2 * [left] * len(names)
    assert len({system.settings.collection for system in systems}) == len(systems)
    expected = [{name} if left == 1 else {*names} - {name} for name in names]
    found = [{aspect.name for aspect in aspects} for aspects in built[: len(names)]]
    assert found == expected


@for_each("name", shipped_suites())
def test_naive_rag_has_no_graph_in_any_shipped_suite(name: str) -> None:
    read = read_suite(name)
    naive = {series for series, system in read.systems.items() if system.preset == "naive"}
    systems = [one for one in systems_of(name) if one.series in naive]
    assert {one.name: one.settings.graphs for one in systems if one.settings.graphs} == {}


def test_graphs_common_to_a_suite_are_not_those_of_a_preset_that_names_its_own(
    tmp_path: Path,
) -> None:
    path = Path(
        suite(tmp_path, "[systems.graph]\n[systems.own]\nsettings = { graphs = ['facts'] }")
    )
    common = "[settings]\ngraphs = ['aspects', 'entities']\ntop_k = 7\n[data]"
    path.write_text(path.read_text().replace("[data]", common))
    naive, graph, own = (
        system.settings for system in plan_systems(read_suite(str(path)), DATA, {})
    )
    assert (naive.graphs, naive.top_k) == ((), 7)
    assert (graph.graphs, graph.top_k) == (("aspects", "entities"), 7)
    assert own.graphs == ("facts",)


def test_the_suites_of_modes_try_every_mode() -> None:
    def tried(name: str) -> list[str]:
        return sorted(system.settings.mode for system in plan_systems(read_suite(name), DATA, {}))

    # What people import is in no data set, so that its modes find nothing there.
    imported = {name for name, one in graphs().items() if one.imports}
    tested = {name: one for name, one in modes().items() if one.graph not in imported}
    assert tried("modes") == list(tested)
    by_rules = {"", "aspects", "entities", "episodes", "speech"}
    assert [name for name in tried("all-ways") if "," not in name] == [
        name for name, one in tested.items() if one.graph in by_rules
    ]
    over_graphs = {name for name, one in tested.items() if one.graph not in ("", "aspects")}
    assert over_graphs | {"hybrid", "hippo,hybrid"} <= set(tried("graphrag-bench-novel"))


def test_the_agent_is_measured_at_each_effort_over_one_graph() -> None:
    for name in ("agent", "agent-medical"):
        systems = planned(name)
        efforts = [systems[f"agent, {effort}"].settings for effort in ("low", "medium", "high")]
        assert [settings.table("agent").effort for settings in efforts] == ["low", "medium", "high"]
        assert {settings.mode for settings in efforts} == {"agent"}
        assert len({settings.collection for settings in efforts}) == 1
        assert {"answer_accuracy", "judged_accuracy"} <= set(read_suite(name).metrics)
        assert not systems["agent, text alone"].settings.graphs


# Systems


def test_systems_that_share_a_graph_share_a_collection() -> None:
    collections = [
        {system.settings.collection for system in plan_systems(read_suite(name), DATA, {})}
        for name in ("modes", "sweep-top-k", "sweep-details", "aspects-single")
    ]
    assert [len(found) for found in collections] == [1, 4, 14, 1]
    assert collections[3] < collections[1], "of which it is one"
    assert collections[0].isdisjoint(collections[3]), "as it has entities, too"


@pytest.mark.parametrize("whose", ["the core", "a graph"])
def test_a_change_of_the_prompts_makes_other_graphs(
    whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "prompts"
    installed = dict(graphs())
    if whose == "the core":
        shutil.copytree(prompts.FOLDER, folder)
        monkeypatch.setattr(prompts, "FOLDER", folder)
    else:
        assert installed["aspects"].prompts
        shutil.copytree(installed["aspects"].prompts, folder)
        installed["aspects"] = replace(installed["aspects"], prompts=folder)
        monkeypatch.setattr("fabula_bench.plan.graphs", lambda: installed)

    def collections() -> set[str]:
        return {
            system.settings.collection for system in plan_systems(read_suite("smoke"), DATA, {})
        }

    before, made_before = version_info(), collections()
    assert collections() == made_before
    with next(folder.glob("*_system.txt")).open("a") as file:
        file.write("Be brief.")
    assert version_info()["fabula"] == before["fabula"]
    assert version_info()["prompts"] != before["prompts"]
    assert collections().isdisjoint(made_before)


def test_a_change_of_own_aspects_is_another_system(tmp_path: Path) -> None:
    aspects = tmp_path / "mine.toml"
    aspects.write_text(
        '[[aspects]]\nname = "plot"\ndescription = "What happens."\nfocus = "Who does what."\n'
    )
    path = Path(suite(tmp_path, f"settings = {{ aspects = '{aspects}' }}"))
    path.write_text(path.read_text().replace('preset = "naive"', 'preset = "fabula"'))
    read = read_suite(str(path))
    [before] = plan_systems(read, DATA, {})
    aspects.write_text(aspects.read_text().replace("happens", "is done"))
    [after] = plan_systems(read, DATA, {})
    assert (before.settings.tables, before.filters) == (after.settings.tables, after.filters)
    assert before.fingerprint != after.fingerprint


@pytest.mark.parametrize(
    "message",
    [
        "settings = { levels = 3 }",
        "settings = { aspects.levels = 3 }",
        "[settings.aspects]\nlevels = 3",
        "[settings]\nlevels = 1\n[systems.naive.settings]\naspects.levels = 3",
        "[settings]\naspects.levels = 1\n[systems.naive.settings]\nlevels = 3",
    ],
)
def test_a_setting_of_a_table_goes_by_its_whole_name_and_by_its_own(
    message: str, tmp_path: Path
) -> None:
    [system] = plan_systems(read_suite(suite(tmp_path, message)), DATA, {})
    assert system.settings.table("aspects").levels == 3
    assert system.settings.values()["aspects.levels"] == 3


def test_a_system_s_own_setting_is_stronger_than_its_preset(tmp_path: Path) -> None:
    path = Path(suite(tmp_path, "settings = { aspects.details = 1 }"))
    path.write_text(path.read_text().replace('preset = "naive"', 'preset = "raptor"'))
    [system] = plan_systems(read_suite(str(path)), DATA, {})
    assert system.settings.table("aspects").details == 1
    assert system.settings.table("aspects").cluster_count == "bic"


def test_each_value_of_a_sweep_is_a_system() -> None:
    systems = plan_systems(read_suite("sweep-details"), DATA, {})
    assert [system.settings.table("aspects").details for system in systems] == 2 * [*range(7)]
    assert systems[9].name == "aspect graph, details 2"
    assert (systems[9].series, systems[9].value) == ("aspect graph", 2)


def test_the_environment_changes_no_system(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan_systems(read_suite("quality"), DATA, {})
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "50")
    monkeypatch.setenv("FABULA_TOP_K", "9")
    assert plan_systems(read_suite("quality"), DATA, {}) == before
    assert [one.settings.chunk_tokens for one in before] == [200, 200, 100, 200, 200, 200]


def test_a_flag_replaces_the_model_of_a_suite() -> None:
    [first, *_] = plan_systems(read_suite("smoke"), DATA, {})
    assert (first.settings.model, first.settings.embedding_model) == (OFFLINE, STATIC)
    [first, *_] = plan_systems(read_suite("smoke"), DATA, {"model": "m", "base_url": "http://a/v1"})
    assert first.settings.model == "m"


def test_without_a_chat_model_only_contexts_are_asked_for() -> None:
    assert {system.ask for system in plan_systems(read_suite("quality"), DATA, {})} == {"retrieve"}
    systems = plan_systems(read_suite("quality"), DATA, {"base_url": "http://a/v1"})
    assert {prompt.ask for prompt in systems} == {"answer"}


# Other data than the suite's


def test_another_data_set_comes_with_its_usual_part_and_all_its_questions() -> None:
    data = DataOverrides(set="narrativeqa").apply(read_suite("quality-hard")).data
    assert (data.set, data.part, data.hard, data.only) == ("narrativeqa", "test", False, "")


def test_another_part_of_the_suite_s_data_set_keeps_what_else_it_says() -> None:
    data = DataOverrides(part="train+dev").apply(read_suite("quality-hard")).data
    assert (data.set, data.part, data.hard) == ("quality", "train+dev", True)
    assert not DataOverrides(part="train").apply(read_suite("smoke")).data.shipped
    assert DataOverrides().apply(read_suite("smoke")) == read_suite("smoke")


def test_the_hard_subset_and_project_gutenberg_s_texts_can_be_asked_for_and_left() -> None:
    overrides = DataOverrides(hard=True, only="gutenberg")
    data = overrides.apply(read_suite("sweep-top-k")).data
    assert (data.set, data.part, data.hard, data.only) == ("quality", "dev", True, "gutenberg")
    assert not DataOverrides(hard=False).apply(read_suite("quality-hard")).data.hard
    assert overrides.words == ("hard", "gutenberg")


def test_one_s_own_data_set_has_no_usual_part() -> None:
    with pytest.raises(SettingsError, match="--part"):
        DataOverrides(set="own").apply(read_suite("quality"))


# Joint axes of a sweep


def test_settings_of_one_axis_have_the_same_value(tmp_path: Path) -> None:
    sweep = "[sweep]\nsettings = ['chunk_tokens', 'aspects.summary_tokens']\nvalues = [50, 600]\n"
    systems = plan_systems(read_suite(suite(tmp_path, sweep)), DATA, {})
    values = [
        (system.settings.chunk_tokens, system.settings.table("aspects").summary_tokens)
        for system in systems
    ]
    assert values == [(50, 50), (600, 600)]
    assert systems[1].name == "naive, chunk_tokens and aspects.summary_tokens 600"


# What is wrong with a suite


@for_each(
    ("more", "message"),
    [
        ("settings = { topk = 3 }", "settings.topk is not a setting of a system. Did you mean top"),
        ("aspectz = []", "systems.naive.aspectz: there is no such key"),
        ("[systems.b]\npreset = 'best'", "systems.b.preset: input should be 'fabula', 'naive'"),
        ("[sweep]\nsetting = 'top_k'\nvalues = [1]", "sweep.values: tuple should have at least 2"),
        ("[sweep]\nsetting = 'mode'\nvalues = [1, 2]\nsystems = ['b']", "b is not a system"),
        ("[sweep]\nvalues = [1, 2]", "a sweep has either"),
        ("[sweep]\nsettings = ['top_k']\nvalues = [1, 2]", "name a single one as `setting`"),
        ("[sweep]\nsettings = ['top_k', 'topk']\nvalues = [1, 2]", "topk is not a setting"),
        ("settings = { api_key = 'k' }", "api_key belongs elsewhere"),
        ("[models]\nmodell = 'm'", "models.modell is no"),
    ],
)
def test_a_wrong_key_is_named(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_suite(suite(tmp_path, more))
    assert "tiny.toml is not a suite: " in str(caught.value)
    assert message.lower() in str(caught.value).lower()


def test_a_wrong_value_names_the_suite_and_the_system(tmp_path: Path) -> None:
    read = read_suite(suite(tmp_path, "settings = { top_k = 0 }"))
    with pytest.raises(SettingsError, match=r"Suite tiny, system 'naive': .*top-k = 0"):
        plan_systems(read, DATA, {})


def test_a_suite_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="Did you mean smoke"):
        read_suite("smoek")


# Limits


def test_few_questions_are_spread_over_the_texts() -> None:
    drawn = limit_questions(DATA, None, 10, seed=0)
    assert Counter(question.text for question in drawn.questions) == dict.fromkeys(
        ["t0", "t1", "t2", "t3", "t4"], 2
    )
    assert limit_questions(DATA, None, 10, seed=0) == drawn
    assert limit_questions(DATA, None, 10, seed=1) != drawn


def test_fewer_questions_are_among_more() -> None:
    several = [
        {question.id for question in limit_questions(DATA, None, n, 0).questions}
        for n in range(1, 31)
    ]
    assert all(fewer < more for fewer, more in itertools.pairwise(several))


def test_a_limit_of_texts_leaves_the_other_texts_out() -> None:
    drawn = limit_questions(DATA, 2, None, seed=0)
    assert len(drawn.texts) == 2
    assert {question.text for question in drawn.questions} == {text.id for text in drawn.texts}


# The log


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    Log(tmp_path).append(RESULT)
    assert Log(tmp_path).results == [RESULT]


def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(RESULT)
    with (tmp_path / RESULTS).open("a") as file:
        file.write('{"system": "one", "quest')
    log = Log(tmp_path)
    assert log.results == [RESULT]
    log.append(replace(RESULT, question="t0-1"))
    assert [result.question for result in Log(tmp_path).results] == ["t0-0", "t0-1"]


def test_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_text('{"system": 3}\n' + json.dumps(asdict(RESULT)) + "\n")
    with pytest.raises(FabulaError, match="line 1, is not a result"):
        Log(tmp_path)


def test_lines_end_in_the_order_of_the_suite(tmp_path: Path) -> None:
    log = Log(tmp_path)
    made: list[tuple[str, Any]] = [("two", 0), ("one", 1), ("two", 1), ("one", 0)]
    for system, n in made:
        log.append(replace(RESULT, system=system, question=f"t0-{n}"))
    log.sort(["one", "two"], ["t0-0", "t0-1"])
    ordered = [(result.system, result.question) for result in Log(tmp_path).results]
    assert ordered == [
        ("one", "t0-0"),
        ("one", "t0-1"),
        ("two", "t0-0"),
        ("two", "t0-1"),
    ]


def test_a_folder_is_locked_for_one_run_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "tiny"
    with (
        lock_folder(folder),
        pytest.raises(FabulaError, match=r"Another run is writing into .*tiny: .* --out"),
        lock_folder(folder),
    ):
        pass
    with lock_folder(folder):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with (
        pytest.raises(FabulaError, match="can't be written to"),
        lock_folder(tmp_path / "runs" / "a"),
    ):
        pass


# A choice


@for_each(
    "reply", ['{"choice": 2}', '```json\n{"choice": 2,}\n```', "2", "Option 2.", '{"choice": "2"}']
)
def test_a_choice_is_read(reply: str) -> None:
    assert read_choice(reply, 4) == 2


@for_each("reply", ['{"choice": 5}', '{"choice": 0}', "the second", "", "{}", "2 or 3"])
def test_what_is_no_choice_is_refused(reply: str) -> None:
    with pytest.raises(BadReply, match="1 to 4"):
        read_choice(reply, 4)


def test_each_step_is_priced_as_the_model_that_it_asks() -> None:
    chosen = Settings.read(
        base_url="http://127.0.0.1:1/v1", model="m", embedding_model="e", rerank_model="r"
    )
    steps = {
        name: Usage(1, number) for number, name in enumerate(("guide", "rerank", "embeddings"))
    }
    assert chosen.by_model(steps) == {"m": Usage(1, 0), "r": Usage(1, 1), "e": Usage(1, 2)}
