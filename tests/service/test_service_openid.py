"""Signing in at an OpenID provider, which speaks real HTTP and signs with real RSA keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from playwright.sync_api import expect

from chromium import browser
from database import empty
from fabula.config.serving import GroupGrant, Serving, read_group_grant
from fabula.config.settings import STATIC, Settings
from fabula.library import App
from fabula.operations.keys import digest
from fabula.server import Address
from fabula.service.application import _make_openid_login
from fabula.service.core.openid_grants import NoGrant, find_openid_caller
from fabula.service.core.sessions import Sessions
from served import Served, served, server_of
from stories import WINTER

# An OpenID provider for tests: real HTTP, real RSA keys, the authorization code flow with PKCE.


@dataclass
class Provider:
    """A provider at which one person is signed in, who agrees to all that clients ask.

    Attributes:
        url: Its address, which is also its issuer.
        client: The id of the only client.
        secret: The client's secret; '' for a public client.
        person: The claims of the person, such as `sub` and `groups`.
        changes: Claims of the ID token in place of the right ones; None leaves one out.
        by_userinfo: Claims that are told at the userinfo endpoint alone.
        answer: Parameters of the redirect in place of the right ones; None leaves one out.
        denies: Whether the person refuses.
        requests: The parameters of the authorization requests.
        exchanged: The forms of the token requests.
    """

    client: str = "fabula-page"
    secret: str = "a secret: with / and +"
    url: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ada", "name": "Ada"})
    changes: dict[str, Any] = field(default_factory=dict)
    by_userinfo: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, str | None] = field(default_factory=dict)
    denies: bool = False
    requests: list[dict[str, str]] = field(default_factory=list)
    exchanged: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @cached_property
    def other_key(self) -> rsa.RSAPrivateKey:
        """A key that the provider does not have."""
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    signs_with_other: bool = False

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/logout",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def keys(self) -> dict[str, Any]:
        jwk = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [jwk | {"kid": "one", "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """Return the address that the person's browser is led to."""
        self.requests.append(query)
        assert query["response_type"] == "code"
        assert query["client_id"] == self.client
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        result: dict[str, str | None] = {"state": query["state"], "iss": self.url}
        result |= {"error": "access_denied"} if self.denies else {"code": code}
        result |= self.answer
        given = {name: value for name, value in result.items() if value is not None}
        return f"{query['redirect_uri']}?{urlencode(given)}"

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of a token response."""
        self.exchanged.append(form)
        if self.secret:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            client, _, secret = pair.partition(":")
            if (unquote_plus(client), unquote_plus(secret)) != (self.client, self.secret):
                return 401, {"error": "invalid_client"}
        elif form.get("client_id") != self.client:
            return 401, {"error": "invalid_client"}
        begun = self.codes.pop(form.get("code", ""), None)
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        told = base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
        if (
            begun is None
            or begun["redirect_uri"] != form.get("redirect_uri")
            or begun["code_challenge"] != told
        ):
            return 400, {"error": "invalid_grant"}
        now = datetime.now(UTC)
        claims = {
            "iss": self.url,
            "aud": self.client,
            "iat": now,
            "exp": now + timedelta(minutes=5),
            "nonce": begun["nonce"],
            **{k: v for k, v in self.person.items() if k == "sub" or k not in self.by_userinfo},
            **self.changes,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        key = self.other_key if self.signs_with_other else self.key
        token = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "one"})
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": token}


@contextmanager
def openid_provider(**options: Any) -> Iterator[Provider]:
    """A provider that listens on loopback until the end."""
    provider = Provider(**options)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            elif parts.path == "/userinfo":
                is_known = self.headers["Authorization"] == "Bearer access"
                claims = {"sub": provider.person["sub"], **provider.by_userinfo}
                self._send(200 if is_known else 401, claims if is_known else {})
            elif parts.path == "/logout":
                self._send(200, query)
            else:
                bodies: Mapping[str, Any] = {
                    "/.well-known/openid-configuration": provider.configuration,
                    "/keys": provider.keys,
                }
                self._send(200, bodies[parts.path]())

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            form = {n: v[0] for n, v in parse_qs(self.rfile.read(length).decode()).items()}
            self._send(*provider.exchange(form, self.headers.get("Authorization", "")))

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield provider
        finally:
            server.shutdown()


pytestmark = pytest.mark.long

GROUPS = ("editors = write novels, poems", "staff = read *", "owners = admin novels")
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with openid_provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def usual(provider: Provider) -> None:
    """The provider as it usually is."""
    provider.person = {"sub": "ada", "name": "Ada", "groups": ["editors"]}
    provider.changes, provider.by_userinfo, provider.answer = {}, {}, {}
    provider.denies = provider.signs_with_other = False


@pytest.fixture(scope="module")
def it(
    address: Address, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    empty(address)
    serving = Serving(
        oidc_issuer=provider.url,
        oidc_client_id=provider.client,
        oidc_client_secret=provider.secret,
        oidc_groups=GROUPS,
        oidc_name="Our school",
    )
    settings = Settings.read(
        **server_of(address),
        home=tmp_path_factory.mktemp("home"),
        model="offline",
        embedding_model=STATIC,
        chunk_tokens=40,
    )
    with App(settings.model_copy(update={"tables": settings.tables | {"serve": serving}})) as app:
        for name in ("novels", "letters"):
            app.collection(name).ingest_text(WINTER, source="winter.txt", title="Winter")
        with served(app) as it:
            yield it


@pytest.fixture
def person(it: Served) -> Iterator[httpx2.Client]:
    """A browser without a session."""
    with httpx2.Client(base_url=it.url, timeout=60, headers=PAGE) as client:
        yield client


def go_through(person: httpx2.Client, to: str = "/c/novels") -> httpx2.Response:
    """Sign in at the provider; return what comes after the provider's redirect."""
    begun = person.get("/signin/openid", params={"to": to})
    assert begun.status_code == 303
    led = httpx2.get(begun.headers["location"], timeout=60)
    return person.get(led.headers["location"])


