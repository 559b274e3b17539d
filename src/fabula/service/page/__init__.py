"""The page: server-rendered screens over the same house as the API, one URL a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from fabula.service.page import screens
from fabula.service.page.rendering import HERE, Static, show
from fabula.service.page.screen import installed

HEADINGS: Mapping[int, str] = {
    401: "You are not signed in",
    402: "The budget is spent",
    403: "You may not do that",
    404: "That is not here",
    405: "That can't be done here",
    409: "Something is in the way",
    413: "That is too large",
    429: "That is too much at once",
    503: "Not available just now",
}


def add(service: FastAPI) -> None:
    """Adds the screens and what they are drawn with."""
    service.state.error_page = error_page
    others = installed()
    service.state.screens = (*screens.SCREENS, *others)
    service.mount("/static", Static(directory=HERE / "static"), name="static")
    added = [screen.router for screen in others if screen.router is not None]
    for router in (*screens.ROUTERS, *added):
        service.include_router(router, include_in_schema=False)


def error_page(
    request: Request, problem: Mapping[str, Any], headers: Mapping[str, str]
) -> Response:
    """What a person is told that went wrong: what a program calls it is left out."""
    status = problem["status"]
    detail = problem["detail"]
    if wrong := problem.get("errors"):
        names = dict.fromkeys(one["pointer"].rpartition("/")[2] for one in wrong)
        detail = f"What was given as {', '.join(names)} can't be read: {wrong[0]['detail']}."
    heading = HEADINGS.get(status, "Something went wrong" if status >= 500 else "That can't be")
    values = {"problem": problem, "heading": heading, "detail": detail}
    return show(request, "error.html", values, status, headers)
