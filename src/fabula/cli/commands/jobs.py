"""`fabula jobs`: what the service works on; pause jobs, let them go on, or drop them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.shared.help import Command, CommandWithActions
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import HOME_FLAGS
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.text.nouns import count_with_verb

if TYPE_CHECKING:
    from fabula.jobs.queue import Jobs

PAUSED = "It was paused by `fabula jobs pause`: resume or cancel it."
MAX_JOBS = 1_000
"""How many paused jobs `resume` and `cancel` take that name none."""


@click.command("resume", cls=Command, examples=("jobs resume",))
@click.argument("ids", metavar="[JOB]...", nargs=-1)
@HOME_FLAGS
def resume(ids: tuple[str, ...], settings: Settings) -> None:
    """Let paused jobs go on: those whose ids are named, or all.

    They keep their settings and the key that pays for them. One whose quota is spent is paused
    again.
    """
    _change(settings, ids, "resume")


@click.command("pause", cls=Command, examples=("jobs pause",))
@HOME_FLAGS
def pause(settings: Settings) -> None:
    """Pause all jobs that have not ended.

    Run this after Neo4j was restored by hand, before the service starts: jobs that were under way
    in the backup may have ended since. `fabula db restore` and `fabula db load` do it themselves.
    """
    with _open_jobs(settings) as jobs:
        echo(f"{count_with_verb(jobs.pause_all(PAUSED), 'job')} paused.")


@click.command("cancel", cls=Command, examples=("jobs cancel",))
@click.argument("ids", metavar="[JOB]...", nargs=-1)
@HOME_FLAGS
def cancel(ids: tuple[str, ...], settings: Settings) -> None:
    """Cancel jobs: those whose ids are named, or all that are paused.

    What they have finished stays.
    """
    _change(settings, ids, "cancel")


@click.command(
    "jobs",
    cls=CommandWithActions,
    actions=(resume, pause, cancel),
    examples=("jobs", "jobs --state running --json", "jobs resume"),
)
@click.option("--state", default="", help="only jobs in this state, such as running or paused")
@click.option(
    "--limit", type=click.IntRange(1, MAX_JOBS), default=20, show_default=True, help="how many"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@HOME_FLAGS
def command(state: str, limit: int, as_json: bool, settings: Settings) -> None:
    """List the jobs of the service, the newest first, and what each does or waits for."""
    with _open_jobs(settings) as jobs:
        from fabula.jobs.callers import PERSON
        from fabula.service.api.jobs import JobView

        found = jobs.list(PERSON, state, limit)
        if as_json:
            print_json([JobView.of(job, items=False).model_dump(mode="json") for job in found])
            return
    if not found:
        echo(f"No job is {state}." if state else "There are no jobs.")
        return
    table = Table(show_edge=False)
    for name in ("job", "kind", "collection", "state", "done", "what it does or waits for"):
        table.add_column(name)
    for job in found:
        done = f"{job.done} of {sum(job.counts.values())}"
        table.add_row(job.id, job.kind, job.collection, job.state, done, job.doing)
    print_table(table)


def _change(settings: Settings, ids: tuple[str, ...], what: str) -> None:
    with _open_jobs(settings) as jobs:
        from fabula.jobs.callers import PERSON

        change = jobs.resume_unchanged if what == "resume" else jobs.cancel
        for id in ids or [job.id for job in jobs.list(PERSON, "paused", MAX_JOBS)]:
            job = change(PERSON, id)
            echo(f"{job.id}  {job.state}: {job.kind} in collection {job.collection}")
            ids = (*ids, id)
    if not ids:
        echo("No job is paused.")


@contextmanager
def _open_jobs(settings: Settings) -> Iterator[Jobs]:
    """Open the jobs in the graph of the settings."""
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.jobs.queue import Jobs
        from fabula.service.core.audit import Audit
        from fabula.service.state import make_schema
    with open_collection(settings) as fabula:
        store = fabula.app.connect()
        make_schema(store)
        yield Jobs(fabula.app, None, Audit(store))
