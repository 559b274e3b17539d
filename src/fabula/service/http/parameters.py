"""Headers and query parameters that many routes have, and the refusal of unknown parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request

from fabula.errors import did_you_mean
from fabula.graph.reading_place import HIDES_UNREAD, MAX_PLACE
from fabula.service.core.errors import Problem
from fabula.text.names import quote_name

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="the same key with the same body within 24 hours has no further effect",
    ),
]
"""The header, for routes that create something."""
ReadUntil = Annotated[str, Query(max_length=MAX_PLACE, description=HIDES_UNREAD)]
"""The place of a reader, which `Collection.as_read` takes."""


class UnknownParameter(Problem):
    """The request has a query parameter that its route does not have."""

    status, name = 422, "unknown-parameter"


def refuse_unknown(request: Request) -> None:
    """Raise UnknownParameter for a query parameter that the route of a request does not declare.

    Ignoring it would do something else than was asked: `?graph=` instead of `?graphs=` built the
    graphs of the settings, and cost money. Pages do ignore unknown parameters, as other programs
    add some to links.
    """
    known = _find_declared(request)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        all_known = f"There are: {', '.join(known)}." if known else "It has none."
        raise UnknownParameter(
            f"{request.method} {request.url.path} has no query parameter {quote_name(unknown[0])}. "
            f"{did_you_mean(unknown[0], known, all_known)}",
            parameter=unknown[0],
        )


def find_fields(request: Request, location: Sequence[int | str]) -> Sequence[str]:
    """Return the names of the fields that an object in the body of a request may have.

    Args:
        request: The request.
        location: Where the object is, as `("body", "query")`.

    Returns:
        The names, or none where the OpenAPI document has no such body.
    """
    document: Mapping[str, Any] = request.app.openapi()
    path = getattr(request.scope.get("route"), "path", "")
    operations = document["paths"].get(path) or document["paths"].get(f"/api/v1{path}") or {}
    body = operations.get(request.method.lower(), {}).get("requestBody", {})
    schema = _resolve(document, body.get("content", {}).get("application/json", {}).get("schema"))
    for step in location[1:]:
        is_list = isinstance(step, int)
        below = schema.get("items") if is_list else schema.get("properties", {}).get(step)
        schema = _resolve(document, below)
    return list(schema.get("properties", ()))


def _resolve(document: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the schema that a reference leads to, or the one of an object or list, not null."""
    schema = schema or {}
    for alternative in schema.get("anyOf", ()):
        if alternative.get("type") != "null":
            schema = alternative
            break
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _find_declared(request: Request) -> Sequence[str]:
    """Return the names of the query parameters that the route of a request declares."""
    service: FastAPI = request.app
    if not hasattr(service.state, "query_parameters"):
        service.state.query_parameters = _read(service.openapi())
    known: Mapping[tuple[str, str], Sequence[str]] = service.state.query_parameters
    method = "get" if request.method == "HEAD" else request.method.lower()
    path = request.scope["route"].path
    return known.get((method, path)) or known.get((method, f"/api/v1{path}")) or ()


def _read(document: Mapping[str, Any]) -> dict[tuple[str, str], Sequence[str]]:
    """Return the query parameters of all routes by method and path, from the OpenAPI document."""
    return {
        (method, path): [
            parameter["name"]
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "query"
        ]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
