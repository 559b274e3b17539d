"""The flags --workers and --scheduler of commands that build graphs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster
    from fabula.config.settings import Settings
    from fabula.models.batch_options import BatchOptions

LOG = logging.getLogger("fabula")
GRACE_SECONDS = 2.0
"""How long a gateway of this process waits for calls under way when the command ends."""
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
    settings: Settings, workers: int | None, scheduler: str, batch: BatchOptions | None = None
) -> Iterator[tuple[Settings, WorkerCluster | None]]:
    """Open the workers that the flags ask for.

    Local workers that ask models share a gateway: that of the settings, or else one in this process
    where the extra `serve` is installed.

    Yields:
        The settings to use with the workers, and the workers; None if the flags ask for none.

    """
    refuse_conflicts(workers, scheduler, batch)
    if not (workers or scheduler):
        yield settings, None
        return
    from fabula.build.cluster import WorkerCluster

    with ExitStack() as stack:
        if workers:
            settings = stack.enter_context(_share_gateway(settings))
        # Entered last, so that no worker waits for a gateway that is gone.
        cluster = stack.enter_context(WorkerCluster(workers or 0, scheduler))
        yield settings, cluster


@contextmanager
def _share_gateway(settings: Settings) -> Iterator[Settings]:
    """Serve a gateway to the workers of this process; yield the settings of who is behind it."""
    if settings.gateway_url or not (settings.uses_endpoint and settings.has_endpoint):
        yield settings
        return
    try:
        from fabula.service.gateway import serve_gateway
    except ImportError:
        LOG.warning(
            "Each worker limits its calls by itself, and has %d at once in all with the others. "
            "With `pip install 'fabula[serve]'` they share one limit, which is learned.",
            settings.concurrency,
        )
        yield settings
        return
    # Whoever stops the command waits for no call that a worker had asked for; and other users of
    # this machine are not to spend this one's money.
    own = {"grace": GRACE_SECONDS, "require_key": True}
    table = settings.table("gateway").model_copy(update=own)
    brief = settings.model_copy(update={"tables": settings.tables | {"gateway": table}})
    with serve_gateway(brief) as gateway:
        # The gateway holds the limits. Held here, too, calls that its cache answers would take up
        # room while they are under way, and end a run that spends nothing.
        behind = gateway.settings_for_clients(settings)
        yield behind.model_copy(update={"max_calls": None, "max_tokens": None})
