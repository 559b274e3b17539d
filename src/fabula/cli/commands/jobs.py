"""`fabula jobs`: what the service works on; pause jobs, let them go on, or drop them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fabula.cli.shared.help import Command, Group
from fabula.cli.shared.opening import open_app
from fabula.cli.shared.operations import make_command, make_commands
from fabula.cli.shared.options import HOME_FLAGS
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings
from fabula.jobs.callers import PERSON
from fabula.operations.jobs import open_jobs
from fabula.operations.kit import find_operation
from fabula.text.nouns import count_with_verb

if TYPE_CHECKING:
    from fabula.jobs.queue import Jobs

COMMANDLINE = ParameterSource.COMMANDLINE
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


LISTING = replace(find_operation("jobs"), command="jobs list", examples=("jobs list",))
command = make_command(
    find_operation("jobs"),
    Group,
    commands=[make_command(LISTING), *make_commands("jobs"), resume, pause, cancel],
    invoke_without_command=True,
)
"""Without an action it lists the jobs."""
list_jobs = command.callback


@click.pass_context
def _list_where_no_action_is_named(context: click.Context, /, **values: Any) -> None:
    action = context.invoked_subcommand
    if action is None and list_jobs:
        list_jobs(**values)
    elif any(context.get_parameter_source(name) is COMMANDLINE for name in values):
        raise click.UsageError(f"Give the options after `{action}`, as they are its own.")


command.callback = _list_where_no_action_is_named


def _change(settings: Settings, ids: tuple[str, ...], what: str) -> None:
    with _open_jobs(settings) as jobs:
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
    with open_app(settings) as app:
        yield open_jobs(app)
