"""Who is let into the service, and who is not: keys, links, sessions, other sites, tokens."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import for_each
from database import connect, cypher, wipe
from fabula import App, BudgetSpent, Settings, SettingsError, Usage
from fabula.config.serving import Serving
from fabula.config.settings import OFFLINE, STATIC
from fabula.jobs.callers import PERSON, Caller, Quotas
from fabula.operations.keys import make_key, revoke_key
from fabula.server import Address
from fabula.service.core.caller_limits import RequestLimit
from fabula.service.core.errors import Unauthorized
from fabula.service.http.admission import is_open
from fabula.service.http.openid import OpenID
from fabula.service.state import MAX_GUESSES, MAX_LARGE_TASKS, MAX_REQUESTS
from fabula.store import Store
from ports import free_port
from served import Served, served, server_of

GOOD = {"Sec-Fetch-Site": "same-origin"}


def app_at(address: Address, home: Path, **serve: object) -> App:
    return App(
        Settings.read(
            **server_of(address),
            model=OFFLINE,
            embedding_model=STATIC,
            home=home,
            **{f"serve.{name}": value for name, value in serve.items()},
        )
    )


@pytest.fixture(scope="module")
def graph(address: Address) -> Iterator[Store]:
    with connect(address) as store:
        wipe(store)
        yield store


@pytest.fixture(scope="module")
def it(
    address: Address, graph: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    with app_at(address, tmp_path_factory.mktemp("home")) as app, served(app) as it:
        yield it


@pytest.fixture
def stranger(it: Served) -> Iterator[httpx2.Client]:
    """Somebody without a key, who has not guessed yet."""
    it.state.guess_limit = RequestLimit(MAX_GUESSES)
    with httpx2.Client(base_url=it.url, timeout=120) as client:
        yield client


def signed_in(it: Served, key: str = "") -> httpx2.Client:
    """A browser with a session."""
    client = httpx2.Client(base_url=it.url, headers=GOOD, timeout=120)
    if key:
        assert client.post("/api/v1/session", json={"key": key}).status_code == 204
    else:
        client.get(f"/enter?token={it.state.sessions.link()}")
    it.clients.append(client)
    return client


def routes(it: Served) -> list[tuple[str, str]]:
    """Every method and path of the service, with something in the place of its parameters."""
    body = httpx2.get(f"{it.url}/openapi.json", timeout=120).json()
    own = [(method.upper(), path) for path, ways in body["paths"].items() for method in ways]
    from fabula.service.page.screens import ROUTERS

    pages = [
        (method, route.path)
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    return [(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in [*own, *pages]]


@pytest.mark.journey
def test_a_stranger_gets_nothing_from_any_route(it: Served, stranger: httpx2.Client) -> None:
    mcp = [(method, "/mcp") for method in ("GET", "POST", "DELETE")]
    every = [*routes(it), *mcp, ("GET", "/metrics")]
    assert len(every) > 10
    for method, path in every:
        if is_open(path):
            continue
        reply = stranger.request(method, path)
        people = not path.startswith(("/api/", "/v1/", "/mcp", "/metrics"))
        expected = 303 if people and method == "GET" else 401
        assert reply.status_code == expected, (method, path, reply.text)
        if expected == 303:
            assert reply.headers["location"].startswith("/signin?to=")


@pytest.mark.journey
def test_a_reader_changes_nothing_by_any_route(it: Served) -> None:
    reader = it.client("read")
    read_by_post = ("/ask", "/ask/cost", "/search", "/compare", "/session", "/signin", "/signout")
    for method, path in routes(it):
        if method in ("GET", "HEAD") or path.endswith(read_by_post) or path.startswith("/v1/"):
            continue
        if "/conversations" in path or "/turns" in path or "/queries" in path:
            continue  # a reader's own, or what only reads
        reply = reader.request(method, path, json={})
        assert reply.status_code in (403, 404, 422), (method, path, reply.text)
    assert reader.get("/api/v1/keys").status_code == 403


def test_a_key_is_kept_as_a_hash_and_known_by_all_of_it(it: Served, graph: Store) -> None:
    made = make_key(it.asker, "Ada", "write", ("novels", "plays"))
    id, key = made.id, made.key
    assert re.fullmatch(r"fab_[0-9a-f]{10}_[\w-]{43}", key)
    secret = key.split("_", 2)[2]
    everything = json.dumps(cypher(graph, "MATCH (n) RETURN properties(n) AS p"), default=str)
    assert secret not in everything
    found = it.state.keys.find(key)
    assert found == Caller(id, "Ada", "write", frozenset({"novels", "plays"}))
    assert it.state.keys.find(key[:-1]) is None
    assert it.state.keys.find(key.replace(id, "0" * 10)) is None


@given(told=st.text(max_size=300) | st.builds("fab_{}_{}".format, st.text(), st.text()))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_no_key_lets_nobody_in(it: Served, told: str) -> None:
    assert it.state.keys.find(told) is None
    assert it.state.sessions.find(told) is None
    assert it.state.sessions.enter(told) is None


def test_a_key_that_is_revoked_or_expired_is_no_key_in_any_process(
    it: Served, address: Address, graph: Store, tmp_path: Path
) -> None:
    made = make_key(it.asker, "Bob", "read")
    id, key = made.id, made.key
    late = make_key(it.asker, "Eve", "read", days=1)
    cypher(
        graph,
        "MATCH (k:ServiceKey {id: $id}) SET k.expires = datetime() - duration('PT1S')",
        id=late.id,
    )
    with app_at(address, tmp_path) as app, served(app) as other:
        for one in (it, other):
            browser = signed_in(one, key)
            assert browser.get("/api/v1/usage").status_code == 200
        revoke_key(it.asker, id)
        for one in (it, other):
            headers = {"Authorization": f"Bearer {key}"}
            refused = httpx2.get(f"{one.url}/api/v1/usage", headers=headers, timeout=120)
            assert refused.status_code == 401
            assert 'error="invalid_token"' in refused.headers["www-authenticate"]
            assert one.state.keys.find(late.key) is None
    for client in it.clients[-1:]:
        assert client.get("/api/v1/usage").status_code == 401, "signed out with its key"


def test_a_link_signs_in_once(it: Served, stranger: httpx2.Client) -> None:
    token = it.state.sessions.link()
    looked = stranger.get(f"/enter?token={token}", headers={"Sec-Fetch-Mode": "no-cors"})
    assert looked.status_code == 204, "who only looks does not use it up"
    entered = stranger.get(f"/enter?token={token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert stranger.get("/api/v1/keys").status_code == 200, "the person at the machine is an admin"
    again = httpx2.get(f"{it.url}/enter?token={token}", timeout=120)
    assert again.status_code == 401
    assert "works once" in again.text


def test_of_many_who_follow_one_link_at_once_one_is_let_in(it: Served) -> None:
    token = it.state.sessions.link()
    together = threading.Barrier(8)

    def enter(_: int) -> str | None:
        together.wait()
        return it.state.sessions.enter(token)

    with ThreadPoolExecutor(8) as pool:
        cookies = [one for one in pool.map(enter, range(8)) if one]
    assert len(cookies) == 1


def test_a_key_that_expires_or_a_link_that_is_late_lets_nobody_in_any_more(
    it: Served, graph: Store
) -> None:
    made = make_key(it.asker, "Finn", "read", days=1)
    browser = signed_in(it, made.key)
    assert browser.get("/api/v1/usage").status_code == 200
    past = "datetime() - duration('PT1S')"
    cypher(graph, f"MATCH (k:ServiceKey {{id: $id}}) SET k.expires = {past}", id=made.id)
    assert browser.get("/api/v1/usage").status_code == 401
    token = it.state.sessions.link()
    cypher(graph, f"MATCH (l:ServiceLink) SET l.until = {past}")
    assert it.state.sessions.enter(token) is None
    person = signed_in(it)
    cookie = person.cookies["fabula"]
    cypher(graph, f"MATCH (s:ServiceSession {{key: ''}}) SET s.until = {past}")
    assert it.state.sessions.find(cookie) is None


def test_an_admin_of_some_collections_makes_no_key_for_others(it: Served) -> None:
    admin = it.client("admin", ["novels"])
    id = make_key(it.asker, "Gwen", "read").id
    for method, path, told in [
        ("POST", "/api/v1/keys", {"name": "mallory", "role": "admin"}),
        ("GET", "/api/v1/keys", None),
        ("DELETE", f"/api/v1/keys/{id}", None),
        ("GET", "/api/v1/audit", None),
        ("POST", "/api/v1/cypher", {"statement": "MATCH (d:Document) RETURN d.title"}),
        ("GET", "/metrics", None),
        ("POST", "/keys", {}),
        ("GET", "/keys?tool=list-keys&run=true", None),
    ]:
        reply = admin.request(method, path, json=told)
        assert reply.status_code == 403, (path, reply.text)
        assert "for all collections" in reply.text
    assert it.client().get("/metrics").status_code == 200
    assert "neo4j_uri" not in admin.get("/api/v1/settings").text
    assert "Gwen" not in admin.get("/admin").text


def test_no_host_header_makes_a_path_an_open_one(it: Served, stranger: httpx2.Client) -> None:
    for host in ("localhost/static/?", "localhost/livez?x=", "localhost#/livez", "a@localhost"):
        reply = stranger.get("/api/v1/keys", headers={"Host": host})
        assert reply.status_code in (400, 401, 421), (host, reply.text)


@given(
    headers=st.dictionaries(
        st.sampled_from(["Host", "Origin", "Cookie", "Authorization", "Sec-Fetch-Site"]),
        st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f"))
        | st.text().map(lambda told: f"fabula={quote(told)}")
        | st.sampled_from(["localhost", "null", "same-origin", "Bearer fab_x_y", "Basic eDp5"]),
    )
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_headers_let_a_stranger_in(it: Served, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    reply = httpx2.post(f"{it.url}/api/v1/keys", json={"name": "mallory"}, headers=raw, timeout=120)
    assert reply.status_code in (400, 401, 403, 421, 429), reply.text


def test_who_signs_out_is_out(it: Served) -> None:
    browser = signed_in(it)
    cookie = browser.cookies["fabula"]
    assert it.state.sessions.find(cookie) == PERSON
    assert browser.post("/signout").headers["location"] == "/signin"
    assert it.state.sessions.find(cookie) is None
    assert browser.get("/api/v1/usage").status_code == 401


def test_who_signs_in_anew_leaves_no_session_behind(it: Served) -> None:
    browser = signed_in(it)
    key = it.key("read")
    for method, path, told in (
        ("POST", "/signin", {"data": {"key": key, "to": "/"}}),
        ("POST", "/api/v1/session", {"json": {"key": key}}),
        ("GET", "/enter", {"params": {"token": it.state.sessions.link()}}),
    ):
        former = browser.cookies["fabula"]
        browser.request(method, path, **told)  # type: ignore[arg-type]
        assert it.state.sessions.find(former) is None
        assert it.state.sessions.find(browser.cookies["fabula"])


def test_signing_in_goes_on_to_a_path_of_ours_alone(it: Served, stranger: httpx2.Client) -> None:
    key = it.key("read")
    for to, leads in [
        ("/c/novels?q=a%20b", "/c/novels?q=a%20b"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
    ]:
        reply = stranger.post("/signin", data={"key": key, "to": to})
        assert (reply.status_code, reply.headers["location"]) == (303, leads)
    wrong = stranger.post("/signin", data={"key": "fab_x_y", "to": "/"})
    assert wrong.status_code == 401
    assert "That key is not valid" in wrong.text


def test_another_sites_page_can_change_nothing_with_our_cookie(it: Served) -> None:
    browser = signed_in(it)
    new = {"name": "mallory", "role": "admin"}
    for headers, status in [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
    ]:
        assert browser.post("/api/v1/keys", json=new, headers=headers).status_code == status
    old = httpx2.Client(base_url=it.url, cookies=dict(browser.cookies), timeout=120)
    it.clients.append(old)
    for origin, status in [("https://evil.example", 403), ("null", 403), (it.url, 201)]:
        reply = old.post("/api/v1/keys", json=new, headers={"Origin": origin})
        assert reply.status_code == status
    key = {"Authorization": f"Bearer {it.key()}", "Sec-Fetch-Site": "cross-site"}
    reply = httpx2.post(f"{it.url}/api/v1/keys", json=new, headers=key, timeout=120)
    assert reply.status_code == 201, "a program's key is no browser's cookie"


def test_only_names_of_ours_are_answered(it: Served, stranger: httpx2.Client) -> None:
    for host, status in [
        ("evil.example", 421),
        ("10.0.0.1", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("localhost:9", 200),
        ("LOCALHOST", 200),
        ("[::1]:80", 200),
    ]:
        assert stranger.get("/livez", headers={"Host": host}).status_code == status, host


def test_other_origins_are_let_in_where_they_are_named_and_never_with_a_cookie(
    address: Address, graph: Store, tmp_path: Path
) -> None:
    ours = "https://reader.example"
    with app_at(address, tmp_path, origins=ours) as app, served(app) as it:
        request = {"Access-Control-Request-Method": "POST", "Origin": ours}
        response = httpx2.options(f"{it.url}/api/v1/keys", headers=request)
        assert response.headers["access-control-allow-origin"] == ours
        assert "access-control-allow-credentials" not in response.headers
        request["Origin"] = "https://evil.example"
        response = httpx2.options(f"{it.url}/api/v1/keys", headers=request)
        assert "access-control-allow-origin" not in response.headers


def test_everything_says_what_a_browser_may_do_with_it(it: Served) -> None:
    for path in ("/livez", "/signin", "/api/v1/keys", "/nothing"):
        headers = it.client().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "no-" in headers["cache-control"]


def test_a_body_that_is_too_long_is_refused_before_it_is_read(
    address: Address, graph: Store, tmp_path: Path
) -> None:
    with app_at(address, tmp_path, max_upload_mb=1) as app, served(app) as it:
        client = it.client()
        long = b"x" * (2**20 + 1)
        refused = client.post("/api/v1/keys", content=long)
        assert refused.status_code == 413
        pieces = (long[:1000] for _ in range(2000))
        assert client.post("/api/v1/keys", content=pieces).status_code == 413


def test_but_for_files_bodies_are_short_and_those_of_strangers_shorter(
    it: Served, stranger: httpx2.Client
) -> None:
    for client, most, path in [
        (stranger, 2**16, "/api/v1/session"),
        (stranger, 2**16, "/signin"),
        (it.client("read"), 4 * 2**20, "/api/v1/collections/x/search"),
        (it.client("read"), 4 * 2**20, "/mcp"),
    ]:
        kind = "application/x-www-form-urlencoded" if path == "/signin" else "application/json"
        post = partial(client.post, path, headers={"Content-Type": kind})
        assert post(content=b" " * (most + 1)).status_code == 413
        pieces = (b" " * 2**15 for _ in range(most // 2**15 + 1))
        assert post(content=pieces).status_code == 413
        assert post(content=b" " * 1000).status_code != 413
    files = [("files", ("a.bin", bytes(5 * 2**20))), ("files", ("b.txt", b"Some words."))]
    estimated = it.client("write").post("/api/v1/collections/x/documents?dry_run=true", files=files)
    assert estimated.status_code == 200


def name_of(client: httpx2.Client) -> str:
    """The id of a client's key."""
    return client.headers["authorization"].split("_")[1]


