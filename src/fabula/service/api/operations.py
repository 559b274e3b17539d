"""Routes made from operations: FastAPI reads, bounds and describes their parameters."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi import Path as InPath

from fabula.jobs.callers import Caller, Role
from fabula.jobs.estimates import Estimate
from fabula.jobs.idempotency import Idempotency
from fabula.library.collection import Collection
from fabula.models.stop import Stop
from fabula.operations.kit import Operation, Parameter, find_operations
from fabula.operations.shown_answer import format_json
from fabula.service.api.jobs import respond_accepted
from fabula.service.http.dependencies import (
    Admin,
    AdminOfAll,
    FilledCollection,
    Reader,
    State,
    VisibleCollection,
    Writer,
)
from fabula.service.http.files import send_file
from fabula.service.http.parameters import Key
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import accepts, run_while_connected
from fabula.service.state import ServiceState

CALLERS: Mapping[Role, Any] = {"read": Reader, "write": Writer, "admin": Admin}
BODY, JSON = "body", "application/json"
DryRun = Annotated[bool, Query(description="only say what it would do and cost")]
NO_CONTENT = 204
"""The status of a response without the result."""
TAG_SEPARATOR = re.compile(r"\s*,\s*")


def make_router() -> APIRouter:
    """Return a route for each installed operation, listed under its group."""
    router = APIRouter()
    for operation in find_operations():
        if not operation.has_route:
            continue
        rules = declare(
            max_body_bytes=operation.max_body_bytes,
            is_question=operation.is_question,
            is_public=operation.is_public,
        )
        has_no_json = operation.status == NO_CONTENT or operation.is_file
        sent: dict[str, Any] = {"response_class": Response} if operation.is_file else {}
        router.add_api_route(
            operation.path,
            rules(_make_endpoint(operation)),
            methods=[operation.method],
            status_code=operation.status,
            response_model=None if has_no_json else operation.result,
            responses=_describe_responses(operation),
            summary=operation.summary,
            description=operation.description,
            tags=[operation.group.lower()],
            **sent,
        )
    return router


def _make_endpoint(operation: Operation) -> Callable[..., Any]:
    def answer(
        request: Request,
        response: Response,
        service_state: Any,
        caller: Any,
        collection: Any = None,
        stop: Stop | None = None,
        **values: Any,
    ) -> Any:
        if body := values.pop(BODY, None):
            values |= body.model_dump()
        if operation.is_work:
            return _begin(request, service_state, caller, operation, collection, values)
        result = service_state.run_operation(caller, operation, collection, values, stop)
        if operation.starts_job and result.job:
            response.status_code = 202
            response.headers["Location"] = f"/api/v1/jobs/{result.job}"
        return _respond(request, operation, service_state, caller, result)

    async def answer_question(request: Request, service_state: Any, **values: Any) -> Any:
        stop = Stop()
        work = partial(answer, request, service_state=service_state, stop=stop, **values)
        threads = service_state.question_threads
        return await run_while_connected(request, work, stop.set, threads)

    made: Any = answer_question if operation.is_question else answer
    made.__signature__ = _make_signature(operation)
    made.__name__ = operation.function.__name__
    endpoint: Callable[..., Any] = made
    return endpoint


def _describe_responses(operation: Operation) -> dict[int | str, dict[str, Any]] | None:
    """Return the OpenAPI description of the responses that are not usual."""
    if operation.is_work:
        return {200: {"model": Estimate, "description": "With dry_run: what it would do and cost."}}
    return {202: {"model": operation.result}} if operation.starts_job else None


def _begin(
    request: Request,
    state: ServiceState,
    caller: Caller,
    operation: Operation,
    collection: Collection,
    values: dict[str, Any],
) -> Response:
    """Start the job that does some work, or return the estimate of it."""
    is_estimate, key = values.pop("dry_run"), values.pop("key")
    if is_estimate:
        expected = state.estimate_work(caller, operation, collection, values)
        return Response(format_json(expected), media_type=JSON)
    idempotency = Idempotency.of(key, caller, request.url.path, repr(sorted(values.items())))
    return respond_accepted(
        state.run_operation(caller, operation, collection, values, idempotency=idempotency)
    )


def _make_signature(operation: Operation) -> inspect.Signature:
    """Return the parameters of a route, as FastAPI reads them."""
    in_path = set(re.findall(r"{(\w+)}", operation.path))
    others = [each for each in operation.offered if each.name not in in_path]
    declared = {
        "request": Request,
        "response": Response,
        "service_state": State,
        "caller": CALLERS[operation.role],
    }
    if operation.has_collection:
        declared["collection"] = (
            FilledCollection if operation.needs_documents else VisibleCollection
        )
    elif operation.role == "admin":
        declared["caller"] = AdminOfAll
    declared |= {
        each.name: _describe(each, InPath) for each in operation.offered if each not in others
    }
    defaults: dict[str, Any] = {}
    if not operation.has_body:
        declared |= {each.name: _describe(each, Query) for each in others}
        defaults = {each.name: each.default for each in others if not each.is_required}
    else:
        declared[BODY] = Annotated[operation.body, Body()]
        if not any(each.is_required for each in others):
            defaults[BODY] = operation.body()
    if operation.is_work:
        declared |= {"dry_run": DryRun, "key": Key}
        defaults |= {"dry_run": False, "key": None}
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=defaults.get(name, inspect.Parameter.empty),
            )
            for name, annotation in declared.items()
        ]
    )


def _respond(
    request: Request, operation: Operation, state: ServiceState, caller: Caller, result: Any
) -> Any:
    """Return what FastAPI makes a response of."""
    if operation.is_file:
        return send_file(state, caller, result)
    if operation.status == NO_CONTENT:
        return Response(status_code=NO_CONTENT)
    if operation.is_question:
        # Not in the event loop, which would validate and write all of its passages.
        return Response(operation.result_type.dump_json(result), media_type=JSON)
    if operation.method != "GET":
        return result
    if hasattr(result, "to_text") and accepts(request.headers.get("accept", ""), "text/plain"):
        text = result.to_text().encode("utf-8", "surrogatepass")
        return _respond_with_etag(request, text, "text/plain; charset=utf-8")
    return _respond_with_etag(request, operation.result_type.dump_json(result), JSON)


def _respond_with_etag(request: Request, content: bytes, media_type: str) -> Response:
    """Return the response for content, or a 304 for a client that has it already."""
    version = hashlib.blake2b(content, digest_size=12).hexdigest()
    # Weak, as the same version is served in several media types.
    headers = {"ETag": f'W/"{version}"', "Vary": "Accept", "Cache-Control": "private, no-cache"}
    known = TAG_SEPARATOR.split(request.headers.get("if-none-match", "").strip())
    if {tag.removeprefix("W/") for tag in known} & {"*", f'"{version}"'}:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def _describe(parameter: Parameter, kind: Callable[..., Any]) -> Any:
    """Return the annotation of a parameter of a query or of a path."""
    described = kind(description=parameter.field.description)
    described.metadata = parameter.field.metadata
    return Annotated[parameter.type, described]
