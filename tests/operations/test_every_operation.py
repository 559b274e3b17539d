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

from database import empty
from fabula.cli import main
from fabula.cli.shared.operations import make_command
from fabula.config.settings import STATIC
from fabula.errors import BadValue
from fabula.jobs.callers import PERSON
from fabula.library import App
from fabula.library.collection import Collection
from fabula.operations.corrections import correct
from fabula.operations.kit import Asker, Operation, find_operations, operation_entries
from fabula.operations.notes import add_note
from fabula.server import Address
from fabula.text.metadata import GivenMetadata
from fabula_scholar.words.operations import ngrams
from mcp_calls import called
from served import Served, served, server_of
from stated_facts import state_facts

OPERATIONS = {operation.name: operation for operation in find_operations()}
OF_COLLECTIONS = {name: each for name, each in OPERATIONS.items() if each.has_collection}
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
    for name, operation in OF_COLLECTIONS.items()
    if "limit" in {each.name for each in operation.parameters} and operation.has_command
}
OFFLINE: dict[str, Any] = {
    "model": "offline",
    "embedding_model": STATIC,
    "chunk_tokens": 40,
    "graphs": "aspects,entities,speech,episodes",
}
STATED = (
    ("Bob Cratchit", "father of", "Peter Cratchit"),
    ("Martha Cratchit", "sister of", "Peter Cratchit"),
)
KING = "The old king sat. The king saw the ghost, and the old king wept. The ghost sat by the king."


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    empty(address)
    with App(**server_of(address), **OFFLINE) as app:
        books = app.collection("default")
        books.ingest_text(CAROL, source="carol.txt", title="A Christmas Carol", language="en")
        given = GivenMetadata({"genre": "tale", "place": "Bohemia"})
        books.ingest_text(KING, source="k.txt", title="The King", language="en", metadata=given)
        state_facts(books, "A Christmas Carol", STATED)
        add_note(books, "A Christmas Carol", "The poor man", "The first line of the stave.")
        add_note(books, "A Christmas Carol", "Bob Cratchit said", "He is poor.", tag="voice")
        add_note(books, "The King", "the old king wept", "Why?")
        correct(books, "rename", ("Scrooge", "Ebenezer"), later=True)
        correct(books, "rename", ("Peter Cratchit", "Pete"), "A Christmas Carol", later=True)
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
    for name, value in OFFLINE.items():
        # What is stale depends on the settings.
        monkeypatch.setenv(f"FABULA_{name.upper()}", str(value))


READING = {name: each for name, each in OF_COLLECTIONS.items() if not each.changes}
"""What can be asked of a collection again and again, with the same result."""


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def list_examples() -> list[tuple[str, str]]:
    """Command lines that have the same result each time: none changes what it names."""
    return [
        (each.name, example)
        for each in READING.values()
        for example in each.examples
        if "--out" not in example
    ]


def with_ids(example: str, collection: Collection) -> str:
    """An example with the id of a passage that is there in place of its own."""
    [first, *_] = collection.open_store().find_chunks(
        collection.document("A Christmas Carol"), 0, 1
    )
    return re.sub(r"\b[0-9a-f]{20}\b", first["id"], example)


def read_example(operation: Operation, collection: Collection, example: str = "") -> dict[str, Any]:
    """The values that a command line gives to parameters that every interface has."""
    example = with_ids(example or operation.examples[0], collection)
    typed = shlex.split(example)[len(operation.command.split()) :]
    words = [word for word in typed if word not in ("--json", "--csv")]
    context: click.Context = make_command(operation).make_context(operation.name, words)
    defaults = {each.name: each.default for each in operation.offered}
    given = {
        name: (value or ("",))[0]
        if operation.has_confirmation and isinstance(value, tuple)
        else value or ""
        for name, value in context.params.items()
    }
    return {
        name: value
        for name, value in given.items()
        if name in defaults and value not in (None, (), "") and value != defaults[name]
    }


def send(client: httpx2.Client, operation: Operation, values: dict[str, Any]) -> httpx2.Response:
    in_path = {name: values[name] for name in values if f"{{{name}}}" in operation.path}
    path = "/api/v1" + operation.path.format(collection="default", **in_path)
    others = {name: value for name, value in values.items() if name not in in_path}
    if not operation.has_body:
        return client.request(operation.method, path, params=others)
    return client.request(operation.method, path, json=others)


def call(it: Served, operation: Operation, values: dict[str, Any]) -> Any:
    """What the tool of an operation returns."""
    named = {"collection": "default"} if operation.has_collection else {}
    return called(it, operation.function.__name__, PERSON, **named, **values)


def test_every_operation_has_an_example_and_a_description() -> None:
    names = {operation.command.replace(" ", ".") for operation in OPERATIONS.values()}
    assert names == {*operation_entries()}
    for operation in OPERATIONS.values():
        assert operation.examples or not operation.has_command, operation.name
        assert operation.summary, operation.name
        for parameter in operation.parameters:
            assert parameter.field.description, f"{operation.name}: {parameter.name}"
            if parameter.type is int:
                assert {"ge", "le"} <= {*parameter.bounds}, f"{operation.name}: {parameter.name}"