def test_one_key_can_not_have_all_threads(it: Served) -> None:
    client, other = it.client("read"), it.client("read")
    with ExitStack() as stack:
        for _ in range(MAX_REQUESTS):
            stack.enter_context(it.state.request_limit.hold(name_of(client)))
        refused = client.get("/api/v1/usage")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert f"At most {MAX_REQUESTS} requests of one key at once" in refused.json()["detail"]
        assert other.get("/api/v1/usage").status_code == 200
    assert client.get("/api/v1/usage").status_code == 200


def test_one_key_has_two_large_tasks_at_once_and_is_told_which(it: Served) -> None:
    client, other = it.client("write"), it.client("read")
    shelf = "/api/v1/collections/x"
    form = {"files": ("winter.txt", b"Anna walked home. Snow fell.")}
    it.state.app.collection("x").ingest_text("Anna walked home.", source="a.txt", title="Anna")
    with ExitStack() as stack:
        for _ in range(MAX_LARGE_TASKS):
            stack.enter_context(it.state.large_task_limit.hold(name_of(client), "an export"))
        for refused in (
            client.get(f"{shelf}/export"),
            client.post(f"{shelf}/documents?dry_run=true", files=form),
        ):
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert refused.json()["detail"] == (
                "At most 2 large tasks of one key at once. Under way: an export, an export."
            )
        assert other.get(f"{shelf}/export").status_code != 429
    assert client.post(f"{shelf}/documents?dry_run=true", files=form).status_code == 200


