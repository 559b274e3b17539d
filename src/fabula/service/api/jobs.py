"""Jobs: list, watch, cancel, retry, resume."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header
from fastapi.responses import Response

from fabula.jobs.job import Item, ItemState, Job, JobState, Kind
from fabula.service.core.paging import Page, make_cursor, read_cursor, take_page
from fabula.service.core.views import MoneyView, UsageByStep, View
from fabula.service.http.dependencies import Caller, Reader, State, Writer
from fabula.service.http.parameters import After, Limit
from fabula.service.http.streams import MEDIA_TYPE, EventStream
from fabula.service.state import ServiceState

router = APIRouter(tags=["jobs"])
VERSION = re.compile(r"[0-9]{1,15}")
POLL_SECONDS = 1.0
"""How often a stream of a job's events checks whether its reader is still connected."""


class JobStepView(View):
    """The pieces of work of a step that are done, and those that are known so far."""

    done: int
    expected: int


def _view_steps(steps: Mapping[str, tuple[int, int]]) -> dict[str, JobStepView]:
    return {name: JobStepView(done=done, expected=known) for name, (done, known) in steps.items()}


class ItemView(View):
    """An item of a job: a file, a document, or the collection itself.

    `source` is the source of its document. `steps` are only there while the item is running.
    `left_out` is how many characters of the file are not in the document's text, by kind, and
    `warnings` say what was wrong with the file. `result` says how many annotations were imported,
    and of these how many stand where the file says (`in_place`), were found elsewhere (`moved`) or
    nowhere (`orphaned`), and were not looked for everywhere (`untried`).
    """

    source: str
    state: ItemState
    document: str
    title: str
    steps: dict[str, JobStepView]
    usage: UsageByStep
    gaps: int
    left_out: dict[str, int]
    warnings: list[str]
    result: dict[str, int]
    error: str

    @classmethod
    def of(cls, item: Item) -> Self:
        """Return the view of an item."""
        names = ("source", "state", "document", "title", "gaps", "error")
        fields = {name: getattr(item, name) for name in names}
        return cls(
            **fields,
            steps=_view_steps(item.steps),
            usage=item.usage,
            left_out=dict(item.left_out),
            warnings=list(item.warnings),
            result=dict(item.result),
        )


class JobView(MoneyView):
    """A job and its progress.

    `counts` is the number of its items by state; a list of jobs leaves out `items`. `steps` are
    those of all items together; while the job runs, one of them is not done. `eta` is the estimated
    remaining time in seconds. `problem` says why the job failed, is paused, or waits, to keys that
    may write.
    """

    id: str
    kind: Kind
    collection: str
    state: JobState
    cancelling: bool
    created_by: str
    created_at: str
    updated_at: str
    version: int
    options: dict[str, Any]
    counts: dict[str, int]
    steps: dict[str, JobStepView]
    items: list[ItemView] | None
    usage: UsageByStep
    eta: float | None
    problem: str

    @classmethod
    def of(cls, job: Job, *, items: bool = True) -> Self:
        """Return the view of a job, with or without its items."""
        names = (
            *("id", "kind", "collection", "state", "cancelling", "created_by", "created_at"),
            *("updated_at", "version", "money", "eta", "problem"),
        )
        return cls(
            **{name: getattr(job, name) for name in names},
            options=dict(job.options),
            counts=dict(job.counts),
            steps=_view_steps(job.steps),
            unpriced=list(job.unpriced),
            items=[ItemView.of(item) for item in job.items] if items else None,
            usage=job.usage,
        )


