"""Work that takes long: to watch, to cancel, to try again."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header
from fastapi.responses import Response

from fabula.service.core.jobs.job import Item, ItemState, Job, Kind, State
from fabula.service.core.paging import Page, begin_after, cursor, take
from fabula.service.core.views import MoneyView, UsageByStep, View, usage_view
from fabula.service.http.dependencies import Caller, Reader, TheHouse, Writer
from fabula.service.http.parameters import After, Limit
from fabula.service.http.streams import KIND, EventStream
from fabula.service.state import House

router = APIRouter(tags=["jobs"])
VERSION = re.compile(r"[0-9]{1,15}")
EVERY = 1.0
"""Seconds between two looks whether a reader of a job's events is still there."""


class JobStepView(View):
    """How many pieces of work of a step are done, and how many are known."""

    done: int
    expected: int


class ItemView(View):
    """One file of a job, one document, or the collection itself.

    `source` is what its document is known by. `steps` are told as long as it is worked on.
    """

    source: str
    state: ItemState
    document: str
    title: str
    steps: dict[str, JobStepView]
    usage: UsageByStep
    gaps: int
    error: str

    @classmethod
    def of(cls, item: Item) -> Self:
        """That of an item."""
        steps = {
            name: JobStepView(done=done, expected=known)
            for name, (done, known) in item.steps.items()
        }
        own = ("source", "state", "document", "title", "gaps", "error")
        told = {name: getattr(item, name) for name in own}
        return cls(**told, steps=steps, usage=usage_view(item.usage))


class JobView(MoneyView):
    """Some work, and how far it is.

    `counts` are its items by their states; a list of jobs tells no more of the items than those.
    `eta` are seconds.
    `problem` is why it failed, is paused, or waits.
    """

    id: str
    kind: Kind
    collection: str
    state: State
    cancelling: bool
    created_by: str
    created_at: str
    updated_at: str
    version: int
    options: dict[str, Any]
    counts: dict[str, int]
    items: list[ItemView] | None
    usage: UsageByStep
    eta: float | None
    problem: str

    @classmethod
    def of(cls, job: Job, *, items: bool = True) -> Self:
        """That of a job."""
        own = ("id", "kind", "collection", "state", "cancelling", "created_by", "created_at")
        more = ("updated_at", "version", "money", "eta", "problem")
        return cls(
            **{name: getattr(job, name) for name in (*own, *more)},
            options=dict(job.options),
            counts=dict(job.counts),
            unpriced=list(job.unpriced),
            items=[ItemView.of(one) for one in job.items] if items else None,
            usage=usage_view(job.usage),
        )


class Events:
    """What happens to a job, until it is over or its reader is gone: work for a stream."""

    def __init__(self, house: House, caller: Caller, job: Job, had: int = -1) -> None:
        self._house, self._caller, self._job, self._had = house, caller, job, had
        self._is_gone = threading.Event()

    def events(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """A snapshot for each version that is seen; what came between two is in the second."""
        job: Job | None = self._job
        version = self._had
        while job is not None and not self._is_gone.is_set():
            if self._is_stopping():
                yield "stopping", {"version": version}
                return
            if job.version != version:
                version = job.version
                # A stream may last for hours: who was let in is not for as long.
                if not self._house.keys.holds(self._caller):
                    return
                yield "snapshot", JobView.of(job).model_dump(mode="json")
            if job.is_over:
                yield "end", {"state": job.state, "version": job.version}
                return
            now = self._house.jobs.changes(job.id, version, EVERY, self._is_over)
            job = now or job

    def _is_over(self) -> bool:
        return self._is_gone.is_set() or self._is_stopping()

    def _is_stopping(self) -> bool:
        """Whether the service stops, or Neo4j is away: whoever watches comes again."""
        return self._house.stopping.is_set() or self._house.neo4j.outage() is not None

    def close(self) -> None:
        """Ends it."""
        self._is_gone.set()
        self._house.jobs.tell()


def accepted(job: Job) -> Response:
    """What whoever has begun a job is told, or has it go on: it is in the graph by now."""
    return Response(
        JobView.of(job).model_dump_json(),
        202,
        {"Location": f"/api/v1/jobs/{job.id}"},
        media_type="application/json",
    )


@router.get("/jobs", summary="The jobs of the collections that you may see")
def list_jobs(
    house: TheHouse,
    caller: Reader,
    state: State | None = None,
    limit: Limit = 50,
    after: After = "",
) -> Page[JobView]:
    """Newest first."""
    [begin] = begin_after(after, str) or ("",)
    found = house.jobs.list(caller, state or "", limit + 1, begin)
    some, more = take(found, limit)
    items = [JobView.of(one, items=False) for one in some]
    return Page(items=items, next=cursor(some[-1].place) if more else None)


@router.get("/jobs/{job}", summary="A job")
def show_job(house: TheHouse, caller: Reader, job: str) -> JobView:
    """How far it is, and each of its items."""
    return JobView.of(house.jobs.find(caller, job))


@router.get(
    "/jobs/{job}/events",
    summary="Watch a job",
    response_class=Response,
    responses={
        200: {
            "description": "The events snapshot (the job, its version as id) and end; stopping "
            "where the service stops, and error where it fails: come again then.",
            "content": {KIND: {"schema": {"type": "string"}}},
        }
    },
)
def watch_job(
    house: TheHouse,
    caller: Reader,
    job: str,
    last_event_id: Annotated[str | None, Header(description="the version last had")] = None,
) -> Response:
    """The job as it is, and again whenever it has changed, until it is over.

    A stream that ends with `stopping` or `error` goes on where another one begins: the page's
    script and browsers come again by themselves.
    """
    found = house.jobs.find(caller, job)
    had = VERSION.fullmatch(last_event_id or "")
    return EventStream(
        Events(house, caller, found, int(had[0]) if had else -1),
        lambda name, data: str(data.get("version", "")),
    )


@router.post("/jobs/{job}/cancel", status_code=202, summary="Cancel a job", response_model=JobView)
def cancel_job(house: TheHouse, caller: Writer, job: str) -> Response:
    """Nothing more of it is begun; calls under way come to their end, as they are paid for. What
    is not done by then is left as it was.
    """
    return accepted(house.jobs.cancel(caller, job))


@router.post("/jobs/{job}/retry", status_code=202, summary="Retry a job", response_model=JobView)
def retry_job(house: TheHouse, caller: Writer, job: str) -> Response:
    """Does again what failed of it, or was cancelled; nothing that was paid for is paid again."""
    return accepted(house.jobs.retry(caller, job))


@router.post("/jobs/{job}/resume", status_code=202, summary="Resume a job", response_model=JobView)
def resume_job(house: TheHouse, caller: Writer, job: str) -> Response:
    """Goes on with one whose budget was spent."""
    return accepted(house.jobs.resume(caller, job))
