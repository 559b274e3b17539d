"""ETags: a client that has the present version of a document gets 304, and not the document."""

from __future__ import annotations

import hashlib
import re

from fastapi import Request
from fastapi.responses import Response


def respond_with_etag(request: Request, content: bytes, media_type: str) -> Response:
    """Return the response for content, which is its own version, or the 304 for it."""
    version = hashlib.blake2b(content, digest_size=12).hexdigest()
    header = request.headers.get("if-none-match", "")
    tags = {tag.removeprefix("W/") for tag in re.split(r"\s*,\s*", header.strip())}
    if tags & {"*", f'"{version}"'}:
        return Response(status_code=304, headers=_headers(version))
    return Response(content, media_type=media_type, headers=_headers(version))


def _headers(version: str) -> dict[str, str]:
    # Weak, as the same version is served in several media types.
    return {"ETag": f'W/"{version}"', "Vary": "Accept", "Cache-Control": "private, no-cache"}
