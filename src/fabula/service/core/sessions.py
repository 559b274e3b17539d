"""Browsers that are signed in: by a link that works once, or by a key."""

from __future__ import annotations

import secrets

from fabula.service.core.callers import PERSON, Caller
from fabula.service.core.keys import LONGEST, Keys, caller, digest
from fabula.store import Store

MINUTES = 15
"""That a link is good for."""
COOKIE = "fabula"


class Sessions:
    """The sessions of a graph; a cookie and a link are 256 random bits, of which a hash is kept."""

    def __init__(self, store: Store, keys: Keys, days: int) -> None:
        self._store, self._keys, self.days = store, keys, days

    def link(self) -> str:
        """A token that signs the person at the machine in, once."""
        token = secrets.token_urlsafe(32)
        self._store.rows("service/save_link", hash=digest(token), minutes=MINUTES)
        return token

    def enter(self, token: str) -> str | None:
        """The cookie of a new session for a link's token; None if it is not good, or was used."""
        rows = self._store.rows("service/take_link", hash=digest(token[:LONGEST]))
        return self._begin("") if rows and rows[0]["is_good"] else None

    def sign_in(self, key: str) -> str | None:
        """The cookie of a new session for a key; None if it does not hold."""
        found = self._keys.find(key.strip())
        return self._begin(found.id) if found else None

    def find(self, cookie: str) -> Caller | None:
        """Who is signed in by a cookie: the person at the machine, or whoever has the key."""
        rows = self._store.rows("service/find_session", hash=digest(cookie[:LONGEST]))
        if not rows:
            return None
        if not rows[0]["id"]:
            return PERSON
        return caller(rows[0]["key"]) if rows[0]["key"] else None

    def end(self, cookie: str) -> None:
        """Signs out."""
        self._store.rows("service/clear_session", hash=digest(cookie[:LONGEST]))

    def _begin(self, key: str) -> str:
        cookie = secrets.token_urlsafe(32)
        self._store.rows("service/save_session", hash=digest(cookie), key=key, days=self.days)
        return cookie
