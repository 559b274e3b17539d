"""Sessions of browsers, which sign in by a link that works once, or by a key."""

from __future__ import annotations

import secrets

from fabula.service.core.callers import PERSON, Caller
from fabula.service.core.keys import MAX_SECRET_CHARACTERS, Keys, caller, digest
from fabula.store import Store

LINK_MINUTES = 15
"""How long a link to sign in is valid."""
COOKIE = "fabula"
"""The name of the cookie."""


class Sessions:
    """The sessions of a graph, which has only hashes of their cookies and links."""

    def __init__(self, store: Store, keys: Keys, days: int) -> None:
        self._store, self._keys, self.days = store, keys, days

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

    def find(self, cookie: str) -> Caller | None:
        """Return the caller of a session; None if the cookie is not valid."""
        rows = self._store.rows("service/find_session", hash=digest(cookie[:MAX_SECRET_CHARACTERS]))
        if not rows:
            return None
        if not rows[0]["id"]:
            return PERSON
        return caller(rows[0]["key"]) if rows[0]["key"] else None

    def end(self, cookie: str) -> None:
        """End the session of a cookie."""
        self._store.rows("service/clear_session", hash=digest(cookie[:MAX_SECRET_CHARACTERS]))

    def _begin(self, key: str) -> str:
        cookie = secrets.token_urlsafe(32)
        self._store.rows("service/save_session", hash=digest(cookie), key=key, days=self.days)
        return cookie