def without_times(value: Any) -> Any:
    """JSON without what differs from one question to the next."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name != "seconds"}
    return [*map(without_times, value)] if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "example"), list_examples())
def test_an_example_has_the_same_result_everywhere(
    it: Served, collection: Collection, asker: Asker, name: str, example: str
) -> None:
    operation = OPERATIONS[name]
    example = with_ids(example, collection)
    words = [word for word in shlex.split(example) if word not in ("--json", "--csv")]
    printed = run(*words, "--json")
    assert printed.exit_code == 0, printed.output
    result = without_times(json.loads(printed.stdout))
    if {"--regex", "--all"} & {*words}:
        return  # for the command line alone
    values = read_example(operation, collection, example)
    returned = operation.run(collection, values, asker)
    assert without_times(operation.to_json(returned)) == result
    reply = send(it.client(operation.role), operation, values)
    assert without_times(reply.json()) == result, reply.text
    if operation.method == "GET":
        same = {"If-None-Match": reply.headers["etag"]}
        again = it.client(operation.role).get(reply.request.url, headers=same)
        assert (again.status_code, again.content) == (304, b"")
    told = without_times(call(it, operation, values))
    if operation.has_confirmation:
        assert "Unknown tool" in told, "an assistant destroys nothing"
        told = {**result}
    if hasattr(returned, "shorten"):
        result = without_times(operation.to_json(returned.shorten()))
    rows = told.pop("rows", [])
    assert rows == result.get("rows", [])[: len(rows)]
    assert told == {name: value for name, value in result.items() if name != "rows"}
    if operation.has_screen:
        query = {"tool": name, "run": "true", **values}
        screen = f"/c/default/{operation.group.lower()}"
        client = it.client(operation.role)
        table = client.get(screen, params=query, headers={"Accept": "text/html"})
        assert table.status_code == 200
        assert len(re.findall("<tr[ >]", table.text)) == len(result["rows"]) + bool(result["rows"])
        everything = client.get(screen, params={**query, "as": "json"}).json()
        assert everything["rows"][: len(result["rows"])] == result["rows"]
        assert len(everything["rows"]) == result["total"]
    assert len(run(*words, "--csv").stdout.splitlines()) > len(result.get("rows", []))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=[*OPERATIONS])
def test_what_an_operation_does_not_take_is_refused_everywhere(
    it: Served, collection: Collection, asker: Asker, operation: Operation
) -> None:
    values: dict[str, Any] = {each.name: "0" for each in operation.offered if each.is_required}
    if operation.has_command:
        example = with_ids(operation.examples[0], collection)
        values = read_example(operation, collection)
        assert "--limits" in run(*shlex.split(example), "--limits", "3").output
    wrong = values | {"limits": 3}
    with pytest.raises(BadValue, match="has no parameter 'limits'"):
        operation.run(collection, wrong, asker)
    reply = send(it.client(operation.role), operation, wrong)
    assert (reply.status_code, "limit" in reply.json()["detail"]) == (422, True)
    result = call(it, operation, wrong)
    is_offered = operation.has_tool and not operation.is_for_trusted
    assert ("has no argument" if is_offered else "Unknown tool") in result
    with httpx2.Client(base_url=it.url) as stranger:
        assert send(stranger, operation, values).status_code == 401
    elsewhere = it.client("admin", ["novels"])
    if operation.has_collection:
        assert send(elsewhere, operation, values).status_code == 404
    elif operation.role == "admin":
        assert send(elsewhere, operation, values).status_code == 403
    if operation.role != "read":
        assert send(it.client("read"), operation, values).status_code == 403
    if operation.has_body:
        large = values | {"words": "x" * 5_000_000}
        assert send(it.client(operation.role), operation, large).status_code == 413


HIDING = {name: each for name, each in OPERATIONS.items() if each.hides_unread and not each.is_file}
FILES = {name: each for name, each in OPERATIONS.items() if each.is_file}


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
    result = operation.to_json(operation.run(collection, values, asker))
    assert result != whole
    # The words that were asked for may be repeated.
    own = json.dumps(result).lower().replace(values.get("words", " "), " ")
    assert not {"cratchit", "martha", "peter"} & {*re.findall(r"\w+", own)}
    assert send(it.client(), operation, values).json() == result
    assert call(it, operation, values) == result


@pytest.mark.parametrize("operation", FILES.values(), ids=[*FILES])
def test_a_file_is_the_same_everywhere_and_ends_at_a_readers_place(
    it: Served, collection: Collection, asker: Asker, operation: Operation, tmp_path: Path
) -> None:
    names = {"export": "a.jsonl", "export-annotations": "a.jsonld", "export-notes": "a.md"}
    file = tmp_path / names[operation.name]
    values = {"document": "A Christmas Carol", "format": file.name}
    for place in ("", "STAVE ONE"):
        values["until"] = place
        assert str(file) in operation.run(collection, values, asker).write(file)
        content = file.read_bytes()
        sent = send(it.client(), operation, values)
        assert (sent.status_code, sent.content) == (200, content)
        assert "Carol" in sent.headers["content-disposition"]
        more = ("--until", place) if place else ()
        out = ("--out", str(file))
        typed = run(*operation.command.split(), values["document"], *more, *out)
        assert (typed.exit_code, str(file) in typed.stdout) == (0, True), typed.output
        assert file.read_bytes() == content
        assert (b"Cratchit" in content) == (place == ""), place


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
    if operation.has_screen:
        query = {"tool": operation.name, "run": "true", "limit": 1, **values}
        page = it.client().get(f"/c/default/{operation.group.lower()}", params=query)
        assert f"1 to 1 of {result.total:,}" in page.text
    for limit in (0, 10_001):
        assert send(it.client(), operation, values | {"limit": limit}).status_code == 422
