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
from fabula.jobs.callers import Caller
from fabula.models.endpoint.transport import Bounds, time_connections
from fabula.service.core.errors import Unauthorized, Unavailable
from fabula.service.core.openid_grants import NoGrant, find_openid_caller

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
AWAY = "The provider that people sign in at can't be reached."
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class ProviderAway(Exception):
    """The provider can't be reached in time, or its answer can't be read."""


class ProviderRefused(ProviderAway):
    """The provider answers with an error status."""


class OpenID:
    """Verifies tokens of one issuer for one audience, and fetches its keys when they are needed."""

    def __init__(self, serving: Serving) -> None:
        assert serving.oidc_issuer
        self._issuer, self._audience = serving.oidc_issuer, serving.oidc_audience
        self._serving = serving
        self._configuration: Mapping[str, Any] = {}
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = -math.inf
        self._is_fetching = False
        self._lock = threading.Lock()

    def find(self, token: str) -> Caller:
        """Return the caller that a token belongs to. Raises Unauthorized for an invalid token."""
        claims = self.verify(token, self._audience)
        try:
            return find_openid_caller(self._serving, claims)
        except NoGrant as error:
            raise Unauthorized(str(error), headers=HEADERS) from error

    def verify(self, token: str, audience: str | None) -> dict[str, Any]:
        """Return the claims of a token for an audience. Raises Unauthorized for an invalid one."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                # A PyJWK knows its own algorithm; the token's header must not choose it.
                self._key(token),
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=audience,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise Unauthorized("That token is not valid.", headers=HEADERS) from error
        return claims

    def configuration(self) -> Mapping[str, Any]:
        """Return what the issuer says of itself (OpenID Connect Discovery 1.0, section 3).

        Raises:
            Unavailable: It can't be fetched, or is being fetched just now.
        """
        self._refresh_if_due()
        with self._lock:
            if self._configuration and time.monotonic() - self._fetched_at <= STALE_SECONDS:
                return self._configuration
        raise Unavailable(AWAY, 10)

    def _key(self, token: str) -> jwt.PyJWK:
        """Return the issuer's key that a token names."""
        name = str(jwt.get_unverified_header(token).get("kid"))
        self._refresh_if_due(name)
        with self._lock:
            if time.monotonic() - self._fetched_at > STALE_SECONDS:
                self._keys = {}
            if name in self._keys:
                return self._keys[name]
            if self._is_fetching:
                raise Unavailable("The keys of that token's issuer are being fetched just now.", 1)
            raise jwt.InvalidKeyError("The issuer has no such key.")

    def _refresh_if_due(self, name: str | None = None) -> None:
        """Fetch the keys where they are old or lack one, unless that was tried just now."""
        with self._lock:
            now = time.monotonic()
            is_needed = name not in (None, *self._keys) or now - self._fetched_at > FRESH_SECONDS
            # One caller at a time fetches the keys and waits; others use the keys that are known.
            must_fetch = (
                is_needed and not self._is_fetching and now - self._tried_at > COOLDOWN_SECONDS
            )
            self._is_fetching |= must_fetch
        if must_fetch:
            self._refresh()

    def _refresh(self) -> None:
        """Fetch the issuer's keys without holding the lock; the known keys stay if that fails."""
        keys: dict[str, jwt.PyJWK] | None = None
        configuration: Mapping[str, Any] = {}
        try:
            configuration, keys = self._fetch()
        except FAILURES as error:
            LOG.warning("The keys of %s can't be fetched: %s", self._issuer, error)
        finally:
            with self._lock:
                if keys is not None:
                    self._keys, self._fetched_at = keys, time.monotonic()
                    self._configuration = configuration
                self._tried_at = time.monotonic()
                self._is_fetching = False

    def _fetch(self) -> tuple[Mapping[str, Any], dict[str, jwt.PyJWK]]:
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        with Bounds(time.monotonic() + FETCH_SECONDS).hold(), _open_client() as client:
            configuration = _get(client, url)
            if configuration.get("issuer", self._issuer) != self._issuer:
                raise ValueError(f"{url} is of the issuer {configuration['issuer']}")
            keys = jwt.PyJWKSet.from_dict(_get(client, str(configuration["jwks_uri"]))).keys
        return configuration, {
            key.key_id: key for key in keys if key.key_id and key.public_key_use in ("sig", None)
        }


def call_provider(
    url: str, headers: Mapping[str, str], form: Mapping[str, str] | None = None
) -> Any:
    """Return the JSON at an address of a provider, to which a form is posted if there is one.

    Raises:
        ProviderRefused: It answers with an error status.
        ProviderAway: It can't be reached in time, or answers with something else.
    """
    try:
        with Bounds(time.monotonic() + FETCH_SECONDS).hold(), _open_client() as client:
            return _get(client, url, headers, form)
    except httpx2.HTTPStatusError as error:
        raise ProviderRefused(str(error)) from error
    except FAILURES as error:
        raise ProviderAway(str(error)) from error


def _open_client() -> Any:
    plain = httpx2.Client(
        timeout=FETCH_SECONDS, follow_redirects=False, headers={"Accept-Encoding": "identity"}
    )
    return time_connections(plain)


def _get(
    client: httpx2.Client,
    url: str,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> Any:
    """Return the JSON at an address, of limited size. Raises one of FAILURES."""
    body = bytearray()
    method = "GET" if form is None else "POST"
    with client.stream(method, url, headers=headers, data=form) as response:
        response.raise_for_status()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MAX_BYTES:
                raise ValueError(f"{url} has more than {MAX_BYTES:,} bytes")
    return json.loads(body)
