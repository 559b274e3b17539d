"""Whatever a client sends is bounded, and what is wrong with it is its own error, in a sentence."""

from __future__ import annotations

import base64
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice, permutations
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx2
import pytest
from fastapi import FastAPI

from cases import for_each
from fabula.errors import BadValue, NotFound
from fabula.graph import statements
from fabula.graph.explore import query_names, shipped_query
from fabula.graph.queries import FOLDER
from fabula.graph.statements import count_levels
from fabula.library import App
from fabula.operations.shown_answer import read_answer
from fabula.server import Address
from fabula.service.page.answers import lay_out
from fabula.service.page.screens import ROUTERS
from fabula.store import user_query
from offline import offline_app
from served import Served, served
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
    with offline_app(address, **{"serve.requests_a_minute": 1_000_000}) as app:
        app.collection("novels").ingest_text(WINTER, source="winter.txt", title="Winter")
        yield app


@pytest.fixture(scope="module")
def it(app: App) -> Iterator[Served]:
    with served(app) as it:
        yield it


@pytest.fixture(scope="module")
def document(client: httpx2.Client) -> str:
    [one] = client.get(f"{SHELF}/documents").json()["rows"]
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
        least = range(schema.get("minItems", 0))
        return [example(schema.get("items", {}), schemas) for _ in least]
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
        asked = [
            parameter["name"]
            for parameter in told.get("parameters", ())
            if parameter["in"] == "query"
        ]
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
        for value in (*IN_AN_ADDRESS, ["x"] * 900):
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


# Every seventh of them: seven divides no number of values, so each value comes to many places.
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_no_value_in_any_place_of_any_route_is_an_error_of_ours(
    client: httpx2.Client, document: str, step: int
) -> None:
    found: list[str] = []
    statuses: Counter[int] = Counter()
    routes = set()
    for method, address, sent in islice(attacks(client, document), 0, None, step):
        value = repr(sent.get("params") or sent.get("data") or sent.get("content"))
        attack = f"{method} {address[:120]} {value[:100]}"
        began = time.monotonic()
        try:
            answer = client.request(method, address, **sent)
        except httpx2.TransportError as error:
            found.append(f"{attack}: {error!r} after {time.monotonic() - began:.1f} s")
            continue
        statuses[answer.status_code] += 1
        routes.add((method, address.partition("?")[0]))
        if wrong := problem(answer, time.monotonic() - began):
            found.append(f"{attack}: {wrong}: {answer.text[:200]}")
    assert not found, "\n".join(found)
    assert statuses.total() > 3000 / step, "all routes were tried"
    assert statuses[400] > 500 / step
    assert statuses[422] > 500 / step


# What was found, each by itself


def test_white_space_names_no_section(client: httpx2.Client, document: str) -> None:
    read = client.get(f"{SHELF}/documents/{document}/text", params={"section": "\u2028"})
    assert (read.status_code, read.json().get("start")) == (200, 0), read.text


def send(client: httpx2.Client, path: str, written: str, method: str = "POST") -> httpx2.Response:
    headers = {"Content-Type": "application/json"}
    return client.request(method, path, content=written.encode(), headers=headers)


def detail(answer: httpx2.Response) -> str:
    return str(answer.json()["detail"])


@for_each(
    ("path", "body"),
    [
        (f"{SHELF}/ask", '{"question": "who", "knobs": {"a": %s}}'),
        (f"{SHELF}/search", '{"question": "who", "nothing": %s}'),
        (f"{BASE}/cypher", '{"statement": "RETURN $a", "parameters": {"a": %s}}'),
        ("/v1/chat/completions", '{"model": "fabula/novels", "messages": %s}'),
        ("/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": %s}}'),
        ("/c/novels/ask/stream", '{"question": %s}'),
    ],
)
def test_json_is_nested_fifty_levels_at_most(client: httpx2.Client, path: str, body: str) -> None:
    around = body.count("{")
    for value in ("[" * 300 + "]" * 300, "[" * 300, "[" * (51 - around) + "]" * (51 - around)):
        refused = send(client, path, body % value)
        assert refused.status_code == 400, refused.text
        assert "nested more than 50 levels deep" in refused.text
    held = "[" * (50 - around) + "]" * (50 - around)
    assert "levels deep" not in send(client, path, body % held).text


