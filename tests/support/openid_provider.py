"""An OpenID provider for tests: real HTTP, real RSA keys, the authorization code flow with PKCE."""

from __future__ import annotations

import base64
import hashlib
import json
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

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa


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
        asked: The parameters of the authorization requests.
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
    asked: list[dict[str, str]] = field(default_factory=list)
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
        self.asked.append(query)
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
