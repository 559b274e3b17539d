"""The address and the key of an endpoint, checked before the first call."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from fabula.errors import SettingsError

OPENAI = "https://api.openai.com/v1"
USUAL_PORTS = {"http": ":80", "https": ":443"}


def checked_url(url: str | None) -> str:
    """`url`, or OpenAI's without one, as all ways to write it are known: host in small letters, no
    usual port, no slash at the end. Raises SettingsError for what no client could call.
    """
    url = url or OPENAI
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise SettingsError(
            f"OPENAI_BASE_URL = {shown_url(url)!r}: expected http://... or https://..."
        )
    user, at, place = parts.netloc.rpartition("@")
    place = place.lower().removesuffix(USUAL_PORTS[parts.scheme])
    return urlunsplit(parts._replace(netloc=f"{user}{at}{place}")).rstrip("/")


def shown_url(url: str) -> str:
    """`url` without the name and the password that it may have, for a message."""
    return re.sub(r"(?<=//).*@", "", url)


def checked_key(key: str | None) -> str:
    """`key` stripped; 'none' without one: the client wants a key, local endpoints do not."""
    stripped = (key or "").strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise SettingsError("OPENAI_API_KEY has a character that no key can have.")
    return stripped or "none"
