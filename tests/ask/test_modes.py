"""Ways through the graph, on a real Neo4j: each mode's hits, what may be done to them, the path."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import connect, name_server, wipe
from endpoint import Endpoint
from fabula import Fabula
from fabula.ask.modes import GROUP, modes
from fabula.cli import main
from fabula.errors import BudgetSpent, SettingsError
from fabula.graph.trace import Trace as Steps
from fabula.graphs.communities.modes import MODES as OVER_COMMUNITIES
from fabula.graphs.entities.modes import MODES as OVER_ENTITIES
from fabula.models.usage import Usage
from fabula.server import Address
from fabula.text import tokens
from stories import winter_story

QUESTION = "Where did Anna go in the winter?"
MODES = ("bottom-up", "collapsed", "details", "hybrid", "naive", "top-down")
"""Those over entities and their communities are asked in test_entities_modes.py and
test_communities_asking_in_neo4j.py."""


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two books, made without a model, in the graph that this module's tests read."""
    folder = tmp_path_factory.mktemp("books")
    (folder / "winter.txt").write_text(winter_story("cold"))
    (folder / "summer.txt").write_text(winter_story("dry").replace("winter", "summer"))
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        _reached(address, patch)
        method: dict[str, Any] = {"chunk_tokens": 64, "aspects.cluster_size": 4}
        with Fabula(**method, cache=False) as fabula:
            fabula.ingest(folder)
        yield


