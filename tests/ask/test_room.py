"""How much of the text an answer is given, in what order, and what a small window does to it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from database import connect, name_server, wipe
from endpoint import Endpoint
from fabula import Fabula
from fabula.ask.context_budget import ROOMY_TOKENS
from fabula.ask.query import Query
from fabula.cli import main
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import ModelError
from fabula.graph.trace import Trace
from fabula.server import Address
from fabula.text import tokens

QUESTION = "Where did Anna walk in the long winter?"
SMALL = 4096


def book(days: int) -> str:
    """A long story in two chapters, whose days differ."""
    words = ("mill", "river", "church", "market", "forest", "bridge", "tower", "garden")
    lines = [
        f"On day {day} of the long winter Anna walked to the {words[day % 8]} and met {day} men. "
        f"They spoke of the {words[(day * 3 + 1) % 8]}, and of how cold day {day} was."
        for day in range(1, days)
    ]
    half = days // 2
    return (
        "CHAPTER I\n\n"
        + "\n\n".join(lines[:half])
        + "\n\nCHAPTER II\n\n"
        + "\n\n".join(lines[half:])
    )


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Collections made without a model: a long book, two short ones, and one with summaries."""
    folder = tmp_path_factory.mktemp("books")
    (folder / "long.txt").write_text(book(170))
    two = folder / "two"
    two.mkdir()
    (two / "one.txt").write_text(book(12))
    (two / "other.txt").write_text(book(12).replace("winter", "winter of war"))
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        reach_graph(address, patch)
        shared: dict[str, Any] = {"model": OFFLINE, "cache": False, "chunk_tokens": 64}
        with Fabula(collection="long", graphs=(), **shared) as fabula:
            fabula.ingest(folder / "long.txt")
        with Fabula(collection="two", graphs=(), **shared) as fabula:
            fabula.ingest(two)
        shared["aspects.cluster_size"] = 4
        with Fabula(collection="summaries", **shared) as fabula:
            fabula.ingest(two / "one.txt")
        yield


