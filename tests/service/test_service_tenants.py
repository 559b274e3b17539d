"""Over all routes that read: nobody sees anything of a collection that is not theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok

from cases import for_each
from fabula.jobs.callers import Caller
from fabula.operations.documents import edit_document
from fabula.server import Address
from mcp_calls import called
from offline import offline_app
from served import Served, served
from stories import WINTER

pytestmark = pytest.mark.long

BASE = "/api/v1"
MINE, OTHERS = "默认 a.b-c", "它们 _x"
"""Names of collections, of any script."""
JOBS = re.compile(r"/(documents|build|renew|reembed|annotations/import)$")
"""The ends of paths to which a POST begins a job, which has tests of its own."""
OWN = re.compile(r"/collections/\{collection\}")
SECRET = "Quetzalcoatl"
"""What stands in the other's book alone."""
FIELD, VALUE = "feathering", "Serpentine"
"""A field of the other's book, and its value."""
PRIVATE = (SECRET, "other.txt", "Their Book", "Their Author", FIELD, VALUE)


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address) as app:
        app.collection(MINE).ingest_text(WINTER, source="mine.txt", title="My Book")
        other = app.collection(OTHERS)
        text = WINTER.replace("Anna", SECRET)
        other.ingest_text(text, source="other.txt", title="Their Book", author="Their Author")
        edit_document(other, "Their Book", meta=(f"{FIELD}={VALUE}",))
        with served(app) as it:
            yield it


@pytest.fixture(scope="module")
def theirs(it: Served) -> dict[str, str]:
    """Ids of the other's, by the names that paths have for them."""
    client = it.client("admin", [OTHERS])
    shelf = f"{BASE}/collections/{OTHERS}"
    [document] = client.get(f"{shelf}/documents").json()["rows"]
    [top, *_] = client.get(f"{shelf}/documents/{document['id']}/outline").json()["rows"]
    talk = client.post(f"{shelf}/conversations", json={}).json()["id"]
    request = {"question": f"Where did {SECRET} walk?", "conversation": talk}
    turn = client.post(f"{shelf}/ask", json=request).json()["turn"]
    return {
        "document": document["id"],
        "passage": top["id"],
        "conversation": talk,
        "turn": turn,
        "note": "0123456789ab",
    }


BODIES: dict[str, dict[str, Any]] = {
    "/search": {"question": f"Where did {SECRET} walk?", "mode": "hybrid"},
    "/ask": {"question": f"Where did {SECRET} walk?"},
    "/ask/cost": {"question": f"Where did {SECRET} walk?"},
    "/compare": {"question": f"Where did {SECRET} walk?", "modes": ["hybrid", "naive"]},
    "/conversations": {},
    "/notes": {"quote": "winter"},
    "/queries/{query}": {},
    "/turns/{turn}/feedback": {"value": 1},
    "/documents/{document}": {"title": "Mine now"},
    "/decisions": {"kind": "rename", "names": ["Anna", "Anne"]},
}
QUERIES = {"words": "winter", "name": "Anna"}
"""Values of parameters in a query without which a route refuses it."""
IN_PATHS = {"query": "library", "kind": "svg", "layer": "x", "number": "1", "graph": "speech"}