SEND_JSON = "/body: send JSON, with the header `Content-Type: application/json`."


@for_each(
    ("body", "kind", "detail"),
    [
        ('{"question": "x", "mod": 1}', "json", "/body/mod: there is no such field. Did you mean "),
        (
            '{"question": "x", "zzz": 1}',
            "json",
            "/body/zzz: there is no such field. There are: ",
        ),
        ('{"k": 3}', "json", "/body/question: is missing."),
        ("{question: 1}", "json", "/body: not valid JSON: Expecting property name enclosed in "),
        ('{"question": "x"}', "x-www-form-urlencoded", SEND_JSON),
        ("", "json", SEND_JSON),
    ],
)
def test_a_body_that_is_refused_is_told_what_to_send(
    client: httpx2.Client, body: str, kind: str, detail: str
) -> None:
    headers = {"Content-Type": f"application/{kind}"}
    refused = client.post(f"{SHELF}/search", content=body.encode(), headers=headers)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(detail)


def test_a_method_that_an_address_does_not_have_is_refused_with_where_to_look(
    client: httpx2.Client,
) -> None:
    refused = client.put(f"{BASE}/collections")
    assert refused.status_code == 405
    assert refused.json()["type"] == "/problems/method-not-allowed"
    assert "PUT is not possible at this address: /openapi.json lists" in refused.json()["detail"]


def test_rdf_of_a_document_without_facts_names_it_by_its_title(
    client: httpx2.Client, document: str
) -> None:
    title = client.get(f"{SHELF}/documents/{document}").json()["title"]
    refused = client.get(f"{SHELF}/export", params={"document": document, "format": "ttl"})
    assert refused.status_code == 404
    assert f"'{title}' has none of them." in refused.json()["detail"]


def test_a_cursor_that_is_nested_is_none_of_ours(client: httpx2.Client) -> None:
    for written in (b"[" * 2900, b'["\\ud800"]', b"[%d]" % 2**70, b'"' * 900):
        after = base64.urlsafe_b64encode(written).decode()
        refused = client.get(f"{BASE}/jobs", params={"after": after})
        assert refused.status_code == 400
        assert "is not the `next` of a page of this list" in detail(refused)


def test_names_have_no_control_characters(client: httpx2.Client, document: str) -> None:
    before = client.get(f"{SHELF}/documents/{document}").json()
    for path in (f"{SHELF}/documents/a%00b", f"{SHELF}/passages/a%1bb", f"{BASE}/queries/a%0ab"):
        refused = client.get(path)
        assert refused.status_code == 400
        assert detail(refused) == "The path has a control character in it, which no name may have."
    for name in (r"a\u0000b", r"a\ud800b", r"a\nb", r"a\u001bb"):
        found = send(client, f"{SHELF}/search", f'{{"question": "who", "document": "{name}"}}')
        assert found.status_code in (400, 404)
    for title in (r"a\nb", r"a\u001bb", r"a\u0000b"):
        path = f"{SHELF}/documents/{document}"
        for part in ("title", "author"):
            refused = send(client, path, f'{{"{part}": "{title}"}}', "PATCH")
            assert refused.status_code == 400, "not 503, as if it were to be tried again"
    after = client.get(f"{SHELF}/documents/{document}").json()
    assert (after["title"], after["author"]) == (before["title"], before["author"])


def test_a_clients_name_of_a_document_is_no_path_on_the_servers_disk(
    app: App, it: Served, tmp_path: Path
) -> None:
    book = tmp_path / "story.txt"
    book.write_text(WINTER)
    link = tmp_path / "link.txt"
    link.symlink_to(book)
    paths = app.collection("paths")
    paths.ingest(book)
    assert paths.document(str(link)).source == str(book)
    for name in (str(link), "./story.txt"):
        request = {"question": "who", "document": name}
        response = it.client().post(f"{BASE}/collections/paths/search", json=request)
        assert response.status_code == 404, "what leads to a file is not looked at"
    for name in ("a\0b", "a\ud800b"):
        with pytest.raises((NotFound, BadValue)):
            paths.document(name)


