"""Whatever a client sends is bounded, and what is wrong with it is its own error, in a sentence."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI

from conftest import connect, wipe
from fabula.app import App
from fabula.server import Address
from fabula.service.page.screens import ROUTERS
from fabula.settings import STATIC, Settings
from served import Served, served, server_of
from stories import WINTER

BASE = "/api/v1"
SHELF = f"{BASE}/collections/novels"
SECONDS = 30.0
"""What one answer may take, on a machine that is busy with other things."""
MAX_BYTES = 3_000_000
"""What one answer may have."""
MAX_DETAIL = 2000
"""Characters of the sentence that says what is wrong."""
DEEP = 1000
MANY = 1_000_000
LONG = "x" * 100_000
IN_AN_ADDRESS = [
    "\0",
    "\x1b",
    "a\nb",
    "x" * 30_000,
    "\u2028",
    "-1",
    str(2**70),
    "NaN",
    "",
    "[" * 999,
]
"""Values of a parameter of a path or a query. Half of a surrogate pair can't be written there."""
IN_JSON = {
    "a NUL": r'"\u0000"',
    "an ESC": r'"\u001b"',
    "a line break": r'"a\nb"',
    "half of a pair": r'"\ud800"',
    "half of a pair as a key": r'{"\ud800": 1}',
    "a long text": json.dumps(LONG),
    "a deep list": "[" * DEEP + "]" * DEEP,
    "a deep object": '{"a":' * DEEP + "1" + "}" * DEEP,
    "a list within the depth": "[" * 45 + "]" * 45,
    "many items": "[" + "0," * (MANY - 1) + "0]",
    "a large number": str(2**70),
    "a huge number": "1" * 4000,
    "NaN": "NaN",
    "a negative number": "-1",
    "an empty text": '""',
    "null": "null",
    "an object": '{"a": [{}]}',
    "a list": '["a"]',
}
"""Values of a field of a body."""


@pytest.fixture(scope="module")
def app(address: Address) -> Iterator[App]:
    with connect(address) as store:
        wipe(store)
    offline: dict[str, Any] = {"model": "offline", "embedding_model": STATIC, "chunk_tokens": 40}
    many = {"serve.requests_a_minute": 1_000_000}
    with App(Settings.read(**server_of(address), **offline, **many)) as app:
        app.collection("novels").ingest_text(WINTER, source="winter.txt", title="Winter")
        yield app


@pytest.fixture(scope="module")
def it(app: App) -> Iterator[Served]:
    with served(app) as it:
        yield it


@pytest.fixture(scope="module")
def client(it: Served) -> httpx2.Client:
    return it.client()


@pytest.fixture(scope="module")
def document(client: httpx2.Client) -> str:
    [one] = client.get(f"{SHELF}/documents").json()["items"]
    return str(one["id"])


# Every route, with values that nobody means


def operations(client: httpx2.Client) -> Iterator[tuple[str, str, Mapping[str, Any], Any]]:
    """The method, the path and the description of each route, and the schemas that it names."""
    page = FastAPI()
    for router in ROUTERS:
        page.include_router(router)
    for told in (client.get("/openapi.json").json(), page.openapi()):
        schemas = told.get("components", {}).get("schemas", {})
        for path, methods in told["paths"].items():
            for method, one in methods.items():
                yield method.upper(), path, one, schemas


def fields(schema: Mapping[str, Any], schemas: Any) -> dict[str, Any]:
    """The fields of a body, each with a value that is well enough to be read."""
    if "$ref" in schema:
        return fields(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    return {name: example(one, schemas) for name, one in schema.get("properties", {}).items()}


def example(schema: Mapping[str, Any], schemas: Any) -> Any:
    """A value of a schema; a field that may be left out is as it is then."""
    if "default" in schema:
        return schema["default"]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], schemas)
    if "$ref" in schema:
        return fields(schema, schemas)
    if "enum" in schema or "const" in schema:
        return [*schema.get("enum", ()), schema.get("const")][0]
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), schemas)] * schema.get("minItems", 0)
    plain = {"string": "who", "integer": 1, "number": 1.0, "boolean": False, "object": {}}
    return plain.get(schema.get("type", ""), "who")


Attack = tuple[str, str, dict[str, Any]]
"""A method, an address and what else is sent: one thing of each is wrong."""


