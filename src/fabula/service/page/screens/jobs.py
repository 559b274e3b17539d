"""The list of jobs, and a job with its progress, its cost and the result of each file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.jobs.job import START, STATES, Item, Job, JobState
from fabula.load.left_out import describe as describe_left_out
from fabula.models.progress import (
    BUILD,
    IMPORT,
    PLAN,
    READ_FILE,
    READ_PREVIOUS,
    SEND_BATCHES,
    STORE,
    SWEEP,
    SWITCH,
    WAIT,
)
from fabula.models.usage import sum_usage
from fabula.operations import jobs as operations
from fabula.service.http.dependencies import Caller, Reader, State
from fabula.service.page.rendering import show, show_part
from fabula.service.state import ServiceState
from fabula.text.names import source_name

router = APIRouter()
PAGE_SIZE = 50
"""Jobs on one page."""
MAX_ITEMS = 200
"""Items of a job that are listed; running and failed ones come first."""
NAMES: Mapping[str, str] = {
    "ingest": "Add documents",
    "annotate": "Import annotations",
    "build": "Build a graph",
    "renew": "Renew",
    "reembed": "Recompute embeddings",
    "remove": "Remove the collection",
}
STATE_WORDS: Mapping[str, str] = {
    "queued": "Waiting for its turn",
    "waiting": "Waiting for batches",
    "running": "Running",
    "succeeded": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "paused": "Paused",
    "unchanged": "Already there",
    "skipped": "Skipped",
}
"""What the page calls the states of jobs and of their items."""
STEP_WORDS: Mapping[str, str] = {
    "texts": "Texts compared",
    "annotations": "Annotations looked for",
    "embed": "Passages embedded",
    "embeddings": "Passages embedded",
    "write": "Passages stored",
    "remove": "Documents removed",
    START: "Starting or ending",
    READ_FILE: "Files read",
    IMPORT: "Files imported",
    WAIT: "Another build awaited",
    PLAN: "Documents planned",
    READ_PREVIOUS: "Nodes of the former version read",
    BUILD: "Documents built",
    SEND_BATCHES: "Batches sent",
    STORE: "Documents stored",
    SWITCH: "Documents switched in",
    SWEEP: "Former versions deleted",
}
"""What the page calls steps of jobs, beside those that a graph names itself."""
STATE_ORDER = ("running", "failed", "queued")
"""States of items in the order of the list; the others follow."""
MINUTE_SECONDS, HOUR_SECONDS = 60, 3600


@router.get("/jobs")
def list_jobs(
    request: Request,
    service_state: State,
    caller: Reader,
    state: JobState | None = None,
    after: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """Show the jobs, the newest first."""
    found = operations.list_jobs(service_state.asker(caller), state, PAGE_SIZE, after)
    values = {
        "jobs": found.rows,
        "next": found.next or "",
        "state": state or "",
        "states": STATES,
        "names": NAMES,
        "words": STATE_WORDS,
    }
    return show(request, "jobs.html", values)


@router.get("/jobs/{id}")
def show_job(request: Request, service_state: State, caller: Reader, id: str) -> Response:
    """Show a job; the script of the page keeps it up to date."""
    job = operations.show_job(service_state.asker(caller), id)
    values = {"collection": job.collection, **_lay_out(service_state, job, caller)}
    return show(request, "job.html", values)


@router.get("/jobs/{id}/part")
def show_job_part(service_state: State, caller: Reader, id: str) -> Response:
    """Render the part of a job's screen that changes, which its script puts in."""
    job = operations.show_job(service_state.asker(caller), id)
    return show_part("job_part.html", _lay_out(service_state, job, caller))


def _lay_out(service_state: ServiceState, job: Job, caller: Caller) -> dict[str, Any]:
    """Return the values of the template."""
    usage = sum_usage([job.usage]).values()
    items = sorted(job.items, key=_place_in_list)
    return {
        "job": job,
        "name": NAMES.get(job.kind, job.kind),
        "is_over": job.is_over,
        "words": STATE_WORDS,
        "steps": [
            (STEP_WORDS.get(name, name), step.done, step.expected)
            for name, step in job.steps.items()
        ],
        "items": [_item(item) for item in items[:MAX_ITEMS]],
        "more": max(0, len(items) - MAX_ITEMS),
        "done": job.done,
        "calls": sum(model.calls for model in usage),
        "saved": sum(model.saved for model in usage),
        "tokens": sum(model.prompt_tokens + model.completion_tokens for model in usage),
        "left": _duration(job.eta),
        "may_change": caller.may("write"),
        "has_collection": job.is_over
        and job.collection in service_state.visible_collections(caller),
    }


def _place_in_list(item: Item) -> int:
    return STATE_ORDER.index(item.state) if item.state in STATE_ORDER else len(STATE_ORDER)


def _item(item: Item) -> dict[str, Any]:
    return {
        "name": item.title or source_name(item.source),
        "source": source_name(item.source),
        "state": item.state,
        "document": item.document if item.state in ("succeeded", "unchanged") else "",
        "done": sum(step.done for step in item.steps.values()),
        "known": sum(step.expected for step in item.steps.values()),
        "calls": sum(step.calls for step in item.usage.values()),
        "gaps": item.gaps,
        "left_out": describe_left_out(item.left_out),
        "warnings": item.warnings,
        "result": item.result,
        "error": item.error,
    }


def _duration(seconds: float | None) -> str:
    """Format the remaining time of a job; '' if it is unknown."""
    if seconds is None:
        return ""
    if seconds < MINUTE_SECONDS:
        return "less than a minute"
    if seconds < HOUR_SECONDS:
        return f"about {round(seconds / MINUTE_SECONDS)} min"
    return f"about {seconds / HOUR_SECONDS:.1f} h"
