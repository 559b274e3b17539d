"""The flags of commands that can ask models by batches, and what these commands say of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.screen import echo
from fabula.models.batch_options import BatchOptions, BatchProgress
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

POLL_SECONDS = 60.0
WAITING_CODE = 75
"""The exit code of a run that waits for batches: sysexits.h calls it EX_TEMPFAIL, try again."""


def batch_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --batch, --wait and --poll; the command is given `batch` in their place, or None."""

    @functools.wraps(command)
    def with_batch(*args: Any, batch: bool, wait: bool, poll: float, **values: Any) -> Any:
        if wait and not batch:
            raise click.UsageError("--wait is for --batch.")
        options = BatchOptions(wait, poll, _Report()) if batch else None
        return command(*args, batch=options, **values)

    for option in (
        click.option(
            "--poll",
            type=click.FloatRange(min=0.01),
            default=POLL_SECONDS,
            show_default=True,
            help="poll interval in seconds, with --wait",
        ),
        click.option("--wait", is_flag=True, help="with --batch: wait until they have ended"),
        click.option(
            "--batch",
            is_flag=True,
            help="ask models by batches: half the price, within a day; see docs/batch.md",
        ),
    ):
        with_batch = option(with_batch)
    return with_batch


class _Report:
    """Prints how the batches of a run stand, where that has changed."""

    def __init__(self) -> None:
        self.last = BatchProgress(0, 0, 0)

    def __call__(self, progress: BatchProgress) -> None:
        if progress != self.last and progress.batches:
            echo(
                f"waiting for {count_noun(progress.batches, 'batch')} with "
                f"{count_noun(progress.lines, 'call')}, {progress.done:,} of them answered",
                err=True,
            )
        self.last = progress


def show_waiting(outcomes: Sequence[Outcome], batch: BatchOptions | None) -> None:
    """Say how a run goes on whose documents wait for batches, and end it with `WAITING_CODE`."""
    waiting = sum(outcome.status == "waiting" for outcome in outcomes)
    if not waiting:
        return
    progress = batch.report.last if batch and isinstance(batch.report, _Report) else None
    documents = f"{count_noun(waiting, 'document')} {'waits' if waiting == 1 else 'wait'}"
    if progress and progress.cancelled:
        number = progress.cancelled
        echo(
            f"{documents}, and {count_noun(number, 'batch')} of "
            f"{'its' if waiting == 1 else 'their'} model calls {'was' if number == 1 else 'were'} "
            "cancelled. Run the same command again to send what is missing."
        )
    else:
        number = progress.batches if progress else 0
        count = count_noun(number, "batch") if number else "batches"
        goes_on = "" if batch and batch.wait else "; with --wait it does so by itself"
        echo(
            f"{documents} for {count}. Run the same command again to go on{goes_on}. "
            "`fabula batches` lists them."
        )
    raise click.exceptions.Exit(WAITING_CODE)
