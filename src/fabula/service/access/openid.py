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

from fabula.service.access.caller import ROLES, Caller
from fabula.service.problems import Unknown
from fabula.serving import Serving

LOG = logging.getLogger("fabula.service")
ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""None that a shared secret, or nothing at all, would do for."""
SECONDS = 5.0
"""That an issuer has to say its keys."""
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
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class OpenID:
    """Verifies the tokens of one issuer for one audience; its keys are fetched when needed."""

    def __init__(self, serving: Serving) -> None:
        assert serving.oidc_issuer
        self._issuer, self._audience = serving.oidc_issuer, serving.oidc_audience
        self._claim = serving.oidc_claim
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = self._asked = -math.inf
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
        except (jwt.PyJWTError, ValueError) as error:
            raise Unknown("That token is not good.", headers=HEADERS) from error
        return self._caller(claims)

    def _key(self, token: str) -> jwt.PyJWK:
        """The issuer's key that a token names. Raises PyJWTError where it has none of that name."""
        name = str(jwt.get_unverified_header(token).get("kid"))
        with self._lock:
            now = time.monotonic()
            is_needed = name not in self._keys or now - self._fetched > FRESH
            if is_needed and now - self._asked > AGAIN:
                try:
                    self._keys, self._fetched = self._fetch(), now
                except (httpx2.HTTPError, jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
                    LOG.warning("The keys of %s can't be had: %s", self._issuer, error)
                self._asked = time.monotonic()
            if now - self._fetched > STALE:
                self._keys = {}
            if name not in self._keys:
                raise jwt.InvalidKeyError("The issuer has no such key.")
            return self._keys[name]

    def _fetch(self) -> dict[str, jwt.PyJWK]:
        place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        told = _get(place)
        keys = jwt.PyJWKSet.from_dict(_get(str(told["jwks_uri"]))).keys
        return {
            one.key_id: one for one in keys if one.key_id and one.public_key_use in ("sig", None)
        }

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        """What a claim says: {"role": "read", "collections": ["novels"]}, "*" being all."""
        told = claims.get(self._claim)
        if isinstance(told, str):
            try:
                told = json.loads(told)
            except ValueError:
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


def _get(place: str) -> Any:
    response = httpx2.get(place, timeout=SECONDS, follow_redirects=False)
    response.raise_for_status()
    return response.json()