@pytest.mark.journey
def test_who_signs_in_at_the_provider_goes_on_to_where_they_were_going(
    it: Served, provider: Provider
) -> None:
    with browser() as chromium:
        context = chromium.new_context(base_url=it.url)
        page = context.new_page()
        page.goto("/c/novels?order=author")
        expect(page.get_by_label("Your key")).to_be_visible()
        page.get_by_role("link", name="Sign in with Our school").click()
        page.wait_for_url("**/c/novels?order=author")
        cookies = {cookie["name"]: cookie for cookie in context.cookies()}
        assert cookies.keys() == {"fabula"}
        assert cookies["fabula"]["httpOnly"]
        assert cookies["fabula"]["sameSite"] == "Lax"
        page.goto("/admin")
        expect(page.locator("header p").last).to_contain_text("Ada with the role write")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/signin?left=true")
        out = page.get_by_role("link", name="Sign out of Our school, too").get_attribute("href")
        assert out is not None
        assert out.startswith(f"{provider.url}/logout?client_id=fabula-page&post_logout_redirect")
        page.goto("/c/novels")
        expect(page.locator("h1")).to_have_text("Sign in")
        context.close()


def test_the_request_has_pkce_a_state_and_a_nonce_and_none_is_used_twice(
    person: httpx2.Client, provider: Provider
) -> None:
    provider.requests.clear()
    provider.exchanged.clear()
    for _ in range(2):
        assert go_through(person).status_code == 303
    first, second = provider.requests
    for name in ("state", "nonce", "code_challenge"):
        assert first[name] != second[name]
        assert len(first[name]) >= 43
    assert first["scope"] == "openid profile email"
    assert first["redirect_uri"].endswith("/signin/openid/callback")
    # The verifier is sent to the token endpoint alone, and the secret in no form.
    assert len(provider.exchanged[0]["code_verifier"]) >= 43
    assert "client_secret" not in provider.exchanged[0]


@pytest.mark.parametrize(
    ("changes", "answer", "words"),
    [
        ({"nonce": "another"}, {}, "another sign-in"),
        ({"nonce": None}, {}, "another sign-in"),
        ({"aud": "another"}, {}, "not valid"),
        ({"iss": "https://evil.example"}, {}, "not valid"),
        ({"exp": 1}, {}, "not valid"),
        ({"azp": "another"}, {}, "another program"),
        ({}, {"state": "another"}, "not begun in this browser"),
        ({}, {"state": None}, "not begun in this browser"),
        ({}, {"iss": "https://evil.example"}, "another provider"),
        ({}, {"code": "another"}, "did not accept its own code"),
        ({}, {"code": None}, "no code"),
    ],
)
def test_what_is_not_the_response_to_our_request_lets_nobody_in(
    it: Served,
    person: httpx2.Client,
    provider: Provider,
    changes: dict[str, Any],
    answer: dict[str, str | None],
    words: str,
) -> None:
    provider.changes, provider.answer = changes, answer
    refused = go_through(person)
    assert refused.status_code == 401
    assert words in refused.text
    assert "fabula" not in person.cookies
    assert person.get("/c/novels").status_code == 303


