"""What routes depend on: the service, the caller, and the collection and document of the path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Request
from starlette.middleware.cors import CORSMiddleware

from fabula.errors import Forbidden, NotFound, SettingsError
from fabula.graph.entries import Entry
from fabula.jobs.callers import Caller as Caller
from fabula.jobs.callers import Role
from fabula.library.collection import Collection
from fabula.service.http.addresses import BelowPath
from fabula.service.http.admission import Admission
from fabula.service.http.parameters import ReadUntil
from fabula.service.http.route_rules import RouteTable
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.service.state import ServiceState


def add_middleware(service: FastAPI, state: ServiceState) -> None:
    """Install the middleware for admission, for CORS, and for a service below a path."""
    service.add_middleware(Admission, state=state, routes=RouteTable(service))
    if state.serving.origins:
        # Without credentials: the page of another origin must use its own key, and not our cookie.
        service.add_middleware(
            CORSMiddleware,
            allow_origins=list(state.serving.origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            # Clients send headers of their own, as OpenAI's package x-stainless-*: any is allowed.
            allow_headers=["*"],
            expose_headers=[
                *("ETag", "Location", "Retry-After", "X-Request-Id", "WWW-Authenticate"),
                *("Mcp-Session-Id", "Mcp-Protocol-Version"),
            ],
        )
    if root := urlsplit(state.serving.url or "").path.rstrip("/"):
        if any(f"{path}/".startswith(f"{root}/") for path in RouteTable(service).paths()):
            raise SettingsError(
                f"serve.url can't have the path {root}, which the service has pages below: give it "
                f"another, as /fabula{root}."
            )
        service.add_middleware(BelowPath, root=root)


def state_of(request: Request) -> ServiceState:
    """Return the state of the service that a request came to."""
    state: ServiceState = request.app.state.service_state
    return state


def caller_of(request: Request) -> Caller:
    """Return the caller of a request, as admission has identified it."""
    caller: Caller = request.state.caller
    return caller


def _may(role: Role) -> Callable[[Request], Caller]:
    def check(request: Request) -> Caller:
        caller = caller_of(request)
        caller.require(role)
        return caller

    return check


def _may_all(request: Request) -> Caller:
    caller = caller_of(request)
    # Keys and Cypher reach every collection, so a key for some collections can't be allowed them.
    if not caller.may_all:
        raise Forbidden("This needs a key with the role admin for all collections.")
    return caller


Reader = Annotated[Caller, Depends(_may("read"))]
Writer = Annotated[Caller, Depends(_may("write"))]
Admin = Annotated[Caller, Depends(_may("admin"))]
AdminOfAll = Annotated[Caller, Depends(_may_all)]
"""The caller, for routes that need such a role: `def route(caller: Reader)`.

`AdminOfAll` is for what concerns all collections: keys, the audit, metrics and Cypher.
"""

State = Annotated["ServiceState", Depends(state_of)]
"""The state of the service, for routes: `def route(state: State)`."""


def _visible_collection(collection: str, request: Request) -> Collection:
    return state_of(request).collection(collection, caller_of(request))


VisibleCollection = Annotated[Collection, Depends(_visible_collection)]
"""The collection of a path with `{collection}`. NotFound if the caller may not see it."""


def _filled_collection(collection: str, request: Request) -> Collection:
    return state_of(request).filled_collection(collection, caller_of(request))


FilledCollection = Annotated[Collection, Depends(_filled_collection)]
"""The same, but NotFound also if it has no documents, with the same message."""


def document_of(collection: Collection, id: str) -> Entry:
    """Return the document of an id. Raises NotFound, also for a title or the start of an id."""
    for entry in collection.open_store().find_named(collection.name, id, 2, whole=True):
        if entry.id == id:
            return entry
    raise NotFound(
        f"There is no document {quote_name(id)} in collection {quote_name(collection.name)}."
    )


def _read_document(
    collection: FilledCollection, document: str, until: ReadUntil = ""
) -> Collection:
    return collection.as_read(document_of(collection, document).id, until) if until else collection


ReadDocument = Annotated[Collection, Depends(_read_document)]
"""The filled collection of a path with `{document}`, as read up to the query parameter `until`."""
