"""Watch a job, and answer that one was begun. What else is done with jobs are operations."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import Response
from pydantic import TypeAdapter

from fabula.jobs.job import Job
from fabula.service.http.dependencies import Caller, Reader, State
from fabula.service.http.streams import MEDIA_TYPE, EventStream
from fabula.service.state import ServiceState

router = APIRouter(tags=["jobs"])
VERSION = re.compile(r"[0-9]{1,15}")
POLL_SECONDS = 1.0
"""How often a stream of a job's events checks whether its reader is still connected."""


JOB = TypeAdapter(Job)


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
                yield "snapshot", JOB.dump_python(job, mode="json")
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
        JOB.dump_json(job),
        202,
        {"Location": f"/api/v1/jobs/{job.id}"},
        media_type="application/json",
    )


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