def test_so_many_requests_a_minute_and_no_more(
    address: Address, graph: Store, tmp_path: Path
) -> None:
    with app_at(address, tmp_path, requests_a_minute=5) as app, served(app) as it:
        client, other = it.client(), it.client()
        replies = [client.get("/api/v1/usage") for _ in range(6)]
        assert [reply.status_code for reply in replies] == [200] * 5 + [429]
        assert 0 < int(replies[-1].headers["retry-after"]) <= 60
        assert other.get("/api/v1/usage").status_code == 200, "each key has its own"
        with httpx2.Client(
            base_url=it.url, headers={"Cookie": "fabula=wrong"}, timeout=120
        ) as stranger:
            refused = [stranger.get("/api/v1/usage").status_code for _ in range(6)]
        assert refused == [401] * 5 + [429], "a session that is none was looked for, too"


def test_who_guesses_keys_is_told_to_wait_and_nobody_else_is(
    address: Address, graph: Store, tmp_path: Path
) -> None:
    with app_at(address, tmp_path) as app, served(app) as it:
        wrong = {"Authorization": "Bearer fab_0123456789_wrong"}
        with httpx2.Client(base_url=it.url, headers=wrong, timeout=120) as guessing:
            replies = [guessing.get("/api/v1/usage").status_code for _ in range(21)]
        assert replies == [401] * 20 + [429]
        assert it.client().get("/api/v1/usage").status_code == 200, "of the same address"
        with httpx2.Client(base_url=it.url, timeout=120) as stranger:
            form = {"key": "fab_0123456789_wrong"}
            assert stranger.post("/signin", data=form).status_code == 429
            assert stranger.post("/api/v1/session", json=form).status_code == 429
            assert stranger.get("/enter?token=wrong").status_code == 429
        assert signed_in(it, it.key("read")).get("/api/v1/usage").status_code == 200


