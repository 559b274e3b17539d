"""Jobs: list them, show one, cancel, retry and resume it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.errors import BadValue, SettingsError
from fabula.jobs.job import Job, JobState
from fabula.operations.kit import operation
from fabula.operations.parameters import After

if TYPE_CHECKING:
    from fabula.jobs.queue import Jobs
    from fabula.library import App
    from fabula.operations.kit import Asker

GROUP = "Jobs"
PLACE = re.compile(r"[0-9]{14} [0-9a-f]{32}")
"""The place of a job in the list of all."""
# The queue writes to the audit; the commands take several jobs, and need no service.
change = partial(
    operation,
    group=GROUP,
    role="write",
    method="POST",
    status=202,
    is_recorded=False,
    has_command=False,
)
JobId = Annotated[str, Field(min_length=1, max_length=200, description="the id of the job")]


@dataclass(frozen=True)
class JobList:
    """Jobs, the newest first, with counts in place of their items."""

    rows: Sequence[Job]
    next: str | None

    def to_text(self) -> str:
        """Return a line for each job."""
        return "\n".join(job.to_text() for job in self.rows) or "There are no such jobs."


def open_jobs(app: App) -> Jobs:
    """Return the queue of jobs where no service runs in this process."""
    from fabula.jobs.audit import Audit
    from fabula.jobs.queue import Jobs
    from fabula.store import schema

    store = app.connect()
    schema.make_service(store)
    return Jobs(app, None, Audit(store))


def _jobs_of(asker: Asker) -> Jobs:
    return asker.services.jobs if asker.services else open_jobs(asker.app)


def _jobs_of_service(asker: Asker) -> Jobs:
    if asker.services is None:
        raise SettingsError(
            "A job is done with the settings of a service: ask one that runs, over HTTP or on its "
            "page. `fabula jobs resume` lets a paused job go on with the settings that it has."
        )
    return asker.services.jobs


@operation(
    "/jobs",
    group=GROUP,
    command="jobs",
    has_screen=False,
    examples=("jobs", "jobs --state running --json", "jobs resume"),
)
def list_jobs(
    asker: Asker,
    state: Annotated[
        JobState | None, Field(description="only jobs in this state, such as running or paused")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=1000, description="how many at most")] = 50,
    after: After = "",
) -> JobList:
    """List the jobs of the service, the newest first, and what each does or waits for.

    Raises:
        BadValue: `after` is not the `next` of such a list.
    """
    if after and not PLACE.fullmatch(after):
        raise BadValue(f"after={after[:40]!r} is not the `next` of a page of this list.")
    found = _jobs_of(asker).list(asker.caller, state or "", limit + 1, after)
    page = found[:limit]
    return JobList(page, page[-1].place if len(found) > limit else None)


@operation(
    "/jobs/{job}",
    group=GROUP,
    command="jobs show",
    has_screen=False,
    positional=["job"],
    examples=("jobs show 0b7e9a4c5d6f4f1f8e2a3b4c5d6e7f80",),
)
def show_job(asker: Asker, job: JobId) -> Job:
    """Show a job with its progress and its items.

    An item is a file, a document, or the collection itself. While the job runs, one of its steps is
    not done; `eta` is about how many seconds are left.
    """
    return _jobs_of(asker).find(asker.caller, job)


@change("/jobs/{job}/cancel", command="jobs cancel", title="Cancel")
def cancel_job(asker: Asker, job: JobId) -> Job:
    """Cancel a job.

    No further call is started; running calls end, as they are paid for. Documents that are not
    finished by then stay as they were.
    """
    return _jobs_of(asker).cancel(asker.caller, job)


@change("/jobs/{job}/retry", command="jobs retry", title="Retry")
def retry_job(asker: Asker, job: JobId) -> Job:
    """Run the failed and cancelled items of a job again.

    Replies that were paid for are not paid for again.
    """
    return _jobs_of_service(asker).retry(asker.caller, job)


@change("/jobs/{job}/resume", command="jobs resume", title="Resume")
def resume_job(asker: Asker, job: JobId) -> Job:
    """Resume a job that was paused: a budget was spent, or the graph was restored."""
    return _jobs_of_service(asker).resume(asker.caller, job)
