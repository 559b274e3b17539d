"""Sessions of browsers, which sign in by a link that works once, by a key, or by OpenID."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from fabula.config.serving import Serving
from fabula.jobs.callers import PERSON, Caller
from fabula.operations.keys import digest
from fabula.service.core.keys import MAX_SECRET_CHARACTERS, Keys, make_caller
from fabula.service.core.openid_grants import NoGrant, find_openid_caller, select_claims
from fabula.store import Store

LINK_MINUTES = 15
"""How long a link to sign in is valid."""
COOKIE = "fabula"
"""The name of the cookie."""
OPENID = "openid"
"""In place of a key's id in the sessions of OpenID: no key has it."""


class Sessions:
    """The sessions of a graph, which has only hashes of their cookies and links."""

    def __init__(self, store: Store, keys: Keys, serving: Serving) -> None:
        self._store, self._keys, self._serving = store, keys, serving

    def link(self) -> str:
        """Create the token of a link that signs in the person at the machine, once."""
        token = secrets.token_urlsafe(32)
        self._store.rows("service/save_link", hash=digest(token), minutes=LINK_MINUTES)
        return token

    def enter(self, token: str) -> str | None:
        """Begin a session for a link's token; return its cookie, None if the token is not valid."""
        rows = self._store.rows("service/take_link", hash=digest(token[:MAX_SECRET_CHARACTERS]))
        return self._begin("") if rows and rows[0]["is_good"] else None

    def sign_in(self, key: str) -> str | None:
        """Begin a session for a key; return its cookie, None if the key is not valid."""
        owner = self._keys.find(key.strip())
        return self._begin(owner.id) if owner else None

    def sign_in_by_claims(self, claims: Mapping[str, Any]) -> str:
        """Begin a session for the verified claims of an OpenID token; return its cookie.

        The claims are kept, and not what they allow: so a change of `serve.oidc_groups` is in force
        for sessions that there are.

        Raises:
            NoGrant: The claims give no role here.
        """
        find_openid_caller(self._serving, claims)
        return self._begin(OPENID, select_claims(self._serving, claims), self._serving.oidc_hours)

    def find(self, cookie: str) -> Caller | None:
        """Return the caller of a session; None if the cookie is not valid."""
        rows = self._store.rows("service/find_session", hash=digest(cookie[:MAX_SECRET_CHARACTERS]))
        if not rows:
            return None
        if rows[0]["claims"]:
            return self._find_by_claims(json.loads(rows[0]["claims"]))
        if not rows[0]["id"]:
            return PERSON
        return make_caller(rows[0]["key"]) if rows[0]["key"] else None

    def end(self, cookie: str) -> None:
        """End the session of a cookie."""
        self._store.rows("service/clear_session", hash=digest(cookie[:MAX_SECRET_CHARACTERS]))

    def _find_by_claims(self, claims: Mapping[str, Any]) -> Caller | None:
        # The settings may name another issuer by now, at which the subject is somebody else.
        if not self._serving.oidc_client_id or claims.get("iss") != self._serving.oidc_issuer:
            return None
        try:
            return find_openid_caller(self._serving, claims)
        except NoGrant:
            return None

    def _begin(self, key: str, claims: str = "", hours: int = 0) -> str:
        cookie = secrets.token_urlsafe(32)
        self._store.rows(
            "service/save_session",
            hash=digest(cookie),
            key=key,
            claims=claims,
            hours=hours or 24 * self._serving.session_days,
        )
        return cookie
