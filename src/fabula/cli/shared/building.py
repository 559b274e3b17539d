"""Commands that do work on a collection: their flags, the estimate of a dry run, what a run did."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import click

from fabula.cli.shared.batch_flags import WAITING_CODE, batch_flags, show_waiting
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import EMBEDDING, GRAPH, WRITING, make_option, settings_flags
from fabula.cli.shared.progress import BuildProgress, describe_subject
from fabula.cli.shared.screen import echo, notice_offline, print_json, show_skipped
from fabula.config.settings import Settings
from fabula.models.usage import Usage, describe_usage
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.library.collection import Collection
    from fabula.models.batch_options import BatchOptions
    from fabula.operations.kit import Operation

Opener = Callable[[Settings], AbstractContextManager["Collection"]]
BuildFunction = Callable[..., Sequence["Outcome"]]
"""Builds graphs of a collection as `BuildOptions` say, and returns what became of each document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFlags:
    """What the flags of a command that builds graphs say."""

    dry_run: bool
    as_json: bool
    strict: bool = False
    batch: BatchOptions | None = None
    workers: int | None = None
    scheduler: str = ""

    def __post_init__(self) -> None:
        if self.workers and self.scheduler:
            raise click.UsageError(
                "--workers starts workers here, --scheduler uses those of a cluster: give one of "
                "them."
            )
        if self.batch and (self.workers or self.scheduler):
            raise click.UsageError(
                "--batch leaves the work to the endpoint, and needs no workers: leave --workers "
                "and --scheduler out."
            )

    @contextmanager
    def open_cluster(self) -> Iterator[WorkerCluster | None]:
        """Open the workers that are asked for, and yield them; None if there are to be none."""
        if not (self.workers or self.scheduler):
            yield None
            return
        from fabula.build.cluster import WorkerCluster

        with WorkerCluster(self.workers or 0, self.scheduler) as cluster:
            yield cluster


SHOW_FLAGS = (
    click.option("--dry-run", is_flag=True, help="only show what would be done, and its cost"),
    click.option("--json", "as_json", is_flag=True, help="print JSON: what became of each source"),
)
"""The flags of all work."""
BUILD_FLAGS = (
    *SHOW_FLAGS,
    click.option("--strict", is_flag=True, help="fail a document that would have a gap"),
    batch_flags,
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="read and build in N processes on this machine (pip install 'fabula[dask]')",
    ),
    click.option(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="read and build on the workers of this Dask scheduler, as tcp://host:8786 "
        "(pip install 'fabula[dask]')",
    ),
)
"""The flags of work that asks chat models."""


