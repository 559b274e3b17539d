"""Keys and the audit on each interface that has them; assistants have none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cases import for_each
from database import empty, name_server
from fabula.cli import main
from fabula.errors import NotFound
from fabula.jobs.callers import PERSON
from fabula.library import App
from fabula.operations.keys import audit, list_keys, make_key, revoke_key
from fabula.operations.kit import Asker
from fabula.server import Address
from served import Served, served, server_of


@pytest.fixture
def app(address: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    name_server(monkeypatch, address)
    empty(address)
    with App(**server_of(address), model="offline") as app:
        yield app


@pytest.fixture
def asker(app: App) -> Asker:
    return Asker("ada", app, app.collections, app.collection)


@pytest.fixture
def it(app: App) -> Iterator[Served]:
    with served(app) as it:
        yield it


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_key_of_a_command_alone_is_on_standard_output(app: App, asker: Asker) -> None:
    """A script takes it from there; what else is to be known is on standard error."""
    made = run("keys", "make", "Ada", "--collection", "novels", "--tokens-a-day", "200")
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith("fab_")
    assert len(made.stdout.splitlines()) == 1
    assert "There is no collection 'novels' yet." in made.stderr
    [key] = list_keys(asker).rows
    assert (key.name, key.role, key.collections) == ("Ada", "read", ("novels",))
    assert key.quotas == {"tokens_a_day": 200}
    assert f"fabula keys revoke {key.id}" in made.stderr
    listed = run("keys", "list").stdout
    assert f"{key.id} · Ada · read · novels · tokens a day: 200 · never used" in listed
    assert json.loads(run("keys", "list", "--json").stdout)["rows"][0]["id"] == key.id
    assert run("keys", "revoke", key.id).stdout == f"Key {key.id} is revoked.\n"
    assert " · revoked " in run("keys", "list").stdout
    again = run("keys", "revoke", "nobody")
    assert (again.exit_code, "There is no key 'nobody'" in again.output) == (1, True)


def test_without_a_key_a_command_says_how_to_make_one(app: App) -> None:
    listed = run("keys", "list")
    assert (listed.stdout, "fabula keys make NAME" in listed.stderr) == ("\n", True)


def test_keys_and_changes_are_the_same_over_http(it: Served, asker: Asker) -> None:
    client = it.client()
    made = client.post("/api/v1/keys", json={"name": "Dora", "money_a_month": 2.5})
    assert made.status_code == 201
    body = made.json()
    assert (body["name"], body["role"], body["collections"]) == ("Dora", "read", None)
    assert client.get("/api/v1/keys").json() == json.loads(run("keys", "list", "--json").stdout)
    gone = client.delete(f"/api/v1/keys/{body['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    changes = client.get("/api/v1/audit").json()
    assert changes == json.loads(run("audit", "--json").stdout)
    assert [row["what"] for row in changes["rows"][:2]] == ["revoke key", "make key"]
    assert changes["rows"][1]["target"] == f"{body['id']} Dora, read, all collections"
    first = run("audit", "--limit", "1")
    assert "--after" in first.stderr
    # Reading changes nothing.
    assert len(audit(asker, limit=500).rows) == len(changes["rows"])


def test_what_a_program_and_a_command_do_is_in_the_audit(app: App, asker: Asker) -> None:
    made = make_key(asker, "Eve", "write", ("novels",), days=3)
    revoke_key(asker, made.id)
    assert run("keys", "make", "Finn").exit_code == 0
    acts = audit(asker).rows
    assert [(act.key, act.what) for act in acts] == [
        (PERSON.id, "make key"),
        (PERSON.id, "revoke key"),
        (PERSON.id, "make key"),
    ]
    assert acts[2].target == f"{made.id} Eve, write, novels"
    with pytest.raises(NotFound, match="There is no key 'nobody'"):
        revoke_key(asker, "nobody")


@for_each(
    "wrong",
    [{"role": "owner"}, {"days": 0}, {"tokens_a_day": -1}, {"money_a_day": 1e16}, {"keys": 1}],
)
def test_a_key_that_can_not_be_is_refused(it: Served, wrong: dict[str, Any]) -> None:
    refused = it.client().post("/api/v1/keys", json={"name": "Ada", **wrong})
    assert refused.status_code == 422