def test_a_quota_ends_a_key_for_the_day(it: Served) -> None:
    caller = Caller("quota", "Carol", "read", quotas=Quotas(tokens_a_day=100, money_a_month=1.0))
    ledger = it.state.ledger
    account = ledger.account(caller, "novels", "ask")
    assert ledger.tokens_left(caller) == 100
    # 2 dollars for a million tokens that are sent, and 8 for those that are written.
    account.add("answer", Usage.of_model("gpt-4.1", Usage(2, 50, 20)))
    assert ledger.tokens_left(caller) == 30
    account.add("answer", Usage.of_model("gpt-4.1", Usage(1, 25, 10)))
    with pytest.raises(BudgetSpent, match="has spent 105 of the 100 tokens that it may spend a da"):
        ledger.refuse_spent(caller)
    assert ledger.tokens_left(caller) == 0
    [mine] = ledger.usage("key", "quota")
    assert (mine.calls, mine.tokens, mine.money, mine.name) == (3, 105, 0.00039, "Carol")
    poor = Caller("quota", "Carol", "read", quotas=Quotas(money_a_month=0.0003))
    with pytest.raises(BudgetSpent, match=r"\$0\.0004 of the .* a month"):
        ledger.refuse_spent(poor)
    assert ledger.tokens_left(PERSON) is None


