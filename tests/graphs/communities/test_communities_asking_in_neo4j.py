"""Reports asked, on a real Neo4j: found, put together, and cited down to the book's characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from database import connect, name_server, wipe
from endpoint import Endpoint, listed
from fabula import Answer, Fabula
from fabula.cli import main
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
from fabula.graphs.communities.modes import MODES
from fabula.server import Address

QUESTION = "Who gave Boris the lamp of the mill?"
STORY = {
    "I": "Anna lived at the mill with her brother Boris. Anna and Boris kept the mill going.",
    "II": "Clara gave the lamp to Boris at the mill. Anna saw Clara and Boris with the lamp.",
    "III": "Dmitri, the pilot, took Edgar out of the harbour. Dmitri and Edgar met Fedor there.",
    "IV": "Edgar and Fedor froze in the harbour. Fedor wrote to Dmitri of the frozen harbour.",
    "V": "Anna wrote to Dmitri of the lamp. Dmitri read the letter in the tower.",
}


def write(folder: Path, name: str, story: dict[str, str]) -> Path:
    chapters = "\n\n".join(f"CHAPTER {number}\n\n{text}" for number, text in story.items())
    path = folder / f"{name}.txt"
    path.write_text(f"Title: {name.title()}\nLanguage: en\n\n{chapters}\n")
    return path


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A book with communities, one with a cast alone, and one that is but text."""
    folder = tmp_path_factory.mktemp("books")
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        _reached(address, patch)
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        with (
            Endpoint() as endpoint,
            Fabula(
                graphs=("communities",), chunk_tokens=24, cache=False, **_models(endpoint)
            ) as fabula,
        ):
            [outcome] = fabula.ingest(write(folder, "mill", STORY))
            assert outcome.error is None
        with Fabula(collection="bare", graphs=(), chunk_tokens=24, cache=False) as fabula:
            fabula.ingest(write(folder, "bare", STORY))
            fabula.ingest(write(folder, "cast", STORY | {"VI": "Rain fell."}), graphs="entities")
        yield


