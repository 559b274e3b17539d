"""The address and the key of an endpoint, checked before the first call."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from fabula.errors import SettingsError

OPENAI = "https://api.openai.com/v1"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def normalize_url(url: str | None) -> str:
    """Return the URL in one canonical form; the URL of OpenAI if it is empty.

    The host is in lower case, and there is no default port and no slash at the end, so that two
    ways to write one address have the same cache keys.

    Raises:
        SettingsError: It is not an http or https URL with a host.

    """
    url = url or OPENAI
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SettingsError(
            f"OPENAI_BASE_URL = {redact_url(url)!r}: expected http://... or https://..."
        )
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(DEFAULT_PORTS[parts.scheme])
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}")).rstrip("/")


def redact_url(url: str) -> str:
    """Return the URL without its user name and password, for a message."""
    return re.sub(r"(?<=//).*@", "", url)


def validate_key(key: str | None) -> str:
    """Return the key without white space around it; 'none' if it is empty.

    The client requires a key, though local endpoints need none.

    Raises:
        SettingsError: The key has characters that can't be sent in an HTTP header.

    """
    stripped = (key or "").strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise SettingsError("OPENAI_API_KEY has a character that an API key can't have.")
    return stripped or "none"
