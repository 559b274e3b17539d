"""Verify OpenID tokens that are sent as bearer tokens, with the keys of their issuer.

The keys are fetched here and not by `jwt.PyJWKClient`. As of PyJWT 2.15 that client holds a lock
while it fetches, so that a slow issuer makes every caller wait; limits the time of each read but
not of the whole fetch, and the size of the reply not at all; fetches again at once after a fetch
that failed, so that tokens of strangers could have it ask without end; and drops its keys when they
expire, where this module uses them for an hour while the issuer is down.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import jwt

from fabula.config.serving import Serving
from fabula.models.transport import Bounds, time_connections
from fabula.service.core.callers import ROLES, Caller
from fabula.service.core.errors import Unauthorized, Unavailable

LOG = logging.getLogger("fabula.service")
ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""The accepted signatures: none by a shared secret, and not the empty one."""
FETCH_SECONDS = 5.0
"""How long fetching an issuer's keys may take in all."""
MAX_BYTES = 1_000_000
"""The largest size of each of an issuer's two documents, which usually have a few kB."""
COOLDOWN_SECONDS = 30.0
"""How long after a fetch, failed ones too, the next may begin: tokens of strangers may name any
number of unknown keys, and each would wait for an issuer that is down.
"""
FRESH_SECONDS = 300.0
"""How long fetched keys are used without asking again, as an issuer may withdraw one."""
STALE_SECONDS = 3600.0
"""How long fetched keys are used while the issuer can't be reached."""
LEEWAY_SECONDS = 30.0
"""How much the clocks of issuer and service may differ."""
FAILURES = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    jwt.PyJWTError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What fetching the keys may raise: an issuer may be down, slow, or send any JSON."""
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class OpenID:
    """Verifies tokens of one issuer for one audience, and fetches its keys when they are needed."""

    def __init__(self, serving: Serving) -> None:
        assert serving.oidc_issuer
        self._issuer, self._audience = serving.oidc_issuer, serving.oidc_audience
        self._claim = serving.oidc_claim
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = -math.inf
        self._is_fetching = False
        self._lock = threading.Lock()

    def find(self, token: str) -> Caller:
        """Return the caller that a token belongs to. Raises Unauthorized for an invalid token."""
        try:
            claims = jwt.decode(
                token,
                # A PyJWK knows its own algorithm; the token's header must not choose it.
                self._key(token),
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise Unauthorized("That token is not valid.", headers=HEADERS) from error
        return self._caller(claims)

    def _key(self, token: str) -> jwt.PyJWK:
        """Return the issuer's key that a token names.

        One caller at a time fetches the keys and waits; the others use the keys that are known.

        Raises:
            PyJWTError: The issuer has no key of that name.
            Unavailable: The keys are being fetched just now.

        """
        name = str(jwt.get_unverified_header(token).get("kid"))
        with self._lock:
            now = time.monotonic()
            is_needed = name not in self._keys or now - self._fetched_at > FRESH_SECONDS
            must_fetch = (
                is_needed and not self._is_fetching and now - self._tried_at > COOLDOWN_SECONDS
            )
            self._is_fetching |= must_fetch
        if must_fetch:
            self._refresh()
        with self._lock:
            if time.monotonic() - self._fetched_at > STALE_SECONDS:
                self._keys = {}
            if name in self._keys:
                return self._keys[name]
            if self._is_fetching:
                raise Unavailable("The keys of that token's issuer are being fetched just now.", 1)
            raise jwt.InvalidKeyError("The issuer has no such key.")

    def _refresh(self) -> None:
        """Fetch the issuer's keys without holding the lock; the known keys stay if that fails."""
        keys: dict[str, jwt.PyJWK] | None = None
        try:
            keys = self._fetch()
        except FAILURES as error:
            LOG.warning("The keys of %s can't be fetched: %s", self._issuer, error)
        finally:
            with self._lock:
                if keys is not None:
                    self._keys, self._fetched_at = keys, time.monotonic()
                self._tried_at = time.monotonic()
                self._is_fetching = False

    def _fetch(self) -> dict[str, jwt.PyJWK]:
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        plain = httpx2.Client(
            timeout=FETCH_SECONDS, follow_redirects=False, headers={"Accept-Encoding": "identity"}
        )
        with Bounds(time.monotonic() + FETCH_SECONDS).hold(), time_connections(plain) as client:
            configuration = _get(client, url)
            keys = jwt.PyJWKSet.from_dict(_get(client, str(configuration["jwks_uri"]))).keys
        return {
            key.key_id: key for key in keys if key.key_id and key.public_key_use in ("sig", None)
        }

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        """Return the caller of verified claims.

        The configured claim has the form {"role": "read", "collections": ["novels"]}; the string
        "*" for `collections` means all.
        """
        grant = claims.get(self._claim)
        if isinstance(grant, str):
            try:
                grant = json.loads(grant)
            except (ValueError, RecursionError):
                grant = None
        if not isinstance(grant, Mapping) or grant.get("role") not in ROLES:
            raise Unauthorized(
                f"That token's claim {self._claim!r} gives no role here.", headers=HEADERS
            )
        names = grant.get("collections", [])
        is_unlimited = names == "*"
        if not is_unlimited and not (
            isinstance(names, list) and all(isinstance(n, str) for n in names)
        ):
            raise Unauthorized(
                f"That token's claim {self._claim!r} can't be read.", headers=HEADERS
            )
        name = str(claims.get("name") or claims.get("email") or claims["sub"])
        return Caller(
            id=f"openid:{claims['sub']}",
            name=name[:100],
            role=grant["role"],
            collections=None if is_unlimited else frozenset(names),
        )


def _get(client: httpx2.Client, url: str) -> Any:
    """Return the JSON at an address. Raises one of FAILURES."""
    body = bytearray()
    with client.stream("GET", url) as response:
        response.raise_for_status()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MAX_BYTES:
                raise ValueError(f"{url} has more than {MAX_BYTES:,} bytes")
    return json.loads(body)