def attacks(client: httpx2.Client, document: str) -> Iterator[Attack]:
    """All that is tried on all routes."""
    known = {"collection": "novels", "document": document, "kind": "svg", "name": "library"}
    for method, path, told, schemas in operations(client):
        names = re.findall(r"{(\w+)", path)
        well = {name: known.get(name, "none") for name in names}
        body = told.get("requestBody", {}).get("content", {})
        form = body.get("application/x-www-form-urlencoded", {}).get("schema")
        model = body.get("application/json", {}).get("schema")
        filled = fields(form or model or {}, schemas)
        sent: dict[str, Any] = {"data": filled} if form else {"json": filled} if model else {}
        for name in names:
            for value in IN_AN_ADDRESS:
                yield method, place(path, well | {name: value}), sent
        if method == "DELETE":
            # With nothing wrong in its path it would do what it is for.
            continue
        asked = [one["name"] for one in told.get("parameters", ()) if one["in"] == "query"]
        yield from in_queries(method, place(path, well), asked, sent)
        if form:
            yield from in_forms(method, place(path, well), filled)
        if model:
            yield from in_bodies(method, place(path, well), filled)


def place(path: str, values: Mapping[str, str]) -> str:
    """An address from the pattern of a path."""
    return re.sub(r"{(\w+)(:path)?}", lambda name: quote(values[name[1]], safe=""), path)


def in_queries(
    method: str, address: str, names: list[str], sent: Mapping[str, Any]
) -> Iterator[Attack]:
    """What stands behind the question mark is wrong."""
    for name in names:
        for value in (*IN_AN_ADDRESS, ["x"] * 5000):
            yield method, address, {**sent, "params": {name: value}}
        yield method, f"{address}?{name}=%ED%A0%80", dict(sent)


def in_forms(method: str, address: str, filled: Mapping[str, Any]) -> Iterator[Attack]:
    """A field of a form is wrong."""
    for name in filled:
        for value in (*IN_AN_ADDRESS, LONG, ["x"] * 900):
            yield method, address, {"data": {**filled, name: value}}


def in_bodies(method: str, address: str, filled: Mapping[str, Any]) -> Iterator[Attack]:
    """A field of a body in JSON is wrong, or all of it."""
    headers = {"Content-Type": "application/json"}
    for name in (*filled, "nothing", "\ud800", LONG):
        rest = {each: value for each, value in filled.items() if each != name}
        for value in IN_JSON.values():
            written = json.dumps({name: 0, **rest}).replace(": 0", f": {value}", 1)
            yield method, address, {"content": written.encode(), "headers": headers}
    for value in (*IN_JSON.values(), "[" * MANY, '"' * MANY, "\ufeff{}", "", "{"):
        yield method, address, {"content": value.encode(), "headers": headers}
    yield method, address, {"content": "{}".encode("utf-16"), "headers": headers}


def problem(answer: httpx2.Response, took: float) -> str:
    """What is wrong with an answer; '' where nothing is."""
    if answer.status_code >= 500:
        return "an error of ours"
    if took > SECONDS:
        return "too slow"
    if len(answer.content) > MAX_BYTES:
        return f"{len(answer.content)} bytes"
    if "problem+json" not in answer.headers.get("content-type", ""):
        return ""
    detail = answer.json()["detail"]
    is_sentence = detail[-1:] in tuple(".?!") and len(detail) <= MAX_DETAIL
    return "" if is_sentence else f"no sentence: {detail[:200]} ... {detail[-20:]}"


def test_no_value_in_any_place_of_any_route_is_an_error_of_ours(
    client: httpx2.Client, document: str
) -> None:
    found: list[str] = []
    statuses: Counter[int] = Counter()
    routes = set()
    for method, address, sent in attacks(client, document):
        began = time.monotonic()
        answer = client.request(method, address, **sent)
        statuses[answer.status_code] += 1
        routes.add((method, address.partition("?")[0]))
        if wrong := problem(answer, time.monotonic() - began):
            value = repr(sent.get("params") or sent.get("data") or sent.get("content"))
            found.append(f"{method} {address[:120]} {value[:100]}: {wrong}: {answer.text[:200]}")
    assert not found, "\n".join(found)
    assert statuses.total() > 3000, "all routes were tried"
    assert statuses[400] > 500
    assert statuses[422] > 500