def routes(it: Served) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The method, path and query of each route below a collection that does not begin a job."""
    for path, methods in it.client().get("/openapi.json").json()["paths"].items():
        for method, route in methods.items():
            begins_a_job = (method == "post" and JOBS.search(path)) or (
                (method, path) == ("delete", f"{BASE}/collections/{{collection}}")
            )
            if OWN.search(path) and not begins_a_job:
                required = {each["name"] for each in route["parameters"] if each.get("required")}
                yield method, path, {key: QUERIES[key] for key in QUERIES.keys() & required}


def put(
    client: httpx2.Client,
    route: tuple[str, str, dict[str, str]],
    collection: str,
    ids: dict[str, str],
) -> httpx2.Response:
    method, path, query = route
    filled = path.replace("{collection}", quote(collection, safe=""))
    for name, value in (ids | IN_PATHS).items():
        filled = filled.replace(f"{{{name}}}", value)
    assert "{" not in filled
    body = next((one for end, one in BODIES.items() if path.endswith(end)), {})
    has_body = method not in ("get", "delete")
    return client.request(method, filled, params=query, json=body if has_body else None)


@pytest.mark.journey
def test_a_collection_that_is_anothers_is_as_one_that_is_not_there(
    it: Served, theirs: dict[str, str]
) -> None:
    client = it.client("admin", [MINE])
    found_routes = [*routes(it)]
    for route in found_routes:
        other = put(client, route, OTHERS, theirs)
        none = put(client, route, "nowhere", theirs)
        assert other.status_code == none.status_code == 404, (route, other.text, none.text)
        assert other.json()["detail"].replace(OTHERS, "nowhere") == none.json()["detail"], route
    assert len(found_routes) >= 40


def test_by_anothers_ids_nothing_is_found_or_changed_in_ones_own(
    it: Served, theirs: dict[str, str]
) -> None:
    client = it.client("admin", [MINE])
    for route in routes(it):
        answer = put(client, route, MINE, theirs)
        if re.search(r"\{(document|passage|conversation|turn)\}", route[1]):
            assert answer.status_code == 404, route
        shown = answer.text.replace(f"Where did {SECRET} walk?", "")
        assert not [text for text in PRIVATE if text in shown], route
    whole = it.client("read", [OTHERS])
    document = whole.get(f"{BASE}/collections/{OTHERS}/documents/{theirs['document']}").json()
    assert document["title"] == "Their Book"
    mine = client.get(f"{BASE}/collections").json()["rows"]
    assert [one["name"] for one in mine] == [MINE]


def test_a_field_of_anothers_is_refused_as_one_that_nobody_has(it: Served) -> None:
    client = it.client("read", [MINE])
    reader = Caller("ada", "Ada", "read", frozenset({MINE}))
    shelf = f"{BASE}/collections/{MINE}"
    chat = {"model": f"fabula/{MINE}", "messages": [{"role": "user", "content": "Who?"}]}
    assert client.get(f"{shelf}/fields").json()["rows"] == []
    theirs = it.client("read", [OTHERS]).get(f"{BASE}/collections/{OTHERS}/fields").json()
    assert [(row["name"], row["values"]) for row in theirs["rows"]] == [(FIELD, [VALUE])]

    def refusals(name: str) -> list[str]:
        request = {"question": "Who?", "where": f"{name} = 1"}
        chatted = client.post("/v1/chat/completions", json=chat | {"where": request["where"]})
        return [
            client.post(f"{shelf}/search", json=request).json()["detail"],
            client.post(f"{shelf}/ask", json=request).json()["detail"],
            chatted.json()["error"]["message"],
            called(it, "search", reader, collection=MINE, **request),
        ]

    nobodys = f"{FIELD[:-1]}k"
    for of_theirs, of_nobodys in zip(refusals(FIELD), refusals(nobodys), strict=True):
        assert f"has a field '{nobodys}'. " in of_nobodys
        assert FIELD not in of_nobodys
        assert of_theirs.replace(FIELD, nobodys) == of_nobodys


def test_a_conversation_is_its_callers_alone(it: Served, theirs: dict[str, str]) -> None:
    admin = it.client("admin")
    path = f"{BASE}/collections/{OTHERS}/conversations"
    assert admin.get(path).json()["rows"] == []
    assert admin.get(f"{path}/{theirs['conversation']}").status_code == 404
    assert admin.delete(f"{path}/{theirs['conversation']}").status_code == 404
    request = {"question": "And then?", "conversation": theirs["conversation"]}
    assert admin.post(f"{BASE}/collections/{OTHERS}/ask", json=request).status_code == 404


def test_the_page_names_no_collection_to_who_may_see_none(it: Served) -> None:
    meant = it.state.app.default_collection().name
    named, nothing = it.client("read", ["none"]), it.client("read", [])
    assert named.get("/").headers["location"] == "/c/none"
    assert nothing.get("/").headers["location"] == "/admin"
    for client in (named, nothing):
        for path in ("/jobs", "/admin", "/usage?run=true", "/settings?run=true"):
            text = client.get(path).text
            assert not [one for one in (meant, MINE, OTHERS, *PRIVATE) if one in text], path


def test_a_screen_of_no_collection_keeps_the_menu_of_the_one_it_is_opened_from(it: Served) -> None:
    admin, stranger = it.client("admin"), it.client("read", ["none"])
    for name in (MINE, OTHERS):
        jobs = f"/jobs?from={quote(name)}"
        assert f'href="{jobs}"' in admin.get(f"/c/{quote(name)}").text
        assert f'href="/c/{quote(name)}/ask"' in admin.get(jobs).text
        assert name not in stranger.get(jobs).text


def test_what_a_link_of_anothers_page_leads_to_asks_nothing(it: Served) -> None:
    [one] = it.client().get(f"{BASE}/collections/{MINE}/documents").json()["rows"]
    shelf, asked = f"/c/{quote(MINE)}", "Where did Anna walk?"
    book = f"{shelf}/d/{one['id']}"
    own = {"Sec-Fetch-Site": "same-origin"}
    with httpx2.Client(base_url=it.url, headers=own, timeout=120) as browser:
        assert browser.post(f"{BASE}/session", json={"key": it.key()}).status_code == 204

        def led(site: str, path: str, **given: Any) -> httpx2.Response:
            return browser.get(path, params=given, headers={"Sec-Fetch-Site": site})

        for site, is_asked in [("same-origin", True), ("none", True), ("cross-site", False)]:
            answered = led(site, f"{shelf}/ask", q=asked, plain=True).text
            assert ('class="answered' in answered) is is_asked
            assert asked in answered, "it stands in the form"
            assert ('data-question="{}"' in answered) is not is_asked, "no script asks it"
            compared = led(
                site, f"{shelf}/compare", q=asked, modes=["hybrid", "naive"], plain="1"
            ).text
            assert ("Shared passages" in compared) is is_asked
            assert ("a link on another site" in compared) is not is_asked
            for path, name in [
                (f"{book}/pictures/trees/frame", "q"),
                (f"{BASE}/collections/{quote(MINE)}/documents/{one['id']}/plot.svg", "question"),
            ]:
                picture = led(site, path, **{name: asked})
                assert picture.status_code == (200 if is_asked else 403), picture.text
                assert led(site, path).status_code == 200
            assert ("q=Where" in led(site, f"{book}/trees", q=asked).text) is is_asked


@for_each(
    ("method", "path", "body", "status"),
    [
        ("GET", "/c/{mine}/compare?q=x&modes=hybrid,{long}", None, 400),
        ("GET", "/c/{mine}/ask?q=x&plain=1&kind={long}", None, 400),
        ("GET", "/c/{mine}/d/{book}/margin?at={huge}", None, 422),
        ("POST", "/v1/chat/completions", {"model": "fabula/{mine}", "messages": "{long}"}, 400),
        ("POST", "{base}/collections/{mine}/queries/outline", {"limit": 10**30}, 400),
        ("POST", "{base}/cypher", {"x": 10**30}, 400),
        ("POST", "{base}/cypher", {"x": "\ud800"}, 400),
        ("POST", "{base}/keys", {"name": "a", "tokens_a_day": 10**30}, 422),
    ],
)
def test_what_can_not_be_held_is_refused_in_words(
    it: Served, method: str, path: str, body: Any, status: int
) -> None:
    client = it.client()
    [one] = client.get(f"{BASE}/collections/{MINE}/documents").json()["rows"]
    filled = path.format(mine=quote(MINE), book=one["id"], long="y" * 3000, huge=10**30, base=BASE)
    if "messages" in (body or {}):
        messages = [{"role": "user", "content": "x" * 20_001}]
        body = {"model": f"fabula/{MINE}", "messages": messages}
    elif path.endswith("cypher"):
        body = {"statement": "RETURN $x", "parameters": body}
    elif path.endswith("outline"):
        body = {"parameters": body}
    headers = {"Content-Type": "application/json"}
    answer = client.request(method, filled, content=json.dumps(body), headers=headers)
    assert answer.status_code == status, answer.text
    assert "Unexpected error" not in answer.text


def test_no_request_that_the_api_describes_ends_in_an_error_of_ours(it: Served) -> None:
    client = it.client("write", [MINE])
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    seen: list[str] = []
    for found in schema.exclude(method="DELETE").get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.method == "post" and JOBS.search(operation.path):
            continue

        @settings(
            max_examples=6,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def try_one(case: schemathesis.Case[Any]) -> None:
            if "collection" in case.path_parameters:
                case.path_parameters["collection"] = MINE
            answer = case.call(base_url=it.url, headers=dict(client.headers))
            seen.append(case.path)
            assert answer.status_code < 500, (case.method, case.path, answer.text)
            assert SECRET not in answer.text

        try_one()
    assert len(set(seen)) > 20
    assert len(seen) > 100


def test_the_api_is_described_as_openapi_demands(it: Served) -> None:
    body = it.client().get("/openapi.json").json()
    assert body["openapi"].startswith("3.1")
    ids = []
    for path, methods in body["paths"].items():
        for method, one in methods.items():
            assert one["summary"], (method, path)
            assert one["tags"], (method, path)
            ids.append(one["operationId"])
    assert len(ids) == len(set(ids))
    draft = "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.is_valid({"$schema": draft, "$defs": body["components"]["schemas"]})
