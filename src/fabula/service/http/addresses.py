"""Addresses of pages on this service."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def address(*parts: str, **query: str | int | None) -> str:
    """A path on this service; parts and values may say anything."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path