def make_answer(passages: int) -> dict[str, Any]:
    """An answer that cites each of its passages."""
    context = [
        {
            "id": f"p{one}",
            "kind": "chunk",
            "document": "d",
            "title": "T",
            "language": "en",
            "section": "s",
            "aspect": "",
            "level": 0,
            "start": 20 * one,
            "end": 20 * one + 10,
            "text": "A word.",
            "tokens": 3,
            "score": 0.5,
            "number": one + 1,
            "spans": [],
        }
        for one in range(passages)
    ]
    cited = list(range(1, passages + 1))
    text = " ".join(f"So [{number}]." for number in cited)
    lists = {"cited": cited, "context": context, "quotes": [], "hits": [], "path": []}
    plain = {"question": "q", "sought": "q", "mode": "naive", "model": "m", "offline": False}
    return {**plain, **lists, "answer": text, "usage": {}, "money": None, "seconds": 1.0}


def test_the_links_of_an_answer_grow_with_its_passages_and_end_somewhere() -> None:
    def links(passages: int) -> list[str]:
        return list(
            lay_out(read_answer(json.dumps(make_answer(passages))), "novels").links.values()
        )

    # Each link named all other citations: four times the passages were ten times the bytes.
    assert sum(map(len, links(400))) < 4.5 * sum(map(len, links(100)))
    others = re.findall(r"also=([^&\"#]*)", " ".join(links(400)))
    assert others
    assert max(unquote(each).count(",") + 1 for each in others) <= 20