def test_a_token_of_another_key_and_a_refusal_let_nobody_in(
    person: httpx2.Client, provider: Provider
) -> None:
    provider.signs_with_other = True
    assert go_through(person).status_code == 401
    provider.signs_with_other, provider.denies = False, True
    refused = go_through(person)
    assert (refused.status_code, "did not allow it" in refused.text) == (401, True)


def test_a_response_in_another_browser_lets_nobody_in(
    it: Served, person: httpx2.Client, provider: Provider
) -> None:
    begun = person.get("/signin/openid")
    led = httpx2.get(begun.headers["location"], timeout=60).headers["location"]
    with httpx2.Client(base_url=it.url, headers=PAGE, timeout=60) as other:
        assert other.get(led).status_code == 401
        forged = person.cookies["fabula_login"]
        content, _, mark = forged.rpartition(".")
        for cookie in (f"{content[:-4]}AAAA.{mark}", content, f".{mark}", "é"):
            try:
                refused = other.get(led, headers={"Cookie": f"fabula_login={cookie}"})
            except UnicodeEncodeError:
                continue
            assert refused.status_code == 401
    assert person.get(led).status_code == 303


def test_a_sign_in_leads_to_paths_of_ours_alone(person: httpx2.Client) -> None:
    for to in ("https://evil.example/", "//evil.example", "/\\evil.example"):
        assert go_through(person, to).headers["location"] == "/"


def test_groups_give_the_role_and_the_collections(
    it: Served, person: httpx2.Client, provider: Provider
) -> None:
    assert go_through(person).status_code == 303
    assert person.get("/c/novels").status_code == 200
    assert person.get("/c/letters").status_code == 404
    provider.person = {"sub": "bob", "groups": "staff"}
    assert go_through(person).status_code == 303
    assert person.get("/c/letters").status_code == 200
    assert person.get("/c/letters/add").status_code == 403
    provider.person = {"sub": "eve", "groups": ["others"]}
    refused = go_through(person)
    assert (refused.status_code, "in no group" in refused.text) == (403, True)


def test_groups_may_be_told_by_the_userinfo_alone(
    person: httpx2.Client, provider: Provider
) -> None:
    provider.by_userinfo = {"groups": ["owners"]}
    assert go_through(person).status_code == 303
    assert person.get("/c/novels/collections?tool=remove-collection").status_code == 200
    # Another subject's claims are not used.
    provider.by_userinfo = {"groups": ["owners"], "sub": "somebody"}
    assert go_through(person).status_code == 403


def test_a_session_follows_the_groups_of_the_settings(it: Served, person: httpx2.Client) -> None:
    assert go_through(person).status_code == 303
    cookie = person.cookies["fabula"]
    sessions = it.state.sessions
    found = sessions.find(cookie)
    assert found is not None
    assert (found.id, found.role) == ("openid:ada", "write")
    serving = it.state.serving
    fewer = serving.model_copy(update={"oidc_groups": ("editors = read novels",)})
    changed = Sessions(it.state.app.connect(), it.state.keys, fewer).find(cookie)
    assert changed is not None
    assert changed.role == "read"
    none = serving.model_copy(update={"oidc_groups": ("others = read *",)})
    assert Sessions(it.state.app.connect(), it.state.keys, none).find(cookie) is None


def test_a_session_is_of_one_issuer_and_of_no_key(it: Served, person: httpx2.Client) -> None:
    assert go_through(person).status_code == 303
    cookie = person.cookies["fabula"]
    assert it.state.sessions.find(cookie) is not None
    # At another issuer the same subject is somebody else.
    moved = it.state.serving.model_copy(update={"oidc_issuer": "https://other.example"})
    assert Sessions(it.state.app.connect(), it.state.keys, moved).find(cookie) is None
    # Where the key's id is '' it would be the person at the machine.
    rows = it.state.app.connect().rows("service/find_session", hash=digest(cookie))
    assert [(row["id"], row["key"]) for row in rows] == [("openid", None)]


def test_a_path_too_long_for_a_cookie_is_not_gone_back_to(person: httpx2.Client) -> None:
    assert go_through(person, f"/c/novels?words={'x' * 5000}").headers["location"] == "/"


def test_the_cookie_is_for_https_alone_where_a_trusted_proxy_says_so(it: Served) -> None:
    key = {"key": it.key("read")}
    for scheme, is_secure in (("https", True), ("http", False)):
        headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-For": "203.0.113.7"}
        signed = httpx2.post(f"{it.url}/signin", data=key, headers=headers, timeout=60)
        assert ("Secure" in signed.headers["set-cookie"]) is is_secure


