"""ETags: whoever has a document already is told so, and not sent it again."""

from __future__ import annotations

import re

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel


def unchanged(request: Request, version: str) -> Response | None:
    """The response to a reader who has this version; None where it has not."""
    asked = request.headers.get("if-none-match", "")
    has = {one.removeprefix("W/") for one in re.split(r"\s*,\s*", asked.strip())}
    if has & {"*", f'"{version}"'}:
        return Response(status_code=304, headers=_headers(version))
    return None


def answered(view: BaseModel, version: str) -> Response:
    """What is told, with its version."""
    said = view.model_dump_json()
    return Response(said, media_type="application/json", headers=_headers(version))


def answered_as(text: str, kind: str, version: str) -> Response:
    """A text of another kind, with its version."""
    return Response(text, media_type=kind, headers=_headers(version))


def _headers(version: str) -> dict[str, str]:
    # Weak: it is of what is told, in whichever form.
    return {"ETag": f'W/"{version}"', "Vary": "Accept", "Cache-Control": "private, no-cache"}
