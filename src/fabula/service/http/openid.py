"""OpenID tokens as bearer tokens: verified by their issuer's own keys, and nothing else."""

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
from fabula.service.core.errors import Unavailable, Unknown

LOG = logging.getLogger("fabula.service")
ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""None that a shared secret, or nothing at all, would do for."""
SECONDS = 5.0
"""That an issuer has to say its keys, in all."""
MAX_BYTES = 1_000_000
"""Of each of an issuer's two documents, which have a few thousand."""
AGAIN = 30.0
"""Seconds between two questions to the issuer: a stranger's tokens may name any key, and as many as
they like, and an issuer that is away would have each of them wait.
"""
FRESH = 300.0
"""Seconds that its keys are taken for what they are; an issuer may withdraw one."""
STALE = 3600.0
"""Seconds that they hold where the issuer is away."""
LEEWAY = 30.0
"""Seconds that clocks may differ."""
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
"""All that an issuer's documents may lead to: it may be away, slow, or send any JSON."""
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class OpenID:
    """Verifies the tokens of one issuer for one audience; its keys are fetched when needed."""

    def __init__(self, serving: Serving) -> None:
        assert serving.oidc_issuer
        self._issuer, self._audience = serving.oidc_issuer, serving.oidc_audience
        self._claim = serving.oidc_claim
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = self._asked = -math.inf
        self._is_fetching = False
        self._lock = threading.Lock()

    def find(self, token: str) -> Caller:
        """Who a token is of. Raises Unknown for one that is not good."""
        try:
            claims = jwt.decode(
                token,
                # Which says what it signs by: a token has no say in that.
                self._key(token),
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise Unknown("That token is not good.", headers=HEADERS) from error
        return self._caller(claims)

    def _key(self, token: str) -> jwt.PyJWK:
        """Return the issuer's key that a token names.

        One caller at a time asks the issuer, and waits; the others go by the keys that are known.
        Raises PyJWTError where the issuer has no key of that name, and Unavailable where that is
        just being asked.
        """
        name = str(jwt.get_unverified_header(token).get("kid"))
        with self._lock:
            now = time.monotonic()
            is_needed = name not in self._keys or now - self._fetched > FRESH
            must_fetch = is_needed and not self._is_fetching and now - self._asked > AGAIN
            self._is_fetching |= must_fetch
        if must_fetch:
            self._renew()
        with self._lock:
            if time.monotonic() - self._fetched > STALE:
                self._keys = {}
            if name in self._keys:
                return self._keys[name]
            if self._is_fetching:
                raise Unavailable("The issuer of that token is just being asked for its keys.", 1)
            raise jwt.InvalidKeyError("The issuer has no such key.")

    def _renew(self) -> None:
        """Ask the issuer for its keys, without the lock; the known ones stay if that fails."""
        keys: dict[str, jwt.PyJWK] | None = None
        try:
            keys = self._fetch()
        except FAILURES as error:
            LOG.warning("The keys of %s can't be had: %s", self._issuer, error)
        finally:
            with self._lock:
                if keys is not None:
                    self._keys, self._fetched = keys, time.monotonic()
                self._asked = time.monotonic()
                self._is_fetching = False

    def _fetch(self) -> dict[str, jwt.PyJWK]:
        place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        plain = httpx2.Client(
            timeout=SECONDS, follow_redirects=False, headers={"Accept-Encoding": "identity"}
        )
        with Bounds(time.monotonic() + SECONDS).hold(), time_connections(plain) as client:
            told = _get(client, place)
            keys = jwt.PyJWKSet.from_dict(_get(client, str(told["jwks_uri"]))).keys
        return {
            one.key_id: one for one in keys if one.key_id and one.public_key_use in ("sig", None)
        }

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        """What a claim says: {"role": "read", "collections": ["novels"]}, "*" being all."""
        told = claims.get(self._claim)
        if isinstance(told, str):
            try:
                told = json.loads(told)
            except (ValueError, RecursionError):
                told = None
        if not isinstance(told, Mapping) or told.get("role") not in ROLES:
            raise Unknown(
                f"That token's claim {self._claim!r} gives no role here.", headers=HEADERS
            )
        names = told.get("collections", [])
        every = names == "*"
        if not every and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise Unknown(f"That token's claim {self._claim!r} can't be read.", headers=HEADERS)
        name = str(claims.get("name") or claims.get("email") or claims["sub"])
        return Caller(
            id=f"openid:{claims['sub']}",
            name=name[:100],
            role=told["role"],
            collections=None if every else frozenset(names),
        )


def _get(client: httpx2.Client, place: str) -> Any:
    """Return the JSON at an address. Raises one of FAILURES."""
    body = bytearray()
    with client.stream("GET", place) as response:
        response.raise_for_status()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MAX_BYTES:
                raise ValueError(f"{place} has more than {MAX_BYTES:,} bytes")
    return json.loads(body)
