"""The address and the key of an endpoint, checked before the first call."""

from __future__ import annotations

from urllib.parse import urlsplit

from fabula.errors import SettingsError


def checked_url(url: str) -> str:
    """`url` without its last slash. Raises SettingsError for what no client could call."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise SettingsError(f"OPENAI_BASE_URL = {url!r}: expected http://... or https://...")
    return url.rstrip("/")


def checked_key(key: str | None) -> str:
    """`key` stripped; 'none' without one: the client wants a key, local endpoints do not."""
    stripped = (key or "").strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise SettingsError("OPENAI_API_KEY has a character that no key can have.")
    return stripped or "none"