def test_what_is_changed_is_told_to_admins(it: Served) -> None:
    admin = it.client()
    made = admin.post("/api/v1/keys", json={"name": "Dora", "collections": ["plays"]})
    assert made.status_code == 201
    admin.delete(f"/api/v1/keys/{made.json()['id']}")
    first, second = admin.get("/api/v1/audit?limit=2").json()["rows"]
    assert (first["what"], first["target"]) == ("revoke key", made.json()["id"])
    assert (second["what"], second["request"]) == ("make key", made.headers["x-request-id"])
    assert second["target"].endswith("Dora, read, plays")
    page = admin.get("/api/v1/audit?limit=1").json()
    after = admin.get("/api/v1/audit", params={"limit": 1, "after": page["next"]}).json()
    assert after["rows"] == [second]
    # Page by page it is the same list, none left out and none twice.
    whole = admin.get("/api/v1/audit?limit=200").json()["rows"]
    pages, place = [], ""
    while place is not None:
        page = admin.get("/api/v1/audit", params={"limit": 3, "after": place}).json()
        pages += page["rows"]
        place = page["next"]
    assert pages == whole
    forged = admin.get("/api/v1/audit", params={"after": "yesterday a"})
    assert (forged.status_code, "not the `next`" in forged.json()["detail"]) == (400, True)
    listed = {row["name"]: row for row in admin.get("/api/v1/keys").json()["rows"]}
    assert listed["Dora"]["revoked"]
    assert listed["Dora"]["collections"] == ["plays"]