class JobEvents:
    """The events of a job, until it ends or its reader disconnects."""

    def __init__(
        self, service_state: ServiceState, caller: Caller, job: Job, version: int = -1
    ) -> None:
        self._service_state, self._caller = service_state, caller
        self._job, self._version = job, version
        self._is_closed = threading.Event()

    def events(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield a snapshot whenever the job has a new version; quick changes share a snapshot."""
        job: Job | None = self._job
        version = self._version
        while job is not None and not self._is_closed.is_set():
            if self._is_stopping():
                yield "stopping", {"version": version}
                return
            if job.version != version:
                version = job.version
                # A stream may last for hours, and the key may have been revoked meanwhile.
                if not self._service_state.keys.holds(self._caller):
                    return
                yield "snapshot", JobView.of(job).model_dump(mode="json")
            if job.is_over:
                yield "end", {"state": job.state, "version": job.version}
                return
            changed = self._service_state.jobs.changes(
                self._caller, job.id, version, POLL_SECONDS, self._is_over
            )
            job = changed or job

    def _is_over(self) -> bool:
        return self._is_closed.is_set() or self._is_stopping()

    def _is_stopping(self) -> bool:
        """Return whether the service stops or Neo4j is unavailable: the reader should reconnect."""
        return (
            self._service_state.stopping.is_set() or self._service_state.neo4j.outage() is not None
        )

    def close(self) -> None:
        """End the stream."""
        self._is_closed.set()
        self._service_state.jobs.notify()


def respond_accepted(job: Job) -> Response:
    """Return the response 202 for a job that was started or changed; it is stored by now."""
    return Response(
        JobView.of(job).model_dump_json(),
        202,
        {"Location": f"/api/v1/jobs/{job.id}"},
        media_type="application/json",
    )


@router.get("/jobs", summary="List jobs")
def list_jobs(
    service_state: State,
    caller: Reader,
    state: JobState | None = None,
    limit: Limit = 50,
    after: After = "",
) -> Page[JobView]:
    """List the jobs of the collections that your key may see, the newest first."""
    [begin] = read_cursor(after, str) or ("",)
    jobs = service_state.jobs.list(caller, state or "", limit + 1, begin)
    page, more = take_page(jobs, limit)
    items = [JobView.of(job, items=False) for job in page]
    return Page(items=items, next=make_cursor(page[-1].place) if more else None)


@router.get("/jobs/{job}", summary="A job")
def show_job(service_state: State, caller: Reader, job: str) -> JobView:
    """Return a job with its progress and its items."""
    return JobView.of(service_state.jobs.find(caller, job))


@router.get(
    "/jobs/{job}/events",
    summary="Watch a job",
    response_class=Response,
    responses={
        200: {
            "description": "The events snapshot (the job, with its version as id) and end. After "
            "stopping (the service stops) or error, connect again.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
)
def watch_job(
    service_state: State,
    caller: Reader,
    job: str,
    last_event_id: Annotated[str | None, Header(description="the last version received")] = None,
) -> Response:
    """Stream the job whenever it changes, until it ends.

    After a stream that ended with `stopping` or `error`, connect again, as browsers do by
    themselves.
    """
    watched = service_state.jobs.find(caller, job)
    version = VERSION.fullmatch(last_event_id or "")
    return EventStream(
        JobEvents(service_state, caller, watched, int(version[0]) if version else -1),
        lambda name, data: str(data.get("version", "")),
    )


@router.post("/jobs/{job}/cancel", status_code=202, summary="Cancel a job", response_model=JobView)
def cancel_job(service_state: State, caller: Writer, job: str) -> Response:
    """Cancel a job. No further call is started; running calls end, as they are paid for. Documents
    that are not finished by then stay as they were.
    """
    return respond_accepted(service_state.jobs.cancel(caller, job))


@router.post("/jobs/{job}/retry", status_code=202, summary="Retry a job", response_model=JobView)
def retry_job(service_state: State, caller: Writer, job: str) -> Response:
    """Run failed and cancelled items again. Replies that were paid for are not paid for again."""
    return respond_accepted(service_state.jobs.retry(caller, job))


@router.post("/jobs/{job}/resume", status_code=202, summary="Resume a job", response_model=JobView)
def resume_job(service_state: State, caller: Writer, job: str) -> Response:
    """Resume a job that was paused: its budget was used up, or the graph was restored."""
    return respond_accepted(service_state.jobs.resume(caller, job))
