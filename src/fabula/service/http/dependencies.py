"""Who asks, and what they may: decided before a request's body is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, FastAPI, Request
from starlette.middleware.cors import CORSMiddleware

from fabula.app.collection import Collection
from fabula.service.core.callers import PERSON, ROLES, Caller, Quotas, Role
from fabula.service.core.errors import Forbidden
from fabula.service.http.admission import Admission

if TYPE_CHECKING:
    from fabula.service.state import House

__all__ = [
    "PERSON",
    "ROLES",
    "Admin",
    "AdminOfAll",
    "Caller",
    "Quotas",
    "Reader",
    "Role",
    "Shelf",
    "Writer",
]


def add(service: FastAPI, house: House) -> None:
    """Has a service let in those who may, and no others."""
    service.add_middleware(Admission, house=house)
    if house.serving.origins:
        # Without credentials: another origin's page has a key of its own, never our cookie.
        service.add_middleware(
            CORSMiddleware,
            allow_origins=list(house.serving.origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
            expose_headers=["ETag", "Location", "Retry-After", "X-Request-Id"],
        )


def house_of(request: Request) -> House:
    """What all requests share."""
    house: House = request.app.state.house
    return house


def caller_of(request: Request) -> Caller:
    """Who asks, as admission found."""
    caller: Caller = request.state.caller
    return caller


def _may(role: Role) -> type[Caller]:
    def check(request: Request) -> Caller:
        caller = caller_of(request)
        if not caller.may(role):
            raise Forbidden(f"That takes a key with the role {role}; this one has {caller.role}.")
        return caller

    return Annotated[Caller, Depends(check)]  # type: ignore[return-value]


def _may_all(request: Request) -> Caller:
    caller = caller_of(request)
    # Who makes keys, or asks in Cypher, reaches every collection: its own can't bound that.
    if not caller.may_all:
        raise Forbidden("That takes a key with the role admin, for all collections.")
    return caller


if TYPE_CHECKING:
    Reader = Caller
    Writer = Caller
    Admin = Caller
    AdminOfAll = Caller
else:
    Reader, Writer, Admin = map(_may, ROLES)
    AdminOfAll = Annotated[Caller, Depends(_may_all)]
"""What a route asks for that needs such a role: `def route(caller: Reader)`.

`AdminOfAll` is for what concerns every collection: keys, the audit, metrics, Cypher.
"""

TheHouse = Annotated["House", Depends(house_of)]
"""What a route asks for that needs what all share."""


def _shelf(collection: str, request: Request) -> Collection:
    return house_of(request).collection(collection, caller_of(request))


Shelf = Annotated[Collection, Depends(_shelf)]
"""The collection of a path with `{collection}`, if the caller may see it."""


def _stocked(collection: str, request: Request) -> Collection:
    return house_of(request).stocked(collection, caller_of(request))


Stocked = Annotated[Collection, Depends(_stocked)]
"""The same, if it holds documents: one that holds none does not exist, in the same words."""