@contextmanager
def issuing(private: ed25519.Ed25519PrivateKey) -> Iterator[tuple[str, list[str]]]:
    """An issuer of OpenID tokens that says what its keys are, and what it was asked."""
    key = jwt.algorithms.OKPAlgorithm.to_jwk(private.public_key(), as_dict=True)
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    second = jwt.algorithms.RSAAlgorithm.to_jwk(other, as_dict=True)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            pages = {
                "/.well-known/openid-configuration": {"jwks_uri": f"{url}/keys"},
                "/keys": {
                    "keys": [
                        key | {"kid": "one", "use": "sig", "alg": "EdDSA"},
                        second | {"kid": "two"},
                    ]
                },
            }[self.path]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(pages).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield url, asked
        server.shutdown()


def test_tokens_of_another_issuer_are_verified_by_its_own_keys() -> None:
    private, other = (ed25519.Ed25519PrivateKey.generate() for _ in range(2))
    with issuing(private) as (url, asked):
        openid = OpenID(Serving(oidc_issuer=url, oidc_audience="fabula"))
        claims = {
            "iss": url,
            "aud": "fabula",
            "sub": "ada",
            "name": "Ada",
            "exp": datetime.now(UTC) + timedelta(minutes=5),
            "fabula": {"role": "read", "collections": ["novels"]},
        }

        def token(
            key: ed25519.Ed25519PrivateKey = private, kid: str = "one", **changed: object
        ) -> str:
            given = {name: one for name, one in (claims | changed).items() if one is not None}
            return jwt.encode(given, key, algorithm="EdDSA", headers={"kid": kid})

        found = openid.find(token())
        assert found == Caller("openid:ada", "Ada", "read", frozenset({"novels"}))
        assert openid.find(token(fabula='{"role": "admin", "collections": "*"}')).may("admin")
        unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": "one"})
        shared = jwt.encode(claims, "x" * 32, algorithm="HS256", headers={"kid": "one"})
        for bad in [
            token(other),
            token(aud="another"),
            token(iss="https://evil.example"),
            token(exp=datetime.now(UTC) - timedelta(minutes=5)),
            token(exp=None),
            token(fabula=None),
            token(fabula={"role": "king"}),
            token(fabula={"role": "read", "collections": "novels"}),
            unsigned,
            shared,
            "not.a.token",
            token(nbf=datetime.now(UTC) + timedelta(minutes=5)),
            token(kid="two"),
            *(token(kid=f"unknown {number}") for number in range(20)),
        ]:
            with pytest.raises(Unauthorized):
                openid.find(bad)
        assert openid.find(token()) == found
        assert asked == ["/.well-known/openid-configuration", "/keys"], "once, whoever asks"


def test_an_issuer_that_is_away_is_not_asked_for_each_token(
    caplog: pytest.LogCaptureFixture,
) -> None:
    private = ed25519.Ed25519PrivateKey.generate()
    token = jwt.encode({"sub": "a"}, private, algorithm="EdDSA", headers={"kid": "one"})
    with free_port() as port:
        openid = OpenID(Serving(oidc_issuer=f"http://127.0.0.1:{port}", oidc_audience="fabula"))
        for _ in range(3):
            with pytest.raises(Unauthorized):
                openid.find(token)
    assert len([message for message in caplog.messages if "can't be fetched" in message]) == 1