@pytest.fixture(autouse=True)
def reached(books: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j."""
    _reached(address, monkeypatch)


def _reached(address: Address, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)


def asked(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["search", QUESTION, *words])
    assert result.exit_code == code, result.output
    return result


# The modes


@pytest.mark.whole
@pytest.mark.journey
def test_these_modes_are_there() -> None:
    of_others = ("agent", "annotations", "discourse", "episodes", "speech", "triples")
    assert tuple(modes()) == tuple(sorted((*MODES, *OVER_ENTITIES, *OVER_COMMUNITIES, *of_others)))


@pytest.mark.journey
@pytest.mark.parametrize("name", MODES)
def test_a_mode_finds_as_many_as_asked_best_first_and_none_twice(name: str) -> None:
    with Fabula(mode=name, top_k=7) as fabula:
        hits = fabula.retrieve(QUESTION)
    assert len(hits) == 7
    assert len({hit.id for hit in hits}) == 7
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("name", MODES)
def test_a_mode_stays_within_the_filters(name: str) -> None:
    with Fabula(mode=name, top_k=30) as fabula:
        in_one = fabula.retrieve(QUESTION, document="summer.txt")
        assert {hit.title for hit in in_one} == {"Summer"}
        plots = fabula.retrieve(QUESTION, aspects=["plot"])
        assert {hit.aspect for hit in plots} <= {"plot", ""}
        low = fabula.retrieve(QUESTION, levels=(0, 0))
        assert {hit.level for hit in low} == {0}
        chunks = fabula.retrieve(QUESTION, kinds=["chunk"])
        assert {hit.kind for hit in chunks} == ({"chunk"} if name != "details" else set())


def test_modes_of_one_kind_find_that_kind() -> None:
    for name, kind in (("naive", "chunk"), ("details", "detail")):
        with Fabula(mode=name) as fabula:
            assert {hit.kind for hit in fabula.retrieve(QUESTION)} == {kind}


def test_hybrid_searches_extracts_without_a_model_only_where_they_are_named() -> None:
    with Fabula(mode="hybrid", top_k=60) as fabula:
        assert {hit.kind for hit in fabula.retrieve(QUESTION)} == {"chunk"}
        assert {hit.kind for hit in fabula.retrieve(QUESTION, kinds=["chunk", "summary"])} == {
            "chunk",
            "summary",
        }
        assert {hit.kind for hit in fabula.retrieve(QUESTION, levels=(1, 9))} == {"summary"}
        plot = fabula.retrieve(QUESTION, aspects=["plot"])
        assert {(hit.kind, hit.aspect) for hit in plot} == {("summary", "plot")}


def test_top_down_keeps_what_its_width_allows() -> None:
    steps = Steps()
    narrow: dict[str, Any] = {"top-down.width": 1, "top-down.depth": 1}
    with Fabula(mode="top-down", top_k=100, **narrow) as fabula:
        hits = fabula.retrieve(QUESTION, path=steps)
        aspects = {hit.aspect for hit in hits if hit.aspect}
        # One top of each aspect, and one step down from all of them.
        assert len(hits) <= len(aspects) + 1


def test_bottom_up_finds_what_covers_the_best_chunks() -> None:
    with Fabula(mode="bottom-up", top_k=60) as fabula:
        found = fabula.retrieve(QUESTION)
        [top] = fabula.retrieve(QUESTION, kinds=["chunk"])[:1]
    assert {"chunk", "detail", "summary"} == {hit.kind for hit in found}
    covering = [hit for hit in found if hit.kind == "summary" and hit.document == top.document]
    assert any(hit.start <= top.start and top.end <= hit.end for hit in covering)


def test_an_unknown_mode_names_the_nearest() -> None:
    with Fabula(mode="top-dwon") as fabula, pytest.raises(SettingsError, match="mean top-down"):
        fabula.retrieve(QUESTION)


def test_another_package_adds_a_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "last_words.py").write_text(
        "from dataclasses import replace\n"
        "def retrieve(question, filters, tools):\n"
        "    hits = tools.nearest(question, replace(filters, kinds=('chunk',)), 50)\n"
        "    return sorted(hits, key=lambda hit: -hit.end)[: tools.k]\n"
    )
    info = tmp_path / "last_words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: last-words\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nlast-words = last_words:retrieve\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    modes.cache_clear()
    try:
        shown = asked("--mode", "last-words", "--json")
    finally:
        modes.cache_clear()
    hits = json.loads(shown.stdout)["rows"]
    assert [hit["end"] for hit in hits] == sorted((hit["end"] for hit in hits), reverse=True)
    sys.modules.pop("last_words")


# What may be done to any mode's hits


@pytest.mark.parametrize("flag", ["--rerank", "--rewrite=queries"])
def test_what_takes_a_model_says_so_where_there_is_none(flag: str) -> None:
    shown = asked(flag, code=1)
    assert "OPENAI_API_KEY" in shown.stderr


def test_other_wordings_are_searched_with_too(model: Endpoint) -> None:
    steps = Steps()
    with Fabula(mode="naive", rewrite="queries") as fabula:
        hits = fabula.retrieve(QUESTION, path=steps)
    names = [step.name for step in steps.root.steps[0].steps]
    assert names == ["rewrite", *["embed", "nearest"] * 4, "fuse"]
    assert len(hits) == 5
    assert model.calls == 1


def test_a_made_up_answer_is_searched_with_instead(model: Endpoint) -> None:
    steps = Steps()
    with Fabula(mode="naive", rewrite="answer") as fabula:
        fabula.retrieve(QUESTION, path=steps)
    names = [step.name for step in steps.root.steps[0].steps]
    assert names == ["rewrite", "embed", "nearest"]
    assert model.calls == 1


def test_the_chat_model_ranks_what_was_found(model: Endpoint) -> None:
    with Fabula(mode="naive", rerank=True) as fabula:
        ranked = fabula.retrieve(QUESTION)
    with Fabula(mode="naive", top_k=20) as fabula:
        found = fabula.retrieve(QUESTION)
    # The tests' model finds the last ones best.
    assert [hit.id for hit in ranked] == [hit.id for hit in reversed(found)][:5]


def test_an_endpoint_that_ranks_is_asked_with_its_own_interface(model: Endpoint) -> None:
    with Fabula(mode="naive", rerank=True, rerank_model="ranker") as fabula:
        hits = fabula.retrieve(QUESTION)
    [body] = model.bodies
    assert (body["model"], body["query"], len(body["documents"])) == ("ranker", QUESTION, 20)
    longest = sorted(map(len, body["documents"]), reverse=True)[:5]
    assert [len(hit.text) for hit in hits] == longest, "the tests' ranker likes long ones"


def test_an_endpoint_that_ranks_is_counted_and_within_the_budget(model: Endpoint) -> None:
    with Fabula(mode="naive", rerank=True, rerank_model="ranker", max_calls=2) as fabula:
        usage = fabula.query(QUESTION).usage
        [body] = [body for body in model.bodies if "documents" in body]
        sent = sum(tokens.count(text) + tokens.count(QUESTION) for text in body["documents"])
        assert usage["rerank"] == Usage(1, sent)
        assert usage["answer"].calls == 1
        with pytest.raises(BudgetSpent, match="max-calls 2"):
            fabula.retrieve(QUESTION)


# The context


@pytest.mark.parametrize("name", MODES)
def test_the_context_is_filled_whatever_finds_it(name: str) -> None:
    with Fabula(mode=name, context_tokens=400, context="passages") as fabula:
        first = fabula.context(QUESTION, fill=False)
        filled = fabula.context(QUESTION)
        hits = fabula.retrieve(QUESTION)
        sentences = fabula.context(QUESTION, context="sentences")
    assert len(hits) == 5, "what is shown stays"
    assert {passage.hit.id for passage in first} <= {hit.id for hit in hits}
    held = [
        sum(tokens.count(passage.text) for passage in context)
        for context in (first, filled, sentences)
    ]
    assert held[0] <= min(held[1:]) <= max(held) <= 400
    if name not in ("details", "top-down"):
        assert min(held[1:]) > 350


def test_details_bring_their_chunks_unless_they_alone_are_asked_for() -> None:
    with Fabula(mode="collapsed", context="passages", context_tokens=200) as fabula:
        found = fabula.retrieve(QUESTION, kinds=("chunk", "detail"))
        brought = fabula.context(QUESTION, kinds=("chunk", "detail"))
        alone = fabula.context(QUESTION, kinds=("detail",))
        as_a_mode = fabula.context(QUESTION, mode="details")
    assert "detail" in {hit.kind for hit in found}
    # What comes last may have had no room for its chunk.
    assert {passage.hit.kind for passage in brought[:-1]} == {"chunk"}
    assert {passage.hit.kind for passage in (*alone, *as_a_mode)} == {"detail"}


def test_the_weight_of_words_is_an_option_of_hybrid() -> None:
    path = Steps()
    with Fabula() as fabula:
        fabula.retrieve(QUESTION, mode="hybrid", path=path)
        kinds, weight = ("chunk", "summary", "detail"), {"word_weight": 0}
        by_cosine = fabula.retrieve(QUESTION, mode="hybrid", kinds=kinds, knobs=weight)
        collapsed = fabula.retrieve(QUESTION, mode="collapsed")
    [retrieved] = path.root.steps
    assert "by scores, words 0.7" in [step.note for step in retrieved.steps], "static vectors"
    assert [hit.id for hit in by_cosine] == [hit.id for hit in collapsed]


@pytest.mark.parametrize("k", [5, 50, 200])
def test_who_asks_for_more_passages_gets_no_worse_context(k: int) -> None:
    """`top_k` at or above what is read used to turn off "a chunk in the place of its detail"."""
    with Fabula(mode="collapsed", context="passages", context_tokens=200) as fabula:
        context = fabula.context(QUESTION, kinds=("chunk", "detail"), k=k)
        usual = fabula.context(QUESTION, kinds=("chunk", "detail"))
    assert {passage.hit.kind for passage in context[:-1]} == {"chunk"}
    assert [passage.text for passage in context] == [passage.text for passage in usual]


# The path


@pytest.mark.parametrize("name", MODES)
def test_the_path_is_told_step_by_step(name: str) -> None:
    body = json.loads(asked("--mode", name, "--json").stdout)
    [retrieve] = body["path"]
    assert (retrieve["step"], retrieve["note"]) == ("retrieve", name)
    last = retrieve["steps"][-1]
    assert [hit["id"] for hit in last["hits"] if hit["kept"]] == [row["id"] for row in body["rows"]]
    assert all(step["seconds"] >= 0 for step in retrieve["steps"])


def test_what_the_budget_drops_is_shown() -> None:
    shown = CliRunner().invoke(
        main, ["query", QUESTION, "--explain", "--context-tokens", "100", "--top-k", "9"]
    )
    assert shown.exit_code == 0, shown.output
    context = shown.output[shown.output.index("context: 100 tokens") :]
    assert "of 50 kept" in context, "reading goes on after the first nine"
    assert "✗" in context and "✓" in context
