"""A collection may be in another graph: a table of the settings names its server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import run
from database import connect, cypher, empty
from fabula import App
from fabula.config.settings import Settings
from fabula.errors import SettingsError
from fabula.server import Address
from fabula.server.private import PrivateServer
from served import served
from stories import harbour_story

pytestmark = pytest.mark.own_server


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateServer]:
    server = PrivateServer(tmp_path_factory.mktemp("other"), "256m", "64m")
    yield server
    server.destroy()


@pytest.fixture
def second(other: PrivateServer, graph_url: str, monkeypatch: pytest.MonkeyPatch) -> Address:
    """The server of the collection named second; all others are at that of NEO4J_URI."""
    address = other.start()
    empty(address)
    place = {"neo4j_uri": address.uri, "neo4j_password": address.password}
    monkeypatch.setenv("FABULA_COLLECTIONS", json.dumps({"second": place}))
    return address


def ingest(folder: Path, collection: str, word: str = "slept") -> None:
    book = folder / f"{collection}.txt"
    book.write_text(f"Title: {collection.title()}\n\n{harbour_story(word, chapters=1)}")
    run("ingest", book, "--collection", collection)


def test_a_collection_is_where_its_table_says(
    second: Address, address: Address, tmp_path: Path
) -> None:
    ingest(tmp_path, "first")
    ingest(tmp_path, "second")
    titles = "MATCH (d:Document) RETURN d.title AS title"
    for server, title in ((address, "First"), (second, "Second")):
        with connect(server) as store:
            assert cypher(store, titles) == [{"title": title}]
    listed = json.loads(run("collections", "--json").stdout)
    assert [(each["name"], each["documents"]) for each in listed["rows"]] == [
        ("first", 1),
        ("second", 1),
    ]
    assert "Second" in run("query", "Who slept?", "--collection", "second").stdout
    assert "Second" in run("cypher", "-e", titles, "--collection", "second").stdout
    assert "no error" in run("check", "--all").stdout.lower()
    assert second.password not in run("settings").stdout + run("doctor").stdout
    run("export", "--all", "--out", tmp_path / "all.jsonl")
    assert "Second" not in (tmp_path / "all.jsonl").read_text()


def ask(words: tuple[str, ...]) -> Any:
    """The answer; a score depends on the order in which an index adds numbers up."""
    return json.loads(run(*words).stdout, parse_float=lambda number: round(float(number), 9))


def test_a_collection_is_brought_to_another_server_by_two_commands(
    second: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patched:
        patched.delenv("FABULA_COLLECTIONS")
        ingest(tmp_path, "second")
        run("export", "--whole", "--collection", "second", "--out", tmp_path / "second.jsonl")
        command = ("query", "Who slept?", "--collection", "second", "--json")
        answer = ask(command)
    assert run("query", "Who slept?", "--collection", "second", code=1).output
    run("import", tmp_path / "second.jsonl")
    moved = ask(command)
    assert (moved["answer"], moved["context"]) == (answer["answer"], answer["context"])
    assert "no error" in run("check", "--collection", "second").stdout.lower()


def test_a_question_over_collections_does_without_a_server_that_is_down(
    other: PrivateServer, second: Address, tmp_path: Path
) -> None:
    ingest(tmp_path, "first")
    ingest(tmp_path, "second", "slept and danced")
    command = ("search-across", "Who slept?")
    answered = ("query", "Who slept?", "--across", "first, second")
    answer = json.loads(run(*answered, "--json").stdout)
    assert (answer["collections"], answer["left_out"]) == (["first", "second"], {})
    assert {passage["collection"] for passage in answer["context"]} == {"first", "second"}
    output = run(*answered).stdout
    assert "first · First · " in output
    assert "second · Second · " in output
    # A number opens the passage in its own collection.
    opened = {run("read", str(number)).stdout for number in (1, 2)}
    assert sum("slept and danced" in text for text in opened) == 1
    kept = json.loads(run("history", "list", "--json").stdout)[-1]
    assert kept["across"] == "first,second"
    assert run("history", "repeat", str(kept["number"])).stdout == output
    assert "Second" in run(*answered, "--markdown").stdout
    for flag in ("--explain", "--dry-run"):
        assert "is about one collection" in run(*answered, flag, code=2).output
    found = json.loads(run(*command, "--json").stdout)
    assert {hit["collection"] for hit in found["rows"][:2]} == {"first", "second"}
    assert {hit["collection"] for hit in found["rows"]} == {"first", "second"}
    assert found["left_out"] == {}
    assert "second · " in run(*command).stdout
    with App() as app, served(app) as it:
        client = it.client()
        assert client.get("/api/v1/collections/second").status_code == 200
        other.stop()
        down = "The server of collection 'second' can't be used: No Neo4j answers at"
        found = json.loads(run(*command, "--json").stdout)
        assert {hit["collection"] for hit in found["rows"]} == {"first"}
        answer = json.loads(run(*answered, "--json").stdout)
        assert answer["collections"] == ["first"]
        assert down in answer["left_out"]["second"]
        alone = run("query", "Who slept?", "--collection", "second", code=1).output
        assert down in " ".join(alone.split())
        assert "First" in run("list", "--all").stdout
        # A service goes on for all other collections.
        assert client.get("/readyz").json() == {"status": "ready"}
        listed = client.get("/api/v1/collections").json()["rows"]
        assert [each["name"] for each in listed] == ["first"]
        asked_of = {"question": "Who slept?", "collections": ["first", "second"]}
        both = client.post("/api/v1/ask", json=asked_of).json()
        assert both["left_out"] == {"second": "Its Neo4j server does not answer."}
        question = {"question": "Who slept?"}
        refused = client.post("/api/v1/collections/second/ask", json=question)
        assert refused.status_code == 503
        assert second.password not in refused.text


def test_another_database_needs_a_server_that_has_several() -> None:
    settings = Settings(collections={"novels": {"neo4j_database": "novels"}})
    with pytest.raises(SettingsError, match="has no neo4j_uri"):
        settings.for_collection("novels")
    named = settings.model_copy(update={"neo4j_uri": "neo4j://library.example"})
    assert named.for_collection("novels").neo4j_database == "novels"
    assert named.for_collection("novels").neo4j_uri == "neo4j://library.example"