@contextmanager
def answering(bodies: dict[str, bytes], wait: threading.Event | None = None) -> Iterator[str]:
    """An issuer that sends these bodies, each once `wait` is set."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if wait:
                wait.wait(60)
            body = bodies[self.path].replace(b"URL", url.encode())
            self.send_response(200)
            self.end_headers()
            # Who has heard enough hangs up.
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield url
        finally:
            if wait:
                wait.set()
            server.shutdown()


PLACE = "/.well-known/openid-configuration"
NESTED = b"[" * 200_000


@pytest.mark.parametrize(
    "bodies",
    [
        {PLACE: NESTED},
        {PLACE: b'{"jwks_uri": "URL/keys"}', "/keys": NESTED},
        {PLACE: b'{"jwks_uri": "URL/keys"}', "/keys": b'["no", "set"]'},
        {PLACE: b'{"jwks_uri": "URL/keys"}', "/keys": b" " * 50_000_000 + b'{"keys": []}'},
        {PLACE: b'{"jwks_uri": "file:///etc/passwd"}'},
        {PLACE: b'"no object"'},
    ],
)
def test_whatever_an_issuer_sends_a_token_is_refused_and_no_more(
    bodies: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    token = jwt.encode({"sub": "a"}, "x" * 32, algorithm="HS256", headers={"kid": "one"})
    with answering(bodies) as url:
        openid = OpenID(Serving(oidc_issuer=url, oidc_audience="fabula"))
        with pytest.raises(Unauthorized):
            openid.find(token)
    assert len([message for message in caplog.messages if "can't be fetched" in message]) == 1


def test_a_token_of_any_depth_is_refused() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 45_000).rstrip(b"=").decode()
    openid = OpenID(Serving(oidc_issuer="http://127.0.0.1:9", oidc_audience="fabula"))
    with pytest.raises(Unauthorized):
        openid.find(f"{deep}.{deep}.{deep}")


def test_while_an_issuer_is_slow_keys_health_checks_and_other_tokens_are_answered(
    address: Address, graph: Store, tmp_path: Path
) -> None:
    wait = threading.Event()
    token = jwt.encode({"sub": "a"}, "x" * 32, algorithm="HS256", headers={"kid": "one"})
    headers = {"Authorization": f"Bearer {token}"}
    with (
        answering({PLACE: b"{}"}, wait) as url,
        app_at(address, tmp_path, oidc_issuer=url, oidc_audience="fabula") as app,
        served(app) as it,
        ThreadPoolExecutor(30) as pool,
        ExitStack() as stack,
    ):
        client = it.client("read")
        client.get("/api/v1/usage")
        # One client for all: each of its own takes a busy machine as long as an issuer may.
        strangers = stack.enter_context(httpx2.Client(headers=headers, timeout=60))
        ask = partial(strangers.get, f"{it.url}/api/v1/usage")
        futures = [pool.submit(ask) for _ in range(30)]
        beside = [client.get(path) for path in ("/livez", "/api/v1/usage")]
        done = sorted((prompt.result() for prompt in futures), key=lambda answer: answer.elapsed)
        statuses = [one.status_code for one in done]
        # One has waited as long as an issuer may take, and all others were told at once.
        assert statuses[:20] == [503] * 20
        assert done[0].headers["retry-after"] == "1"
        assert done[0].elapsed < done[-1].elapsed / 2
        assert statuses[-1] == 401
        assert done[-1].elapsed.total_seconds() >= 4
        assert [one.status_code for one in beside] == [200, 200]
        assert all(one.elapsed < done[-1].elapsed for one in beside)


def test_a_working_folders_file_says_nothing_of_who_is_let_in(tmp_path: Path) -> None:
    (tmp_path / "fabula.toml").write_text('[serve]\nhost = "0.0.0.0"\n')
    with pytest.raises(SettingsError, match="is not taken from the working folder"):
        Settings.read()


@for_each("name", ["alpha,beta", "../x", "", "a/b"])
def test_a_key_for_what_can_be_no_collection_is_refused(it: Served, name: str) -> None:
    request = {"name": "Ada", "collections": [name]}
    refused = it.client("admin").post("/api/v1/keys", json=request)
    assert refused.status_code == 400, refused.text
    assert "The name of the collection" in refused.json()["detail"]


def test_of_a_key_is_told_which_of_its_collections_are_not_there(it: Served) -> None:
    it.state.app.collection("held").ingest_text("Anna lit the lamp.", source="a.txt")
    request = {"name": "Ada", "collections": ["held", "hled"]}
    made = it.client("admin").post("/api/v1/keys", json=request)
    assert made.status_code == 201
    assert made.json()["missing"] == ["hled"]
