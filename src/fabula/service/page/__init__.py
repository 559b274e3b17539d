"""The page: screens rendered by the server; every state of a screen has an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from fabula.service.page import screens
from fabula.service.page.rendering import Static, show
from fabula.service.page.screens.operations import make_screens

HIDDEN = (
    *("Annotations", "Collections", "Corrections", "Documents"),
    *("Jobs", "Keys", "Settings", "Usage"),
)
"""Screens that other screens lead to, and not the menu."""
QUERIES = "Queries"
"""A screen for those who run a library."""
HEADINGS: Mapping[int, str] = {
    401: "You are not signed in",
    402: "Budget used up",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Conflict",
    413: "Too large",
    429: "Too many requests",
    502: "The model did not answer",
    503: "Not available at the moment",
}


def add(service: FastAPI) -> None:
    """Add the screens and their static files to a service."""
    service.state.error_page = error_page
    made = make_screens()
    shown = [screen for screen in made if screen.name not in HIDDEN]
    others = [screen for screen in shown if screen.name != QUERIES]
    queries = [screen for screen in shown if screen.name == QUERIES]
    add_books, *rest = screens.RUNNING
    service.state.menu = ((*screens.READING, *others), (add_books, *queries, *rest))
    service.mount("/static", Static(), name="static")
    added = [screen.router for screen in made if screen.router is not None]
    for router in (*screens.ROUTERS, *added):
        service.include_router(router, include_in_schema=False)


def error_page(
    request: Request, problem: Mapping[str, Any], headers: Mapping[str, str]
) -> Response:
    """Render the page that tells a person about an error, without the names for programs."""
    status = problem["status"]
    detail = problem["detail"]
    if errors := problem.get("errors"):
        names = dict.fromkeys(error["pointer"].rpartition("/")[2] for error in errors)
        detail = f"The value of {', '.join(names)} is not valid: {errors[0]['detail']}."
    heading = HEADINGS.get(status, "Unexpected error" if status >= 500 else "Bad request")
    values = {"problem": problem, "heading": heading, "detail": detail}
    return show(request, "error.html", values, status, headers)
