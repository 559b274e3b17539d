"""OpenID tokens as bearer tokens: verified by their issuer's own keys, and nothing else."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import httpx2
import jwt

from fabula.service.access.caller import ROLES, Caller
from fabula.service.problems import Unknown
from fabula.serving import Serving

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""None that a shared secret, or nothing at all, would do for."""
SECONDS = 10.0
LEEWAY = 30.0
"""Seconds that clocks may differ."""
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class OpenID:
    """Verifies the tokens of one issuer for one audience; its keys are fetched when needed."""

    def __init__(self, serving: Serving) -> None:
        assert serving.oidc_issuer
        self._issuer, self._audience = serving.oidc_issuer, serving.oidc_audience
        self._claim = serving.oidc_claim
        self._keys: jwt.PyJWKClient | None = None
        self._lock = threading.Lock()

    def find(self, token: str) -> Caller:
        """Who a token is of. Raises Unknown for one that is not good."""
        try:
            key = self._client().get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, httpx2.HTTPError, ValueError, KeyError) as error:
            raise Unknown("That token is not good.", headers=HEADERS) from error
        return self._caller(claims)

    def _client(self) -> jwt.PyJWKClient:
        with self._lock:
            if self._keys is None:
                place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
                told = httpx2.get(place, timeout=SECONDS, follow_redirects=False)
                told.raise_for_status()
                self._keys = jwt.PyJWKClient(str(told.json()["jwks_uri"]), timeout=int(SECONDS))
            return self._keys

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