@pytest.fixture(autouse=True)
def reached(books: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' Neo4j."""
    _reached(address, monkeypatch)


def _models(endpoint: Endpoint) -> dict[str, Any]:
    """A chat model that writes reports, beside static embeddings."""
    return {"base_url": endpoint.url, "model": "m", "embedding_model": "wordllama-256"}


def _reached(address: Address, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)
    patch.setenv("FABULA_CHUNK_TOKENS", "24")
    patch.setenv("FABULA_CACHE", "false")


def notes(steps: list[TraceStep]) -> list[str]:
    return [note for step in steps for note in (f"{step.name}: {step.note}", *notes(step.steps))]


def texts(answer: Answer, fabula: Fabula) -> dict[int, str]:
    """What the book says where the citations lead, by the printed characters."""
    found = {}
    for number in answer.cited:
        [passage] = [one for one in answer.context if one.number == number]
        assert passage.hit.kind == "chunk"
        hit = passage.hit
        read = fabula.read(hit.document, f"{hit.start}-{hit.end}").lines
        [lines] = [one for one in read if one.start <= hit.start < one.end]
        start, end = hit.start - lines.start, hit.end - lines.start
        found[number] = lines.text[start:end]
        assert found[number] == hit.text
    return found


def test_without_a_model_global_ranks_reports_and_quotes_what_they_rest_on() -> None:
    steps = Steps()
    with Fabula(mode="global", top_k=9) as fabula:
        hits = fabula.retrieve(QUESTION, path=steps)
        stretches = fabula.sources(hits)
        answer = fabula.query(QUESTION)
    assert {hit.kind for hit in hits} == {"report"}
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
    assert hits[0].text.startswith("Anna and Boris and Clara: ")
    assert all(stretches[hit.id] for hit in hits), "all rest on characters of the book"
    assert answer.quotes
    assert {quote.hit.kind for quote in answer.quotes} == {"chunk"}
    assert answer.usage == {}
    assert "reports: 2" in notes(steps.root.steps)


@pytest.mark.journey
@pytest.mark.parametrize("name", MODES)
def test_an_answer_cites_the_book_and_comes_again_the_same(name: str, model: Endpoint) -> None:
    with Fabula(mode=name) as fabula:
        answer = fabula.query(QUESTION)
        again = fabula.query(QUESTION)
        cited = texts(answer, fabula)
    assert any("gave the lamp to Boris" in text for text in cited.values())
    assert (again.text, again.context) == (answer.text, answer.context)
    assert [passage.number for passage in answer.context] == list(range(1, len(answer.context) + 1))


@pytest.mark.parametrize(
    ("name", "knobs", "calls"),
    [
        ("global", {"batch_tokens": 1}, {"map": 2, "reduce": 1}),
        ("dynamic", {}, {"rate": 2, "map": 1, "reduce": 1}),
        ("drift", {"calls": 3, "rounds": 1}, {"primer": 1 + 2, "follow-ups": 3, "reduce": 1}),
    ],
)
def test_a_mode_makes_as_many_calls_as_it_says(
    name: str, knobs: dict[str, int], calls: dict[str, int], model: Endpoint
) -> None:
    with Fabula(mode=name) as fabula:
        assert len(fabula.retrieve(QUESTION, kinds=["report"] if name != "drift" else ())) >= 2
        answer = fabula.query(QUESTION, knobs=knobs)
    assert {step: usage.calls for step, usage in answer.usage.items()} == calls


def test_a_fault_of_the_endpoint_is_asked_again(model: Endpoint) -> None:
    model.plan = listed("nonsense")
    with Fabula(mode="global") as fabula:
        answer = fabula.query(QUESTION)
    assert answer.usage["map"].faults == 1
    assert answer.cited


@pytest.mark.parametrize("name", MODES)
def test_a_mode_stays_within_the_filters(name: str) -> None:
    with Fabula(mode=name, top_k=9) as fabula:
        chunks = fabula.retrieve(QUESTION, kinds=["chunk"])
        above = fabula.retrieve(QUESTION, levels=(7, 9))
    assert {hit.kind for hit in chunks} == {"chunk"}
    # `drift` ranks chunks; the findings of the best report rest on two chapters.
    first = [chunk.text.split()[1] for chunk in chunks[:2]]
    assert first[0] == "II" if name == "drift" else {*first} == {"I", "II"}
    assert above == []


@pytest.mark.parametrize("name", MODES)
def test_where_there_are_no_reports_the_path_says_what_was_asked_instead(name: str) -> None:
    for document, fallen in (("Cast", 1), ("Bare", 2)):
        steps = Steps()
        with Fabula(mode=name, collection="bare", top_k=20) as fabula:
            hits = fabula.retrieve(QUESTION, document=document, path=steps)
            answer = fabula.query(QUESTION, document=document)
        assert {hit.kind for hit in hits} == {"chunk"}
        assert answer.quotes
        told = [note for note in notes(steps.root.steps) if note.startswith("fall back")]
        assert len(told) == fallen
        assert "there are no reports" in told[0]


def test_local_reads_the_reports_of_its_entities_where_a_model_answers(model: Endpoint) -> None:
    with Fabula(mode="local", top_k=20) as fabula:
        hits = fabula.retrieve(QUESTION, knobs={"entities": 1})
        none = fabula.retrieve(QUESTION, knobs={"report_share": 0})
    kinds = list(dict.fromkeys(hit.kind for hit in hits))
    assert kinds == ["report", "entity", "relation", "chunk"]
    assert hits[0].text.startswith("Anna and Boris and Clara: ")
    assert "report" not in {hit.kind for hit in none}


def test_local_without_a_model_reads_no_reports() -> None:
    with Fabula(mode="local", top_k=20) as fabula:
        hits = fabula.retrieve(QUESTION)
    assert "report" not in {hit.kind for hit in hits}


def test_the_command_line_shows_the_way_of_an_answer(model: Endpoint) -> None:
    command = ["query", QUESTION, "--mode", "global", "--explain", "--json"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert body["answer"]
    assert {"reports", "map", "reduce"} <= {step["step"] for step in body["path"]}


def test_the_collections_own_reports_are_asked_and_say_that_documents_changed(
    tmp_path: Path, model: Endpoint
) -> None:
    def ask() -> tuple[Answer, str]:
        steps = Steps()
        with Fabula(mode="global", collection="bare") as fabula:
            answer = fabula.stream(QUESTION, knobs={"scope": "collection"}, path=steps).answer
            assert texts(answer, fabula)
        [told] = {note for note in notes(steps.root.steps) if note.startswith("reports: ")}
        return answer, told

    with Fabula(collection="bare", graphs=()) as fabula:
        [outcome] = fabula.build("collection_communities")
        assert outcome.error is None
    answer, told = ask()
    assert {hit.kind for hit in answer.hits} == {"report"}
    assert {hit.title for hit in answer.hits} == {"Cast"}
    assert told == "reports: 2"
    with Fabula(collection="bare", model="offline", graphs=()) as fabula:
        fabula.ingest(write(tmp_path, "later", {"I": STORY["III"]}), graphs="entities")
    again, told = ask()
    assert again.text == answer.text
    assert told.endswith(
        "documents changed since they were made: run `fabula build collection_communities`"
    )
