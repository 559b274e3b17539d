"""The flags --workers and --scheduler of commands that build graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster
    from fabula.models.batch_options import BatchOptions

Command = Callable[..., Any]


def worker_flags(command: Command) -> Command:
    """Add the flags; the command is given `workers` and `scheduler`."""
    command = click.option(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="read and build on the workers of this Dask scheduler, as tcp://host:8786 "
        "(pip install 'fabula[dask]')",
    )(command)
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="read and build in N processes on this machine (pip install 'fabula[dask]')",
    )(command)


def refuse_conflicts(
    workers: int | None, scheduler: str, batch: BatchOptions | None = None
) -> None:
    """Raise click.UsageError for flags that exclude each other, also in a dry run."""
    if workers and scheduler:
        raise click.UsageError(
            "--workers starts workers here, --scheduler uses those of a cluster: give one of them."
        )
    if batch and (workers or scheduler):
        raise click.UsageError(
            "--batch leaves the work to the endpoint, and needs no workers: leave --workers and "
            "--scheduler out."
        )


@contextmanager
def open_cluster(
    workers: int | None, scheduler: str, batch: BatchOptions | None = None
) -> Iterator[WorkerCluster | None]:
    """Open the workers that the flags ask for, and yield them; None if the flags ask for none."""
    refuse_conflicts(workers, scheduler, batch)
    if not (workers or scheduler):
        yield None
        return
    from fabula.build.cluster import WorkerCluster

    with WorkerCluster(workers or 0, scheduler) as cluster:
        yield cluster
