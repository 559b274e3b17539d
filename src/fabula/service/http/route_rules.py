"""What admission has to know of a route before it reads the body, declared where the route is.

Names in a path are the caller's to choose, so nothing is decided by what a path looks like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.routing import Match
from starlette.types import Scope

from fabula.operations.kit import MAX_BODY_BYTES

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
ATTRIBUTE = "fabula_route_rules"


@dataclass(frozen=True, kw_only=True)
class RouteRules:
    """The rules of a route, whose function they decorate: `@declare(is_public=True)`.

    A route that declares none, and an unknown path, have the defaults.
    """

    takes_files: bool = False
    """Whether the body may be as large as an upload. The route reads it itself, as it arrives."""
    max_body_bytes: int = MAX_BODY_BYTES
    """The largest other body: it is held in memory, and parsed in the event loop."""
    is_question: bool = False
    """Whether it counts as a question, which has a limit of its own."""
    is_public: bool = False
    """Whether visitors of a public collection may request it. What tells of other people, such as
    corrections, notes, conversations and costs, is not."""

    def __call__(self, endpoint: Endpoint) -> Endpoint:
        """Give the function of a route these rules."""
        setattr(endpoint, ATTRIBUTE, self)
        return endpoint


declare = RouteRules
"""The decorator of a route's function."""


class RouteTable:
    """Finds the route of a request as the application's router will."""

    def __init__(self, service: FastAPI) -> None:
        self._service = service

    @cached_property
    def _routes(self) -> list[RouteContext]:
        # At the first request: the middleware is there before the last routes are.
        return list(iter_route_contexts(self._service.routes))

    def paths(self) -> list[str]:
        """Return the paths of all routes."""
        return [str(getattr(route, "path", "")) for route in self._routes]

    def find(self, scope: Scope) -> tuple[RouteRules, str]:
        """Return the rules of the route of a request, and the collection that its path names.

        The collection is '' if the path names none.
        """
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                rules = getattr(found.get("endpoint"), ATTRIBUTE, RouteRules())
                return rules, found.get("path_params", {}).get("collection", "")
        return RouteRules(), ""
