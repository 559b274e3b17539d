"""The command line over two Neo4j servers; one of them may be down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner, Result
from mcp import Client
from mcp.types import TextContent

from database import connect, cypher
from endpoint import Endpoint
from fabula import App
from fabula.app import resources, server_pool
from fabula.cli import main
from fabula.cli.commands.db import list_elsewhere
from fabula.errors import FabulaError, StoreError
from fabula.server.private import PrivateServer
from fabula.service.http.dependencies import Caller
from fabula.service.mcp import make_mcp
from fabula.store import Store
from served import Served, served
from stories import harbour_story
from two_servers import SHELF, TwoServers, start_two
from worker_runs import until

pytestmark = pytest.mark.own_server
BASE = "/api/v1"


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[TwoServers, list[PrivateServer]]]:
    two, servers = start_two(tmp_path_factory.mktemp("two"))
    yield two, servers
    for server in servers:
        server.destroy()


@pytest.fixture(scope="module")
def running(servers: tuple[TwoServers, list[PrivateServer]]) -> tuple[TwoServers, PrivateServer]:
    """The servers, and the one that is not the home server."""
    return servers[0], servers[1][1]


@pytest.fixture
def two(running: tuple[TwoServers, PrivateServer], monkeypatch: pytest.MonkeyPatch) -> TwoServers:
    two, _ = running
    two.wipe()
    two.name_in(monkeypatch)
    return two


def run(*words: str | Path, code: int = 0, input: str = "") -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words], input=input)
    assert result.exit_code == code, result.output
    return result


def ingest(folder: Path, collection: str, *more: str, word: str = "slept") -> None:
    book = folder / f"{collection}.txt"
    book.write_text(f"Title: {collection.title()}\n\n{harbour_story(word, chapters=1)}")
    run("ingest", book, "--collection", collection, *more)


def test_a_server_is_added_listed_and_removed(two: TwoServers) -> None:
    added = run("servers", "add", SHELF, two.other.uri).output
    assert f"Added {SHELF}: {two.other.uri}, Neo4j 20" in added
    assert "Next: fabula collections move COLLECTION --to server2" in added
    states = json.loads(run("servers", "--json").stdout)
    assert [(state["name"], state["uri"], state["problem"]) for state in states] == [
        ("home", two.home.uri, ""),
        (SHELF, two.other.uri, ""),
    ]
    assert all("community" in state["version"] for state in states)
    with connect(two.home) as store:
        [row] = cypher(store, "MATCH (n:Server) RETURN properties(n) AS properties")
    assert two.other.password not in str(row)
    assert "server" in run("servers").stdout.splitlines()[0]
    assert "Removed server2" in run("servers", "remove", SHELF).output
    assert len(json.loads(run("servers", "--json").stdout)) == 1
    assert "There is no server 'server2'" in run("servers", "remove", SHELF, code=1).output


def test_a_server_that_cannot_be_used_is_not_added(
    two: TwoServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, uri, said in (
        ("Shelf 2", two.other.uri, "can't be the name of a server"),
        ("home", two.other.uri, "can't be the name of a server"),
        (SHELF, "http://localhost:1", "is not an address of a Neo4j server"),
        (SHELF, "bolt://127.0.0.1:1", "no Neo4j answers at bolt://127.0.0.1:1. Check the address"),
        (SHELF, "bolt://me:pa55@127.0.0.1:1", "was given with a user or a password"),
    ):
        output = run("servers", "add", name, uri, code=1).output
        assert said in output
        assert "pa55" not in output
    monkeypatch.setenv("FABULA_SERVER_PASSWORDS", json.dumps({"same": two.home.password}))
    said = run("servers", "add", "same", two.home.uri, code=1).output
    assert "This database is that of the home server already." in said
    monkeypatch.setenv("FABULA_SERVER_PASSWORDS", json.dumps({SHELF: "wrong"}))
    said = run("servers", "add", SHELF, two.other.uri, code=1).output
    assert "refuses user 'neo4j' with this password" in said
    assert "NEO4J_URI" not in said
    assert [state["name"] for state in json.loads(run("servers", "--json").stdout)] == ["home"]


def test_a_password_may_come_from_a_pipe_and_is_not_kept(
    two: TwoServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FABULA_SERVER_PASSWORDS")
    monkeypatch.setattr("fabula.cli.commands.servers.keyring_name", lambda: "")
    added = run("servers", "add", SHELF, two.other.uri, input=f"{two.other.password}\n").output
    assert "set FABULA_SERVER_PASSWORDS=" in added
    assert two.other.password not in added
    said = run("servers").stderr
    assert "Server 'server2' can't be used" in said


def test_a_new_collection_is_made_on_the_server_that_is_named(
    two: TwoServers, tmp_path: Path
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    ingest(tmp_path, "first")
    ingest(tmp_path, "second", "--server", SHELF)
    ingest(tmp_path, "second")
    said = run("ingest", tmp_path / "first.txt", "--collection", "third", "--server", "x", code=1)
    assert "There is no server 'x'" in said.output
    with connect(two.home) as home, connect(two.other) as other:
        assert home.collections() == ["first"]
        assert other.collections() == ["second"]
        assert_closed(home, "second")
    rows = json.loads(run("collections", "--json").stdout)
    assert [(row["collection"], row["server"], row["documents"]) for row in rows] == [
        ("first", "home", 1),
        ("second", SHELF, 1),
    ]
    assert all(row["passages"] > 0 for row in rows)
    assert {entry["collection"] for entry in json.loads(run("list", "--all", "--json").stdout)} == {
        "first",
        "second",
    }
    assert "1 more in other collections" in run("list", "--collection", "first").output
    assert "Collection second:\nNo errors" in run("check", "--all").output
    assert "harbour" in run("query", "Who slept?", "--collection", "second").output.lower()
    table = run("cypher", "outline", "--collection", "second", "--json").stdout
    assert json.loads(table)
    run("export", "--all", "--out", tmp_path / "all.jsonl")
    written = (tmp_path / "all.jsonl").read_text().splitlines()
    exported = [json.loads(line) for line in written]
    assert {
        row["properties"]["collection"] for row in exported if "Document" in row.get("labels", ())
    } == {"first", "second"}
    run("remove", "Second", "--collection", "second", "--yes")
    ingest(tmp_path, "second")
    with connect(two.home) as home:
        assert home.collections() == ["first"]


def assert_closed(store: Store, collection: str) -> None:
    """A process that knows nothing of the other server does not make the collection again."""
    with pytest.raises(StoreError, match="has been moved to server 'server2'"):
        store.prepare(collection, "test-model", 8)


def read_printed(result: Result) -> dict[str, Any]:
    """What a query printed as JSON. The last digits of scores differ from one query to the next."""
    printed: dict[str, Any] = json.loads(result.stdout)
    for hit in printed["hits"]:
        hit["score"] = round(hit["score"], 6)
    return printed


def test_one_command_moves_a_collection(
    servers: tuple[TwoServers, list[PrivateServer]], two: TwoServers, tmp_path: Path
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    ingest(tmp_path, "first")
    # A dump of the home server has it now, and does not once it is moved.
    assert list_elsewhere(servers[1][0]) == []
    before = read_printed(
        run("query", "Who slept?", "--collection", "first", "--no-answer", "--json")
    )
    said = run("collections", "move", "first", "--to", SHELF, "--pause", "0").output
    assert "Collection 'first' is on server 'server2'" in said
    assert list_elsewhere(servers[1][0]) == [("first", SHELF, two.other.uri)]
    after = read_printed(
        run("query", "Who slept?", "--collection", "first", "--no-answer", "--json")
    )
    assert after == before
    # Whoever names no collection means the one that was written last, wherever it is.
    assert "Using collection first" in run("list").stderr
    assert "can't be removed: it has 'first'" in run("servers", "remove", SHELF, code=1).output


def test_a_question_over_collections_does_without_a_server_that_is_down(
    running: tuple[TwoServers, PrivateServer], two: TwoServers, tmp_path: Path
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    ingest(tmp_path, "first")
    ingest(tmp_path, "second", "--server", SHELF, word="slept and danced")
    asked = ("query", "Who slept?", "--no-answer", "--across", "all")
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
    found = json.loads(run(*asked, "--json").stdout)
    assert [hit["collection"] for hit in found["hits"][:4]].count("first") == 2
    assert {hit["collection"] for hit in found["hits"]} == {"first", "second"}
    assert found["left_out"] == {}
    assert "second · " in run(*asked).stdout
    running[1].stop()
    try:
        result = run(*asked, "--json")
        found = json.loads(result.stdout)
        assert {hit["collection"] for hit in found["hits"]} == {"first"}
        assert list(found["left_out"]) == ["second"]
        assert "Left out: collection second. Server 'server2' can't be used" in result.stderr
        answer = json.loads(run(*answered, "--json").stdout)
        assert answer["collections"] == ["first"]
        assert "Server 'server2' can't be used" in answer["left_out"]["second"]
        assert "First" in answer["answer"] or "slept" in answer["answer"]
        alone = run("query", "Who slept?", "--no-answer", "--across", "second", code=1)
        assert "Server 'server2' can't be used: no Neo4j answers at" in alone.output
        assert (
            "can't be used" in run("query", "Who slept?", "--collection", "second", code=1).output
        )
        assert "First" in run("list", "--all").stdout
        states = json.loads(run("servers", "--json").stdout)
        assert "no Neo4j answers" in states[1]["problem"]
        assert [size["collection"] for size in states[1]["collections"]] == ["second"]
    finally:
        address = running[1].start()
    assert address.uri == two.other.uri


def state_of(client: Any, job: dict[str, Any]) -> str:
    return str(client.get(f"{BASE}/jobs/{job['id']}").json()["state"])


def call_tools(it: Served) -> dict[str, Any]:
    """What an assistant is told by MCP: the collections, and an answer about the second."""
    reader = Caller("ada", "Ada", "read", None)

    async def call() -> dict[str, Any]:
        async with Client(make_mcp(it.state, reader)) as client:
            listed = await client.call_tool("list_collections", {})
            question = {"collection": "second", "question": "Who slept?"}
            asked = await client.call_tool("ask", question)
        assert asked.is_error
        assert isinstance(asked.content[0], TextContent)
        structured = listed.structured_content
        assert structured is not None
        return {"list_collections": structured["result"], "ask": asked.content[0].text}

    return anyio.run(call)


def test_the_api_reads_each_collection_where_it_lives(
    running: tuple[TwoServers, PrivateServer], two: TwoServers, tmp_path: Path
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    ingest(tmp_path, "first")
    ingest(tmp_path, "second", "--server", SHELF)
    titles = "MATCH (d:Document) RETURN d.title AS title"
    with App() as app, served(app) as it:
        client = it.client()
        shelves = client.get(f"{BASE}/collections").json()["items"]
        assert [(shelf["name"], shelf["server"]) for shelf in shelves] == [
            ("first", "home"),
            ("second", SHELF),
        ]
        assert client.get(f"{BASE}/collections/second").json()["server"] == SHELF
        for collection, title in (("", "First"), ("first", "First"), ("second", "Second")):
            body = {"statement": titles, "collection": collection}
            assert client.post(f"{BASE}/cypher", json=body).json()["rows"] == [[title]]
        # A key for one collection runs no statement, whichever collection it names.
        limited = it.client("admin", ["first"])
        for collection in ("", "first", "second"):
            body = {"statement": titles, "collection": collection}
            refused = limited.post(f"{BASE}/cypher", json=body)
            assert refused.status_code == 403
            assert "Second" not in refused.text
        assert [one["name"] for one in limited.get(f"{BASE}/collections").json()["items"]] == [
            "first"
        ]
        assert limited.get(f"{BASE}/collections/second").status_code == 404
        asked = {"question": "Who slept?"}
        assert client.post(f"{BASE}/collections/second/ask", json=asked).json()["cited"]
        pages = [client.get(path) for path in ("/admin", "/metrics", f"{BASE}/settings")]
        assert {page.status_code for page in pages} == {200}
        assert not [page for page in pages if two.other.password in page.text]
        both = client.post(f"{BASE}/ask", json=asked).json()
        assert (both["collections"], both["left_out"]) == (["first", "second"], {})
        assert client.get("/readyz").json() == {"status": "ready"}
        files = {"files": ("later.txt", harbour_story("woke", chapters=1).encode())}
        running[1].stop()
        try:
            until(
                lambda: client.get("/readyz").json() == {"status": "ready", "degraded": [SHELF]},
                "the server that is down is not named",
            )
            down = client.post(f"{BASE}/collections/second/ask", json=asked)
            assert down.status_code == 503
            assert two.other.password not in down.text
            assert "server2" in down.json()["detail"]
            assert two.other.uri in down.json()["detail"]
            assert "Fabula's own server" not in down.text
            both = client.post(f"{BASE}/ask", json=asked).json()
            assert (both["collections"], list(both["left_out"])) == (["first"], ["second"])
            assert two.other.uri not in str(both)
            # New work for that collection is refused; other work goes on.
            refused = client.post(f"{BASE}/collections/second/documents", files=files)
            assert refused.status_code == 503
            assert "server2" in refused.json()["detail"]
            done = client.post(f"{BASE}/collections/first/documents", files=files).json()
            until(lambda: state_of(client, done) == "succeeded", "the home server's job waits")
            assert client.post(f"{BASE}/collections/first/ask", json=asked).json()["cited"]
            left = client.get(f"{BASE}/collections").json()
            assert [shelf["name"] for shelf in left["items"]] == ["first"]
            assert left["left_out"] == {"second": "Its Neo4j server does not answer."}
            # Who may not see it does not learn that it exists.
            limited = it.client("admin", ["first"])
            assert limited.get(f"{BASE}/collections").json()["left_out"] == {}
            shelves = client.get("/collections", headers={"Accept": "text/html"}).text
            assert "Left out: <bdi>second</bdi>. Its Neo4j server does not answer." in shelves
            tools = call_tools(it)
            assert tools["list_collections"] == ["first", "second"]
            assert "'server2'" in tools["ask"]
        finally:
            running[1].start()
        again = client.post(f"{BASE}/collections/second/documents", files=files).json()
        until(lambda: state_of(client, again) == "succeeded", "the job does not go on")
        assert client.post(f"{BASE}/collections/second/ask", json=asked).json()["cited"]
        until(
            lambda: client.get("/readyz").json() == {"status": "ready"},
            "the server counts as down though it answers",
        )


def test_work_for_a_collection_whose_server_is_down_ends_in_words_and_goes_on_later(
    running: tuple[TwoServers, PrivateServer],
    two: TwoServers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    book = tmp_path / "harbour.txt"
    book.write_text(f"Title: Harbour\n\n{harbour_story('woke', chapters=2)}")
    ingested = ("ingest", book, "--collection", "second", "--server", SHELF, "--graphs", "aspects")
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with Endpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        assert "1 waiting" in run(*ingested, "--batch", code=75).output
        live = endpoint.calls - endpoint.batches.paid.total()
        running[1].stop()
        try:
            for more in ((), ("--batch",), ("--workers", "2")):
                output = run(*ingested, *more, code=1).output
                assert "Server 'server2' can't be used: no Neo4j answers at" in output
            # What was asked before is still known, and nothing new was asked.
            known = run("batches").output
            assert "batch_1" in known or "1 call was answered that no build has used yet" in known
            assert endpoint.batches.sizes == [1]
            assert endpoint.calls - endpoint.batches.paid.total() == live
        finally:
            running[1].start()
        until(lambda: went_on(ingested), "the batches do not go on")
        assert "Harbour" in run("list", "--collection", "second").stdout
        assert run("check", "--collection", "second").exit_code == 0
        assert max(endpoint.batches.paid.values()) == 1


def went_on(ingested: tuple[str | Path, ...]) -> bool:
    """Look for the batches once more; whether all of them have ended."""
    result = CliRunner().invoke(main, [*map(str, ingested), "--batch"])
    assert result.exit_code in (0, 75), result.output
    return result.exit_code == 0


@pytest.mark.nightly
def test_both_servers_may_be_restarted_under_a_service(
    servers: tuple[TwoServers, list[PrivateServer]], two: TwoServers, tmp_path: Path
) -> None:
    run("servers", "add", SHELF, two.other.uri)
    ingest(tmp_path, "first")
    ingest(tmp_path, "second", "--server", SHELF)
    asked = {"question": "Who slept?"}
    files = {"files": ("later.txt", harbour_story("woke", chapters=1).encode())}
    with App() as app, served(app) as it:
        client = it.client()
        assert client.post(f"{BASE}/ask", json=asked).json()["collections"] == ["first", "second"]
        for server in servers[1]:
            server.stop()
        until(lambda: client.get("/readyz").status_code == 503, "the service counts as ready")
        assert client.post(f"{BASE}/ask", json=asked).status_code == 503
        servers[1][0].start()
        until(lambda: client.get("/readyz").json().get("degraded") == [SHELF], "not degraded")
        answer = client.post(f"{BASE}/ask", json=asked).json()
        assert (answer["collections"], list(answer["left_out"])) == (["first"], ["second"])
        servers[1][1].start()
        until(lambda: client.get("/readyz").json() == {"status": "ready"}, "still degraded")
        job = client.post(f"{BASE}/collections/second/documents", files=files).json()
        until(lambda: state_of(client, job) == "succeeded", "the job does not go on")
        answer = client.post(f"{BASE}/ask", json=asked).json()
        assert (answer["collections"], answer["left_out"]) == (["first", "second"], {})


def test_a_server_that_is_not_known_takes_no_new_collection(
    two: TwoServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(tmp_path, "first")
    monkeypatch.setenv("FABULA_SERVER", "server9")
    # What exists stays where it is.
    ingest(tmp_path, "first")
    said = run("ingest", tmp_path / "first.txt", "--collection", "new", code=1).output
    assert "There is no server 'server9'" in said
    with connect(two.home) as home:
        assert home.collections() == ["first"]
        assert cypher(home, "MATCH (n:CollectionPlace|MovedCollection) RETURN n.name AS n") == []


def test_who_has_no_other_server_asks_the_home_server_nothing_more(
    two: TwoServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(tmp_path, "first")
    read: list[str] = []
    monkeypatch.setattr(server_pool, "read_registry", lambda home: read.append("registry"))
    with App() as app:
        app.collection("first").retrieve("Who slept?")
        app.collections()
        app.collection("first").query("Who slept?")
    assert read == []


def test_the_registry_is_read_again_after_some_seconds(
    two: TwoServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(tmp_path, "first")
    monkeypatch.setattr(server_pool, "EMPTY_REGISTRY_SECONDS", 0.0)
    monkeypatch.setattr(resources, "ALONE_SECONDS", 0.0)
    with App() as running_app, App() as mover:
        assert running_app.collection("first").server == "home"
        two.add(mover)
        mover.collection("first").move(SHELF, pause=0)
        assert running_app.collection("first").server == SHELF
        assert running_app.collection("first").retrieve("Who slept?")
        mover.close()
        with pytest.raises(FabulaError, match="is closed"):
            mover.collection("first").retrieve("Who slept?")
