"""Addresses of pages on this service."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def address(*parts: str, **query: str | int | None) -> str:
    """Return a path on this service, with its parts and parameters escaped.

    Parameters that are None or '' are left out.
    """
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    parameters = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(parameters)}" if parameters else path