@pytest.fixture(autouse=True)
def reached(
    books: None, address: Address, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names the tests' Neo4j, the model endpoint, and the long book."""
    reach_graph(address, monkeypatch)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("FABULA_MODEL", "m")
    monkeypatch.setenv("FABULA_COLLECTION", "long")
    monkeypatch.setenv("FABULA_CACHE", "off")


def reach_graph(address: Address, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)
    patch.setenv("FABULA_EMBEDDING_MODEL", STATIC)


def prompt_of(endpoint: Endpoint) -> str:
    """The last prompt of an answer that was sent."""
    sent: list[str] = [
        body["messages"][-1]["content"] for body in endpoint.bodies if "messages" in body
    ]
    return next(text for text in reversed(sent) if "<question>" in text)


def numbers_in(prompt: str) -> list[int]:
    fenced = prompt.partition("<passages>")[2].partition("</passages>")[0]
    return [int(number) for number in re.findall(r"(?m)^\[(\d+)\]", fenced)]


def held(fabula: Fabula, **options: Any) -> int:
    return sum(tokens.count(p.text) for p in fabula.context(QUESTION, **options))


def test_what_a_question_is_given_by_default() -> None:
    offline, online = Settings.read(model="offline"), Settings.read(base_url="http://a/v1")
    query = Query.of("Who?", offline)
    assert (query.context, query.order, query.context_tokens) == ("sentences", "rank", 1700)
    query = Query.of("Who?", online)
    assert (query.context, query.order, query.context_tokens) == ("auto", "text", "auto")
    published = Query.of("Who?", Settings.read(base_url="http://a/v1", preset="published"))
    assert (published.order, published.context_tokens, published.brief) == ("rank", 1700, False)
    chosen = Query.of("Who?", online, order="rank", context_tokens=900)
    assert (chosen.order, chosen.context_tokens) == ("rank", 900)


@pytest.mark.parametrize(
    "name", ["naive", "thesis", "raptor", "raptor-published", "hippo-published"]
)
def test_a_system_as_it_was_published_reads_the_best_first(name: str) -> None:
    settings = Settings.read(base_url="http://a/v1", preset=name)
    assert settings.order == "rank"
    assert isinstance(settings.context_tokens, int)


def test_room_follows_the_window() -> None:
    with Fabula() as fabula:
        unknown = held(fabula)
    with Fabula(model_window=32_000) as fabula:
        roomy = held(fabula)
        fixed = held(fabula, context_tokens=800)
    with Fabula(model_window=SMALL) as fabula:
        small = held(fabula)
        [*_, passage] = fabula.context(QUESTION, context_tokens=4000)
        assert "[...]" not in passage.text, "whole passages, as there is room for them"
        assert passage.hit.tokens <= tokens.count(passage.text) + 64
    assert 1500 < unknown <= 1700
    assert 5500 < roomy <= ROOMY_TOKENS
    assert 1700 < small < 0.75 * (SMALL - 500)
    assert fixed <= 800


def test_a_model_is_given_passages_in_the_order_of_the_text_with_their_places(
    endpoint: Endpoint,
) -> None:
    with Fabula() as fabula:
        answer = fabula.query(QUESTION, context="passages")
        starts = [passage.hit.start for passage in answer.context]
        assert starts == sorted(starts)
        assert [p.number for p in answer.context] == [*range(1, len(starts) + 1)]
        prompt = prompt_of(endpoint)
        assert numbers_in(prompt) == [passage.number for passage in answer.context]
        assert re.search(r"(?m)^\[1\] CHAPTER I\nOn day", prompt)
        assert "[1] long" not in prompt, "one document alone needs no title"
        for passage in answer.context:
            [(start, end)] = passage.spans[:1]
            assert passage.text.startswith(passage.hit.text[start:end][:40])
        fabula.query(QUESTION, context="passages", order="rank")
        assert "most relevant ones come first" in prompt_of(endpoint)


def test_titles_are_there_where_several_documents_are_read(
    endpoint: Endpoint,
) -> None:
    with Fabula(collection="two") as fabula:
        fabula.query(QUESTION)
    prompt = prompt_of(endpoint)
    assert re.search(r"(?m)^\[1\] (?:One|Other) · CHAPTER I", prompt)


def refuse_above(window: int, message: str) -> Any:
    """Refuse prompts as a server with a small window does."""

    def object_to(body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        if "messages" not in body:
            return None
        size = sum(tokens.count(part["content"]) for part in body["messages"])
        if size + body.get("max_tokens", 0) <= window:
            return None
        error = {"message": message, "type": "exceed_context_size_error", "code": 400}
        return 400, {"error": error}

    return object_to


@pytest.mark.parametrize(
    "message",
    [
        f"the request exceeds the available context size ({SMALL} tokens), try increasing it",
        "the prompt is too long: it exceeds the context window of this model",
    ],
)
def test_passages_too_long_for_the_model_are_shortened_and_that_is_said(
    endpoint: Endpoint,
    message: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint.objection = refuse_above(SMALL, message)
    trace = Trace()
    with Fabula(model_window=32_000) as fabula, caplog.at_level(logging.WARNING):
        stream = fabula.stream(QUESTION, path=trace)
        shown = {passage.number: passage.text for passage in stream.context}
        answer = stream.answer
        assert answer.text and answer.cited
        kept = {passage.number: passage.text for passage in answer.context}
        assert 0 < len(kept) < len(shown)
        assert kept.items() <= shown.items(), "a number that was shown keeps its passage"
        assert numbers_in(prompt_of(endpoint)) == sorted(kept)
        assert set(answer.cited) <= kept.keys()
        assert "FABULA_MODEL_WINDOW" in caplog.text
        assert "shorten" in [step.name for step in trace.root.steps]
        refused = len(endpoint.bodies)
        fabula.query(QUESTION + " And why?")
        assert len(endpoint.bodies) <= refused + 2, "what fits was learned"


def test_a_refusal_of_everything_is_an_error(
    endpoint: Endpoint,
) -> None:
    endpoint.objection = refuse_above(10, "the prompt is too long for the context window")
    with Fabula() as fabula, pytest.raises(ModelError, match="too long"):
        fabula.query(QUESTION)


def test_a_brief_of_the_whole_book_comes_first_if_it_is_asked_for(
    endpoint: Endpoint,
) -> None:
    with Fabula(collection="summaries") as fabula:
        without = fabula.query(QUESTION)
        assert without.brief == ""
        assert "<overview>" not in prompt_of(endpoint)
        answer = fabula.query(QUESTION, brief=True)
        prompt = prompt_of(endpoint)
        overview = prompt.partition("<overview>\n")[2].partition("\n</overview>")[0]
        tops = fabula.cypher(
            "MATCH (s:Passage {collection: $collection, kind: 'summary'}) "
            "WHERE NOT EXISTS { (s)<-[:SUMMARIZES]-() } RETURN s.text AS text"
        )
        assert overview == answer.brief
        assert 0 < tokens.count(answer.brief) <= 300
        assert any(answer.brief.startswith(row["text"][:40]) for row in tops)
        assert prompt.index("<overview>") < prompt.index("<passages>")
    assert "brief" not in json.dumps([passage.hit.kind for passage in answer.context])


def test_without_summaries_there_is_no_brief(
    endpoint: Endpoint,
) -> None:
    with Fabula() as fabula:
        assert fabula.query(QUESTION, brief=True).brief == ""
    assert "<overview>" not in prompt_of(endpoint)


def test_the_command_line_has_the_options(
    endpoint: Endpoint,
) -> None:
    words = ("query", QUESTION, "--order", "rank", "--context-tokens", "auto", "--brief")
    shown = CliRunner().invoke(main, [*words, "--model-window", "32000", "--explain"])
    assert shown.exit_code == 0, shown.output
    assert "room: 5700 tokens" in shown.output or "room: 6000 tokens" in shown.output
    assert "passages, by rank" in shown.output
    wrong = CliRunner().invoke(main, ["query", QUESTION, "--context-tokens", "3"])
    assert wrong.exit_code != 0
