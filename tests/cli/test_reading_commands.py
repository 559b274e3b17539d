"""Commands that only read: one library for all of them, offline, on the tests' Neo4j."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cases import for_each
from commands import run
from database import name_server
from endpoint import Endpoint
from fabula import Fabula
from fabula.models import NO_ANSWER
from fabula.server import Address
from isolation import shared_graph
from stories import LIGHTHOUSE

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("reading")
    (folder / "lighthouse.txt").write_text(LIGHTHOUSE)
    with shared_graph(address, folder), Fabula() as fabula:
        [outcome] = fabula.ingest(folder / "lighthouse.txt")
    assert outcome.status == "added"


@pytest.fixture
def ingested(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    name_server(monkeypatch, address)


@pytest.mark.journey
def test_query_answers_with_its_sources(ingested: None) -> None:
    result = run("query", "What broke the great lens?")
    assert "storm broke the great lens" in result.stdout
    assert "[1] The Lighthouse · CHAPTER II · characters 242-447" in result.stdout


def test_an_offline_answer_is_the_closest_passages_as_the_text_has_them(ingested: None) -> None:
    command = ("query", "What broke the great lens?")
    found = json.loads(run(*command, "--json").stdout)
    shown = run(*command).stdout
    assert found["quotes"]
    places = [shown.index(quote["text"].strip()) for quote in found["quotes"]]
    assert places == sorted(places)
    for quote in found["quotes"]:
        assert quote["kind"] == "chunk"
        assert f"characters {quote['start']}-{quote['end']}" in shown
        assert quote["text"].strip() in found["answer"]
    matching = [quote["text"][a:b] for quote in found["quotes"] for a, b in quote["matches"]]
    assert any("lens" in sentence for sentence in matching)
    assert "as the book prints them. `fabula read 1` opens one" in shown
    assert shown.rstrip().endswith("`--show-context` prints all.")


def test_an_aspects_summaries_lead_offline_to_the_passages_that_they_rest_on(
    ingested: None,
) -> None:
    found = json.loads(run("query", "the lens", "--aspect", "plot", "--json").stdout)
    assert {quote["kind"] for quote in found["quotes"]} == {"chunk"}
    # What is quoted is part of the context, with its number; all else of it has the aspect.
    numbers = {passage["number"]: passage["kind"] for passage in found["context"]}
    quoted = {quote["number"] for quote in found["quotes"]}
    assert {numbers[number] for number in quoted} == {"chunk"}
    assert {kind for number, kind in numbers.items() if number not in quoted} == {"summary"}


def test_a_question_the_context_does_not_answer_is_said_to_be_so(ingested: None) -> None:
    assert NO_ANSWER in run("query", "Who is Ahab's harpooner Queequeg?").stdout


def test_the_context_can_be_shown(ingested: None) -> None:
    result = run("query", "What broke the great lens?", "--show-context")
    assert result.stdout.index("[1] The Lighthouse") < result.stdout.index("The captain")


@for_each(
    ("flags", "kinds", "aspects"),
    [
        (["--kind", "detail"], {"detail"}, {""}),
        (["--aspect", "plot"], {"summary"}, {"plot"}),
        (["--aspect", "plot", "--aspect", "theme"], {"summary"}, {"plot", "theme"}),
        (["--level", "0"], {"chunk", "detail"}, {""}),
        (["--level", "1-5", "--aspect", "style"], {"summary"}, {"style"}),
        (["--document", "lighthouse", "--kind", "chunk"], {"chunk"}, {""}),
    ],
)
def test_filters(ingested: None, flags: list[str], kinds: set[str], aspects: set[str]) -> None:
    command = ["search", "Elias and the light", "--json", "--top-k", "30", *flags]
    hits = json.loads(run(*command).stdout)["rows"]
    assert {hit["kind"] for hit in hits} == kinds
    assert {hit["aspect"] for hit in hits} == aspects


def test_show_tells_trees_and_cost(ingested: None) -> None:
    shown = run("show", "The Lighthouse").stdout
    for aspect in ("plot", "character", "setting", "point of view", "style", "theme"):
        assert aspect in shown
    assert "extraction, offline" in shown
    assert "author Jane Doe" in shown
    layers = json.loads(run("show", "lighthouse.txt", "--json").stdout)["layers"]
    assert (layers[0]["kind"], layers[0]["aspect"], layers[0]["level"]) == ("chunk", "", 0)


def test_a_name_that_is_not_there_is_one_line(ingested: None) -> None:
    result = run("show", "Moby Dick", code=1)
    assert result.stderr.strip() == (
        "Error: There is no document 'Moby Dick' in collection 'default'. There are: "
        "The Lighthouse. `fabula list` shows them."
    )


def test_list_and_show_tell_what_is_stale_and_why(ingested: None) -> None:
    other = ("--set", "aspects.levels=2", "--set", "aspects.seed=3")
    assert "is stale" not in run("list").stdout
    listed = run("list", *other).stdout
    assert "aspects is stale in 1 document" in listed
    assert "what differs: settings.levels, settings.seed." in listed
    assert "fabula build GRAPH" in listed
    [row] = json.loads(run("list", "--json", *other).stdout)["rows"]
    assert row["stale"] == {"aspects": ["settings.levels", "settings.seed"]}
    entry = json.loads(run("show", "lighthouse", "--json", *other).stdout)
    assert entry["stale"] == row["stale"]
    assert entry["graphs"]["aspects"]["made_from"]["settings"]["levels"] == 5
    assert "what differs now: settings.levels" in run("show", "lighthouse", *other).stdout


@pytest.mark.journey
def test_doctor_finds_all_well(ingested: None) -> None:
    result = run("doctor")
    lines = result.stdout.splitlines()
    assert all(line.startswith("ok") for line in lines)
    for name in ("Python", "endpoint", "Neo4j", "indexes", "embeddings", "model"):
        assert any(line.split()[1] == name for line in lines), name


def test_doctor_names_what_is_ill_with_the_cure(
    ingested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(models=["good"]) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        result = run("doctor", "--model", "absent", code=1)
    ill = [line for line in result.stdout.splitlines() if line.startswith("BAD")]
    assert any("FABULA_MODEL" in line for line in ill)
    assert "fabula reembed" in result.stdout, "static vectors can be asked, and better ones be had"


def test_a_question_imports_little(ingested: None) -> None:
    """A question in a fresh process takes longer to import than to answer: 901 modules before."""
    code = (
        "import sys; from fabula.cli import main\n"
        "main(['query', 'Who keeps the light?'], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    modules = result.stdout.splitlines()[-1].split()
    # Neo4j's driver with numpy takes 370 of them, click, pydantic and the tokenizers 160, the lock
    # of the history 21. Each graph is declared by two at least: itself and its options. The
    # question is an operation (5 with who asks it), and three rooms have folders of their own; what
    # is opened for models, the space that they embed in, and metadata, are three more.
    assert len(modules) < 719
    packages = {name.partition(".")[0] for name in modules}
    assert not packages & {
        *("rich", "openai", "rapidfuzz", "scipy", "sklearn", "lxml", "psutil", "opentelemetry")
    }
    rooms = {name for name in modules if name.startswith("fabula.")}
    assert not rooms & {f"fabula.{room}" for room in ("load", "build", "export", "server.private")}
    assert not {name for name in rooms if name.endswith((".build", ".mapping"))}