def test_without_a_secret_of_the_client_cookies_are_signed_by_a_slow_digest(
    address: Address,
) -> None:
    serving = Serving(oidc_issuer="http://127.0.0.1:9", oidc_client_id="x")
    settings = Settings.read(**server_of(address), model="offline", embedding_model=STATIC)
    settings = settings.model_copy(update={"tables": settings.tables | {"serve": serving}})
    with App(settings) as app:
        first, second = (_make_openid_login(app, serving) for _ in range(2))
        assert first
        assert second
        # Processes at one graph read each other's cookies; nobody guesses the password by them.
        assert first._key == second._key
        for known in (address.password, f"{address.password}\0"):
            assert first._key != hmac.digest(known.encode(), b"fabula sign-in", "sha256")


def test_without_a_provider_there_is_no_way_to_one(address: Address) -> None:
    with (
        App(**server_of(address), model="offline", embedding_model=STATIC) as app,
        served(app) as plain,
        httpx2.Client(base_url=plain.url, headers=PAGE, timeout=60) as client,
    ):
        assert client.get("/signin/openid").status_code == 404
        assert "Sign in with" not in client.get("/signin").text


def test_a_provider_that_is_away_is_told_of(address: Address) -> None:
    serving = Serving(oidc_issuer="http://127.0.0.1:9", oidc_client_id="x")
    settings = Settings.read(**server_of(address), model="offline", embedding_model=STATIC)
    settings = settings.model_copy(update={"tables": settings.tables | {"serve": serving}})
    with (
        App(settings) as app,
        served(app) as it,
        httpx2.Client(base_url=it.url, timeout=60) as client,
    ):
        away = client.get("/signin/openid", headers=PAGE)
        assert (away.status_code, "be reached" in away.text) == (503, True)
        # Whoever has a key signs in with it meanwhile, and goes on to where they were going.
        on = client.get("/signin/openid?to=/c/books", headers=PAGE)
        assert 'name="key"' in on.text
        assert 'name="to" value="/c/books"' in on.text
        assert client.get("/signin", headers=PAGE).status_code == 200


def test_the_lines_of_groups_are_read() -> None:
    assert read_group_grant("class 5b = read novels, 默认 x") == GroupGrant(
        "class 5b", "read", ("novels", "默认 x")
    )
    assert read_group_grant(" a=b = admin * ") == GroupGrant("a=b", "admin", None)
    for line in ("editors", "editors = king *", "editors = write", "= read *"):
        with pytest.raises(ValueError, match="does not say what a group may do"):
            read_group_grant(line)
    for line in ("editors = read *, novels", "editors = read ,"):
        with pytest.raises(ValueError, match="names no collections"):
            read_group_grant(line)
    assert Serving(oidc_groups="a = read x; b = write *").oidc_groups == (
        "a = read x",
        "b = write *",
    )


def test_the_strongest_role_counts_with_its_own_collections() -> None:
    serving = Serving(oidc_groups=GROUPS)

    def find(**claims: Any) -> tuple[str, frozenset[str] | None]:
        caller = find_openid_caller(serving, {"sub": "x", **claims})
        return caller.role, caller.collections

    assert find(groups=["staff"]) == ("read", None)
    assert find(groups=["staff", "editors"]) == ("write", frozenset({"novels", "poems"}))
    assert find(groups=["owners", "staff"]) == ("admin", frozenset({"novels"}))
    # A claim that is made for Fabula counts before all groups.
    own = {"role": "read", "collections": ["letters"]}
    assert find(groups=["owners"], fabula=own) == ("read", frozenset({"letters"}))
    without: list[dict[str, Any]] = [{}, {"groups": []}, {"groups": 7}, {"groups": [["owners"]]}]
    for claims in [*without, {"fabula": 1}]:
        with pytest.raises(NoGrant):
            find(**claims)


def test_the_secret_of_the_client_is_shown_nowhere(it: Served) -> None:
    settings = it.state.app.settings
    assert "a secret" not in repr(settings)
    assert "a secret" not in str(settings.redacted())
    admin = it.client("admin").get("/settings?run=true", headers=PAGE).text
    assert "oidc_client_id" in admin
    assert "oidc_client_secret" not in admin
    query = parse_qs(
        urlsplit(httpx2.get(f"{it.url}/signin/openid", timeout=60).headers["location"]).query
    )
    assert "client_secret" not in query
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", query["code_challenge"][0])
