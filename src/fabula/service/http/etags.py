"""ETags: a client that has the present version of a document gets 304, and not the document."""

from __future__ import annotations

import hashlib
import re

from fastapi import Request
from fastapi.responses import Response

from fabula.app.shown_answer import format_json


def not_modified(request: Request, version: str) -> Response | None:
    """Return the 304 for a client that has this version; None if it has not."""
    header = request.headers.get("if-none-match", "")
    tags = {tag.removeprefix("W/") for tag in re.split(r"\s*,\s*", header.strip())}
    if tags & {"*", f'"{version}"'}:
        return Response(status_code=304, headers=_headers(version))
    return None


def respond_with_etag(shown: object, version: str) -> Response:
    """Return the response for a dataclass, with the ETag of its version."""
    content = format_json(shown)
    return Response(content, media_type="application/json", headers=_headers(version))


def respond_with_own_etag(request: Request, content: bytes) -> Response:
    """Return the response for JSON whose version is its content, or the 304 for it."""
    version = hashlib.blake2b(content, digest_size=12).hexdigest()
    return not_modified(request, version) or Response(
        content, media_type="application/json", headers=_headers(version)
    )


def respond_text_with_etag(text: str, media_type: str, version: str) -> Response:
    """Return the response for a text of another media type, with the ETag of its version."""
    return Response(text, media_type=media_type, headers=_headers(version))


def _headers(version: str) -> dict[str, str]:
    # Weak, as the same version is served in several media types.
    return {"ETag": f'W/"{version}"', "Vary": "Accept", "Cache-Control": "private, no-cache"}
