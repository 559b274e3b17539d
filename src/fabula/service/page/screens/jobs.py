"""Jobs: all of them, and one with how far it is, what it costs, and what became of each file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from fabula.models.usage import sum_usage
from fabula.service.core.jobs.job import ENDED, STATES, Item, Job, State
from fabula.service.core.jobs.uploads import WITHIN
from fabula.service.core.paging import begin_after, cursor, take
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, Reader, TheHouse, Writer
from fabula.service.page.rendering import show, show_part
from fabula.service.state import House

router = APIRouter()
PAGE = 50
"""Jobs of one page."""
SHOWN = 200
"""Items of a job that are listed; those that are under way or failed come first."""
WORDS: Mapping[str, str] = {
    "ingest": "Add documents",
    "build": "Build a graph",
    "retry": "Ask for gaps again",
    "reembed": "Embed again",
    "remove": "Remove the collection",
}
FIRST = ("running", "failed", "queued")
MINUTE, HOUR = 60, 3600


@router.get("/jobs")
def list_jobs(
    request: Request,
    house: TheHouse,
    caller: Reader,
    state: State | None = None,
    after: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """The newest first."""
    [begin] = begin_after(after, str) or ("",)
    found, more = take(house.jobs.list(caller, state or "", PAGE + 1, begin), PAGE)
    values = {
        "jobs": found,
        "next": cursor(found[-1].place) if more else "",
        "state": state or "",
        "states": STATES,
        "words": WORDS,
    }
    return show(request, "jobs.html", values)


@router.get("/jobs/{id}")
def show_job(request: Request, house: TheHouse, caller: Reader, id: str) -> Response:
    """A job as it is now; its script has it go on."""
    job = house.jobs.find(caller, id)
    values = {"collection": job.collection, **_lay_out(house, job, caller)}
    return show(request, "job.html", values)


@router.get("/jobs/{id}/part")
def show_job_part(request: Request, house: TheHouse, caller: Reader, id: str) -> Response:
    """What changes of a job's screen, for its script to put in its place."""
    job = house.jobs.find(caller, id)
    return show_part(request, "job_part.html", _lay_out(house, job, caller))


@router.post("/jobs/{id}/cancel")
def cancel(house: TheHouse, caller: Writer, id: str) -> Response:
    """Ends it, within a model's call."""
    house.jobs.cancel(caller, id)
    return RedirectResponse(address("jobs", id), 303)


@router.post("/jobs/{id}/retry")
def retry(house: TheHouse, caller: Writer, id: str) -> Response:
    """Has it do what failed, or was cancelled."""
    house.jobs.retry(caller, id)
    return RedirectResponse(address("jobs", id), 303)


@router.post("/jobs/{id}/resume")
def resume(house: TheHouse, caller: Writer, id: str) -> Response:
    """Has it go on after its budget was spent."""
    house.jobs.resume(caller, id)
    return RedirectResponse(address("jobs", id), 303)


def _lay_out(house: House, job: Job, caller: Caller) -> dict[str, Any]:
    """What the template draws."""
    spent = sum_usage([job.usage]).values()
    order = sorted(job.items, key=lambda one: FIRST.index(one.state) if one.state in FIRST else 9)
    return {
        "job": job,
        "name": WORDS.get(job.kind, job.kind),
        "is_over": job.is_over,
        "has_ended": job.state in ENDED,
        "steps": _steps(job.items),
        "items": [_item(one) for one in order[:SHOWN]],
        "more": max(0, len(order) - SHOWN),
        "done": job.done,
        "calls": sum(one.calls for one in spent),
        "saved": sum(one.saved for one in spent),
        "tokens": sum(one.prompt_tokens + one.completion_tokens for one in spent),
        "left": _in_words(job.eta),
        "is_beginning": job.state == "running"
        and not job.cancelling
        and bool(job.counts.get("queued"))
        and not job.counts.get("running"),
        "may_change": caller.may("write"),
        "is_there": job.collection in house.collections(caller) if job.is_over else False,
    }


def _steps(items: tuple[Item, ...]) -> list[tuple[str, int, int]]:
    """Of each step how much is done, and how much is known, over all that is under way."""
    steps: dict[str, tuple[int, int]] = {}
    for one in items:
        for name, (done, known) in one.steps.items():
            before = steps.get(name, (0, 0))
            steps[name] = (before[0] + done, before[1] + known)
    return [(name, done, known) for name, (done, known) in steps.items()]


def _item(item: Item) -> dict[str, Any]:
    done = sum(done for done, _ in item.steps.values())
    known = sum(known for _, known in item.steps.values())
    return {
        "name": item.title or item.source.removeprefix(f"{WITHIN}/"),
        "source": item.source.removeprefix(f"{WITHIN}/"),
        "state": item.state,
        "document": item.document if item.state in ("succeeded", "unchanged") else "",
        "done": done,
        "known": known,
        "calls": sum(one.calls for one in item.usage.values()),
        "gaps": item.gaps,
        "error": item.error,
    }


def _in_words(seconds: float | None) -> str:
    """A time that is left, as people say it; '' where nobody knows."""
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < HOUR:
        return f"about {round(seconds / MINUTE)} min"
    return f"about {seconds / HOUR:.1f} h"