def work_flags(*options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add flags, `SHOW_FLAGS` or `BUILD_FLAGS`; the command is given `flags` in their place."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_flags(*args: Any, **values: Any) -> Any:
            names = BuildFlags.__dataclass_fields__.keys() & values.keys()
            flags = BuildFlags(**{name: values.pop(name) for name in names})
            return command(*args, flags=flags, **values)

        for option in reversed(options):
            with_flags = option(with_flags)
        return with_flags

    return decorate


def make_work_command(operation: Operation) -> click.Command:
    """Return the command of an operation that is work: it does it at once, and shows that."""

    def run(settings: Settings, flags: BuildFlags, yes: bool = False, **values: Any) -> None:
        values = {name: value for name, value in values.items() if value not in (None, ())}

        def work(collection: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
            return operation.plan(collection, values).run(**options)

        if asks_models:
            notice_offline(settings)
        if operation.has_confirmation and not (yes or flags.dry_run):
            with open_collection(settings) as collection:
                for outcome in work(collection, dry=True):
                    click.confirm(f"Remove {describe_subject(outcome)}?", abort=True, err=True)
        if operation.confirms_cost and not (yes or flags.dry_run or flags.as_json):
            _confirm_cost(settings, work)
        # Only documents that are named identify a collection that is not.
        opener = open_for_reading if values.get("documents") else open_collection
        run_build(settings, work, flags, opener=opener, nothing="Nothing to do")

    typed = [each for each in operation.parameters if each.name != "batch"]
    asks_models = len(typed) < len(operation.parameters)
    names = WRITING if asks_models else () if operation.has_confirmation else EMBEDDING
    command = work_flags(*(BUILD_FLAGS if asks_models else SHOW_FLAGS))(run)
    command = settings_flags(*GRAPH, *names)(command)
    if operation.has_confirmation or operation.confirms_cost:
        command = click.option("--yes", is_flag=True, help="do not ask for confirmation")(command)
    for parameter in reversed(typed):
        command = make_option(operation, parameter)(command)
    about, examples = operation.description, operation.examples
    return click.command(operation.command, cls=Command, help=about, examples=examples)(command)


def _confirm_cost(settings: Settings, work: BuildFunction) -> None:
    """Show what would be done and cost, and ask whether to do it if models would be called."""
    from fabula.cli.shared.estimate import show_estimate

    with open_collection(settings) as collection:
        expected = work(collection, dry=True)
    if sum((outcome.usage.calls for outcome in expected), 0):
        show_estimate(expected, settings)
        click.confirm("Go on?", abort=True, err=True)


def run_build(
    settings: Settings,
    build: BuildFunction,
    flags: BuildFlags,
    *,
    opener: Opener = open_collection,
    nothing: str = "No files found",
) -> None:
    """Build graphs as flags say, and show that; or show what it would ask of models.

    Args:
        settings: The settings of the run.
        build: Builds the graphs.
        flags: How.
        opener: Opens the collection.
        nothing: The summary of a run that had nothing to do.
    """
    if flags.dry_run:
        _estimate(settings, build, flags, opener)
        return
    with flags.open_cluster() as cluster:
        options: BuildOptions = {
            "strict": flags.strict,
            "batch": flags.batch,
            "cluster": cluster,
        }
        if flags.as_json:
            with opener(settings) as collection:
                _print_json(build(collection, **options))
            return
        outcomes = _show_build(settings, functools.partial(build, **options), opener)
    echo(_summarize(outcomes, nothing))
    # Before the failures: whoever repeats the command while it ends with 75 must not lose what is
    # paid for. The last run has no document that waits, and reports the failures.
    show_waiting(outcomes, flags.batch)
    _exit_if_failed(outcomes)


def build_graph(settings: Settings, collection: Collection, name: str, *documents: str) -> None:
    """Build a graph of documents of a collection that is open, and show that."""

    def build(opened: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        return opened.build(name, *documents, **options)

    outcomes = _show_build(settings, build, lambda _: nullcontext(collection))
    echo(_summarize(outcomes, "Nothing to build"))
    _exit_if_failed(outcomes)


def _show_build(settings: Settings, build: BuildFunction, opener: Opener) -> Sequence[Outcome]:
    listener = BuildProgress()
    try:
        with opener(settings) as collection, listener:
            outcomes = build(collection, listener=listener)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(listener.so_far(), settings)) from None
    show_skipped(outcomes)
    return outcomes


def _estimate(settings: Settings, build: BuildFunction, flags: BuildFlags, opener: Opener) -> None:
    from fabula.cli.shared.estimate import show_estimate

    with opener(settings) as collection:
        expected = build(collection, dry=True)
        if flags.as_json:
            _print_json(expected)
        else:
            show_estimate(expected, settings, by_batches=bool(flags.batch))


def _print_json(outcomes: Sequence[Outcome]) -> None:
    """Print outcomes as JSON, and exit with 75 if documents wait, else with 1 if some failed."""
    from fabula.jobs.estimates import ShownOutcome
    from fabula.operations.shown_answer import to_json

    print_json([to_json(ShownOutcome.of(outcome)) for outcome in outcomes])
    if any(outcome.status == "waiting" for outcome in outcomes):
        raise click.exceptions.Exit(WAITING_CODE)
    _exit_if_failed(outcomes)


def _exit_if_failed(outcomes: Sequence[Outcome]) -> None:
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _how_to_continue(so_far: str, settings: Settings) -> str:
    cached = " and cached" if settings.cache and not settings.offline else ""
    return f"{so_far}{cached}: run the same command again to continue."


def _summarize(outcomes: Sequence[Outcome], nothing: str) -> str:
    counts = [
        f"{number} {status}"
        for status in ("added", "replaced", "removed", "unchanged", "waiting", "failed", "skipped")
        if (number := sum(outcome.status == status for outcome in outcomes))
    ]
    if gaps := sum(len(outcome.gaps) for outcome in outcomes):
        counts.append(f"with {count_noun(gaps, 'gap')}")
    summary = ", ".join(counts) or nothing
    usage = sum((outcome.usage for outcome in outcomes), Usage())
    if usage == Usage() and any(outcome.status == "waiting" for outcome in outcomes):
        # What was asked for them is counted once they are there.
        return f"{summary}."
    return f"{summary}; {describe_usage(usage)}."
