"""Each operation on each interface: the same values, and the same refusals.

The values are those of its examples, which are command lines that people type.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest
from click.testing import CliRunner, Result

from database import connect, wipe
from fabula.app import App
from fabula.app.collection import Collection
from fabula.cli import main
from fabula.cli.shared.operations import make_command
from fabula.config.settings import STATIC
from fabula.errors import BadValue
from fabula.operations.kit import Asker, Operation, find_operations, operation_entries
from fabula.server import Address
from fabula.service.http.dependencies import PERSON
from fabula_scholar.words.operations import ngrams
from mcp_calls import called
from served import Served, served, server_of
from stated_facts import state_facts

OPERATIONS = {operation.name: operation for operation in find_operations()}
CAROL = """STAVE ONE

"Christmas is a humbug," said Scrooge to Marley. The old ghost of Marley shook its chain. "Money is
my business," said Scrooge to Marley. The poor man saw the ghost of Marley by the fire. "Christmas
is my business," said Marley to Scrooge, and the old ghost of Marley sat by the fire.

STAVE TWO

Bob Cratchit is the father of Peter Cratchit. Bob Cratchit said, "Christmas is here." Then Martha
Cratchit, the sister of Peter Cratchit, saw the ghost of Marley by the fire. Scrooge saw Bob
Cratchit, and Scrooge heard the ghost shake the chain, and Scrooge saw Marley.
"""
LIMITED = {
    name: operation
    for name, operation in OPERATIONS.items()
    if "limit" in {parameter.name for parameter in operation.parameters}
}
STATED = (
    ("Bob Cratchit", "father of", "Peter Cratchit"),
    ("Martha Cratchit", "sister of", "Peter Cratchit"),
)
KING = "The old king sat. The king saw the ghost, and the old king wept. The ghost sat by the king."


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "chunk_tokens": 40}
    with App(**server_of(address), **offline, graphs="aspects,entities,speech,episodes") as app:
        books = app.collection("default")
        books.ingest_text(CAROL, source="c.txt", title="A Christmas Carol", language="en")
        books.ingest_text(KING, source="k.txt", title="The King", language="en")
        state_facts(books, "A Christmas Carol", STATED)
        app.collection("novels").ingest_text(KING, source="k.txt", title="King", language="en")
        with served(app) as it:
            yield it


@pytest.fixture
def collection(it: Served) -> Collection:
    default: Collection = it.state.app.collection("default")
    return default


@pytest.fixture
def asker(it: Served) -> Asker:
    app = it.state.app
    return Asker("ada", app, app.collections, app.collection)


@pytest.fixture(autouse=True)
def neo4j_of_the_tests(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def list_examples() -> list[tuple[str, str]]:
    return [(each.name, example) for each in OPERATIONS.values() for example in each.examples]


def with_ids(example: str, collection: Collection) -> str:
    """An example with the id of a passage that is there in place of its own."""
    [first, *_] = collection.store.find_chunks(collection.document("A Christmas Carol"), 0, 1)
    return re.sub(r"\b[0-9a-f]{20}\b", first["id"], example)


def read_example(operation: Operation, collection: Collection, example: str = "") -> dict[str, Any]:
    """The values that a command line gives to parameters that every interface has."""
    example = with_ids(example or operation.examples[0], collection)
    words = [word for word in shlex.split(example)[1:] if word not in ("--json", "--csv")]
    context: click.Context = make_command(operation).make_context(operation.name, words)
    defaults = {each.name: each.default for each in operation.offered}
    return {
        name: value
        for name, value in context.params.items()
        if name in defaults and value is not None and value != defaults[name]
    }


def send(client: httpx2.Client, operation: Operation, values: dict[str, Any]) -> httpx2.Response:
    in_path = {name: values[name] for name in values if f"{{{name}}}" in operation.path}
    path = "/api/v1" + operation.path.format(collection="default", **in_path)
    others = {name: value for name, value in values.items() if name not in in_path}
    if operation.method == "GET":
        return client.get(path, params=others)
    return client.request(operation.method, path, json=others)


def call(it: Served, operation: Operation, values: dict[str, Any]) -> Any:
    """What the tool of an operation returns."""
    named = {"collection": "default"} if operation.has_collection else {}
    return called(it, operation.function.__name__, PERSON, **named, **values)


def test_every_operation_has_an_example_and_a_description() -> None:
    assert {*OPERATIONS} == {*operation_entries()}
    for operation in OPERATIONS.values():
        assert operation.examples, operation.name
        assert operation.summary, operation.name
        for parameter in operation.parameters:
            assert parameter.field.description, f"{operation.name}: {parameter.name}"
            if parameter.type is int:
                assert {"ge", "le"} <= {*parameter.bounds}, f"{operation.name}: {parameter.name}"


@pytest.mark.parametrize(("name", "example"), list_examples())
def test_an_example_has_the_same_result_everywhere(
    it: Served, collection: Collection, asker: Asker, name: str, example: str
) -> None:
    operation = OPERATIONS[name]
    example = with_ids(example, collection)
    words = [word for word in shlex.split(example) if word not in ("--json", "--csv")]
    printed = run(*words, "--json")
    assert printed.exit_code == 0, printed.output
    result = json.loads(printed.stdout)
    if "--regex" in words:
        return  # for the command line alone
    values = read_example(operation, collection, example)
    returned = operation.run(collection if operation.has_collection else None, values, asker)
    assert operation.to_json(returned) == result
    reply = send(it.client(operation.role), operation, values)
    assert reply.json() == result, reply.text
    told = call(it, operation, values)
    rows = told.pop("rows", [])
    assert rows == result.get("rows", [])[: len(rows)]
    assert told == {name: value for name, value in result.items() if name != "rows"}
    if operation.has_screen:
        query = {"tool": name, "run": "true", **values}
        screen = f"/c/default/{operation.group.lower()}"
        client = it.client(operation.role)
        table = client.get(screen, params=query, headers={"Accept": "text/html"})
        assert table.status_code == 200
        assert table.text.count("<tr>") == len(result["rows"]) + bool(result["rows"])
        everything = client.get(screen, params={**query, "as": "json"}).json()
        assert everything["rows"][: len(result["rows"])] == result["rows"]
        assert len(everything["rows"]) == result["total"]
    assert len(run(*words, "--csv").stdout.splitlines()) > len(result.get("rows", []))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=[*OPERATIONS])
def test_what_an_operation_does_not_take_is_refused_everywhere(
    it: Served, collection: Collection, asker: Asker, operation: Operation
) -> None:
    example = with_ids(operation.examples[0], collection)
    values = read_example(operation, collection)
    wrong = values | {"limits": 3}
    with pytest.raises(BadValue, match="has no parameter 'limits'"):
        operation.run(collection if operation.has_collection else None, wrong, asker)
    assert "--limits" in run(*shlex.split(example), "--limits", "3").output
    reply = send(it.client(operation.role), operation, wrong)
    assert (reply.status_code, "limit" in reply.json()["detail"]) == (422, True)
    told = call(it, operation, wrong)
    assert "has no argument" in told
    with httpx2.Client(base_url=it.url) as stranger:
        assert send(stranger, operation, values).status_code == 401
    if operation.has_collection:
        elsewhere = it.client("admin", ["novels"])
        assert send(elsewhere, operation, values).status_code == 404
    if operation.role != "read":
        assert send(it.client("read"), operation, values).status_code == 403
    if operation.method != "GET":
        large = values | {"words": "x" * 5_000_000}
        assert send(it.client(operation.role), operation, large).status_code == 413


HIDING = {name: each for name, each in OPERATIONS.items() if each.hides_unread}


@pytest.mark.parametrize("operation", HIDING.values(), ids=[*HIDING])
def test_nothing_after_a_readers_place_is_told_anywhere(
    it: Served, collection: Collection, asker: Asker, operation: Operation
) -> None:
    """The Cratchits are named after the first stave alone, and there are more ghosts there."""
    values = read_example(operation, collection) | {"document": "A Christmas Carol"}
    if "words" in values:
        values["words"] = "cratchit*|ghost"
    for narrow in ("speaker", "content_words"):
        values.pop(narrow, None)
    whole = operation.to_json(operation.run(collection, values, asker))
    values["until"] = "STAVE ONE"
    told = operation.to_json(operation.run(collection, values, asker))
    assert told != whole
    assert not {"cratchit", "martha", "peter"} & {*re.findall(r"\w+", json.dumps(told).lower())}
    assert send(it.client(), operation, values).json() == told
    assert call(it, operation, values) == told


def test_a_file_has_all_rows_and_the_format_that_its_name_says(
    collection: Collection, tmp_path: Path
) -> None:
    file = tmp_path / "words.csv"
    assert run("ngrams", "--out", str(file)).exit_code == 0
    rows = file.read_text(encoding="utf-8").splitlines()
    assert len(rows) == ngrams(collection, limit=10_000).total + 1
    assert run("ngrams", "--limit", "2", "--out", str(file)).exit_code == 0
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3
    assert run("ngrams", "--out", str(tmp_path / "words.json")).exit_code == 0
    assert json.loads((tmp_path / "words.json").read_text(encoding="utf-8"))["rows"]
    other = run("facts", "--out", str(tmp_path / "facts.ttl"))
    assert (other.exit_code, "End the file in .csv or .json" in other.output) == (2, True)
    nowhere = run("ngrams", "--out", str(tmp_path / "none" / "words.csv"))
    assert (nowhere.exit_code, "can't be written" in nowhere.output) == (1, True)


@pytest.mark.parametrize("operation", LIMITED.values(), ids=[*LIMITED])
def test_a_result_ends_at_its_limit_and_says_how_many_there_are(
    it: Served, collection: Collection, asker: Asker, operation: Operation
) -> None:
    values = read_example(operation, collection)
    everything = operation.run(collection, values, asker)
    assert everything.total > 1
    result = operation.run(collection, values | {"limit": 1}, asker)
    assert (len(result.rows), result.total) == (1, everything.total)
    printed = run(*shlex.split(operation.examples[0]), "--limit", "1")
    assert f"1 to 1 of {result.total:,}" in printed.stderr
    query = {"tool": operation.name, "run": "true", "limit": 1, **values}
    page = it.client().get(f"/c/default/{operation.group.lower()}", params=query)
    assert f"1 to 1 of {result.total:,}" in page.text
    for limit in (0, 10_001):
        assert send(it.client(), operation, values | {"limit": limit}).status_code == 422