def test_a_page_of_a_book_takes_as_many_statements_for_many_citations_as_for_two(
    app: App, client: httpx2.Client, document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    run = app.connect().run

    def count(statement: str, *given: Any, **parameters: Any) -> list[dict[str, Any]]:
        # The service has other things to ask meanwhile, as for jobs.
        if "Passage" in statement:
            sent.append(statement)
        return run(statement, *given, **parameters)

    monkeypatch.setattr(app.connect(), "run", count)
    length = len(WINTER) - 100

    def count_sent(stretches: int) -> int:
        sent.clear()
        step = length // (stretches + 1)
        also = ",".join(f"{step * number + 20}-{step * number + 25}" for number in range(stretches))
        page = client.get(f"/c/novels/d/{document}", params={"chars": "10-15", "also": also})
        assert page.status_code == 200
        return len(sent)

    count_sent(1)
    assert 0 < count_sent(2) == count_sent(40) < 12
    book = f"/c/novels/d/{document}"
    many = ",".join(f"{4 * number}-{4 * number + 1}" for number in range(101))
    assert client.get(book, params={"chars": "10-15", "also": many}).status_code == 404
    assert client.get(book, params={"chars": "1-2," * 2000}).status_code == 422
    shelf = app.collection("novels")
    sent.clear()
    shelf.read(document, "10-15")
    few = len(sent)
    sent.clear()
    lit = [line.lit for line in shelf.read(document, "10-15, 200-210, 1000-1010").lines]
    assert len(sent) == few
    assert sum(map(len, lit)) == 3
    with pytest.raises(NotFound, match="at most 2,000 are allowed"):
        shelf.read(document, ",".join(["10-15"] * 500))


@for_each(
    "statement",
    [
        "RETURN " + "(" * 100 + "1" + ")" * 100,
        "RETURN " + "(" * 4900 + "1" + ")" * 4900,
        "RETURN 1" + "+1" * 100,
        "RETURN " + "NOT " * 100 + "true",
        "RETURN " + "CASE WHEN true THEN " * 100 + "1" + " END" * 100,
        "MATCH (n) WHERE n.id = 'a'" + " AND n.id STARTS WITH 'a'" * 60 + " RETURN n",
        "MATCH (n)" + "--()" * 100 + " RETURN 1",
    ],
)
def test_a_statement_that_neo4j_may_not_plan_is_not_sent(
    client: httpx2.Client, statement: str
) -> None:
    refused = client.post(f"{BASE}/cypher", json={"statement": statement})
    assert refused.status_code == 400
    assert re.search(r"nests [0-9,]+ brackets and operators; the maximum is 60", detail(refused))


@pytest.mark.whole
def test_statements_of_fabulas_own_are_far_from_too_deep() -> None:
    deepest = max(count_levels(path.read_text()) for path in FOLDER.rglob("*.cypher"))
    assert 20 < deepest <= statements.MAX_LEVELS / 2
    longest = max(len(shipped_query(name).statement) for name in query_names())
    assert longest < statements.MAX_CHARACTERS / 3


def test_what_neo4j_never_answers_gives_its_turn_back(
    it: Served, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its planner overflows its stack, and fails to say so (Neo4j 2026.08).
    monkeypatch.setattr(statements, "MAX_LEVELS", 10_000)
    hanging = {"statement": "RETURN 1" + "+1" * 2000, "seconds": 2}
    began = time.monotonic()
    refused = client.post(f"{BASE}/cypher", json=hanging)
    assert time.monotonic() - began < SECONDS
    assert refused.status_code == 400
    assert "took longer than 2 s and was ended" in detail(refused) or "refused" in detail(refused)
    # Each place is free again, if not in the moment of the answer.
    many = it.state.serving.queries_at_once
    free = sum(it.state.query_slots.acquire(timeout=60) for _ in range(many))
    for _ in range(free):
        it.state.query_slots.release()
    assert free == many
    assert client.post(f"{BASE}/cypher", json={"statement": "RETURN 1"}).status_code == 200


def test_an_answer_in_cypher_is_bounded_in_bytes(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(statement: str) -> httpx2.Response:
        return client.post(f"{BASE}/cypher", json={"statement": statement})

    lists = put("UNWIND range(1, 1000) AS x RETURN [i IN range(1, 20000) | i] AS l")
    body = lists.json()
    assert body["cut_by"] == "bytes"
    assert 0 < len(body["rows"]) < 1000
    assert 6_000_000 < len(lists.content) < 8_500_000
    one = put("RETURN reduce(s = 'aaaaaaaa', i IN range(1, 20) | s + s) AS s")
    assert one.status_code == 400
    assert "The first row of the result is larger than 8 MB" in detail(one)
    rows = put("UNWIND range(1, 1001) AS x RETURN x").json()
    assert (len(rows["rows"]), rows["cut_by"]) == (1000, "rows")
    whole = put("UNWIND range(1, 1000) AS x RETURN x").json()
    assert (len(whole["rows"]), whole["cut_by"]) == (1000, None)
    # The driver holds a row as a whole: more than this does not even reach it.
    monkeypatch.setattr(user_query, "MAX_SENT_BYTES", 100_000)
    assert "The first row" in detail(put("RETURN range(1, 200000) AS l"))
    deep = put("RETURN reduce(l = [], i IN range(1, 400) | [l]) AS l")
    assert (deep.status_code, "nested too deep" in detail(deep)) == (400, True)
    assert put("RETURN 1 AS x").json()["rows"] == [{"x": 1}]


def test_another_sites_link_runs_no_query_by_the_cookie(it: Served) -> None:
    own = {"Sec-Fetch-Site": "same-origin"}
    with httpx2.Client(base_url=it.url, headers=own, timeout=60) as browser:
        assert browser.post(f"{BASE}/session", json={"key": it.key()}).status_code == 204
        for given in (
            {"tool": "run-cypher", "statement": "RETURN 41 + 1 AS sum"},
            {"tool": "cypher", "query": "library"},
        ):
            for kind in ("", "csv"):
                request = {**given, "run": "true", "as": kind}
                for site, runs in (("same-origin", True), ("cross-site", False)):
                    place = {"Sec-Fetch-Site": site}
                    page = browser.get("/c/novels/queries", params=request, headers=place)
                    is_run = 'id="found"' in page.text or "csv" in page.headers["content-type"]
                    assert is_run is runs
                    assert ("a link on another site" in page.text) is not runs


def test_modes_that_are_asked_together_are_one_label(client: httpx2.Client) -> None:
    for modes in permutations(["naive", "hybrid", "collapsed"]):
        request = {"question": "Who walked?", "mode": ",".join(modes)}
        assert client.post(f"{SHELF}/search", json=request).status_code == 200
    text = client.get("/metrics").text
    labels = set(re.findall(r'fabula_retrieval\w*_count{mode="([^"]*)"}', text))
    assert "several" in labels
    assert not [label for label in labels if "," in label]


def test_schemas_have_names_of_their_own(client: httpx2.Client) -> None:
    response = client.get("/openapi.json")
    schemas = response.json()["components"]["schemas"]
    assert {"ShownStep", "StepProgress"} <= schemas.keys()
    assert not [name for name in schemas if "__" in name]
    for named in set(re.findall(r'"\$ref":\s*"([^"]*)"', response.text)):
        assert named.removeprefix("#/components/schemas/") in schemas
