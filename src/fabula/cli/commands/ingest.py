"""`fabula ingest`: build graphs of files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.batch_flags import WAITING_CODE, batch_flags, show_waiting
from fabula.cli.shared.estimate import ECONOMY, show_estimate
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.progress import BuildProgress
from fabula.cli.shared.screen import echo, notice_offline, print_json, show_skipped
from fabula.cli.shared.workers import open_cluster, refuse_conflicts, worker_flags
from fabula.config.settings import Settings
from fabula.models.usage import Usage, describe_usage
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.build.outcome import Listener, Outcome
    from fabula.models.batch_estimate import BatchEstimate
    from fabula.models.batch_options import BatchOptions


@click.command(
    "ingest",
    cls=Command,
    examples=(
        "ingest book.epub",
        "ingest novels/ --dry-run",
        "ingest novels/ --max-calls 5000",
        "ingest novels/ --batch",
        "ingest - --name tale.md < tale.md",
        "ingest --retry",
        "ingest novels/ --workers 4",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--rebuild", is_flag=True, help="build everything anew, as the first time")
@click.option("--retry", is_flag=True, help="without PATHS: fill the gaps of the collection")
@click.option("--strict", is_flag=True, help="fail a document that would have a gap")
@click.option("--name", default="", help="file name for standard input, for example tale.md")
@click.option("--dry-run", is_flag=True, help="only show the expected calls and cost")
@click.option("--json", "as_json", is_flag=True, help="print JSON: what became of each source")
@batch_flags
@worker_flags
@settings_flags(*GRAPH, *BUILDING)
def command(
    paths: tuple[str, ...],
    rebuild: bool,
    retry: bool,
    strict: bool,
    name: str,
    dry_run: bool,
    as_json: bool,
    batch: BatchOptions | None,
    workers: int | None,
    scheduler: str,
    settings: Settings,
) -> None:
    """Build graphs of PATHS: files, folders, zip archives, an https address, or - for standard
    input.

    Fabula reads text, Markdown, HTML, EPUB, PDF, DOCX, ODT, RTF, FB2 and TEI. Other files in a
    folder are listed and skipped.

    Documents that have not changed stay as they are; a changed file replaces its old version, and
    the model is asked only about what changed. A file that can't be read is reported, and the
    others continue; the exit code is then 1. What a file has besides its text, as a library's
    licence or page numbers, is left out and counted.

    A gap is a piece that the model did not provide, because its replies could not be read or a
    filter withheld them; or one that a rule failed on. The document is added without it, unless the
    model did not provide more than one piece and more than a tenth. The next ingest of the file
    asks for it again; --retry does so for all documents with gaps, and does not need their files.

    With --batch, models are asked by batches, at half the price, which may take up to a day each,
    and several of them follow each other. The command ends with exit code 75 while documents wait;
    run it again to go on, or let it --wait.
    """
    if not paths and not retry:
        raise click.UsageError("Name files or folders, or give --retry.")
    if not paths and rebuild:
        raise click.UsageError("Name what to --rebuild; --retry only fills gaps.")
    refuse_conflicts(workers, scheduler, batch)
    notice_offline(settings)
    if not paths:
        if dry_run:
            _estimate_retry(settings, new_estimate(settings, batch), as_json=as_json)
            return
        with open_cluster(workers, scheduler, batch) as cluster:
            make_graphs(
                settings,
                lambda fabula, listener: fabula.retry(
                    strict=strict, listener=listener, batch=batch, cluster=cluster
                ),
                nothing="No gaps",
                as_json=as_json,
                batch=batch,
            )
        return
    if dry_run and as_json:
        with open_collection(settings) as fabula:
            estimate = new_estimate(settings, batch)
            _print_json(fabula.expect(*paths, rebuild=rebuild, name=name, estimate=estimate))
        return
    if dry_run:
        _print_estimate(paths, rebuild, name, settings, new_estimate(settings, batch))
        return
    with open_cluster(workers, scheduler, batch) as cluster:
        make_graphs(
            settings,
            lambda fabula, listener: fabula.ingest(
                *paths,
                rebuild=rebuild,
                strict=strict,
                name=name,
                listener=listener,
                batch=batch,
                cluster=cluster,
            ),
            as_json=as_json,
            batch=batch,
        )


def new_estimate(settings: Settings, batch: BatchOptions | None) -> BatchEstimate | None:
    """Return what counts the rounds of a dry run by batches; None for one that calls directly."""
    if batch is None:
        return None
    from fabula.models.batch_estimate import BatchEstimate

    return BatchEstimate(settings.batch_min_tokens, settings.batch_min_calls)


def _print_estimate(
    paths: Sequence[str],
    rebuild: bool,
    name: str,
    settings: Settings,
    estimate: BatchEstimate | None,
) -> None:
    with open_collection(settings) as fabula:

        def expect_economy() -> Sequence[Outcome]:
            return fabula.expect(*paths, rebuild=rebuild, name=name, preset=ECONOMY)

        # Standard input can be read only once, an address is not fetched twice, and the settings of
        # a published baseline are fixed.
        is_local = not any(path == "-" or "://" in path for path in paths)
        can_compare = is_local and settings.preset in ("fabula", "published")
        expected = fabula.expect(*paths, rebuild=rebuild, name=name, estimate=estimate)
        show_estimate(expected, settings, expect_economy if can_compare else None, estimate)


def _estimate_retry(settings: Settings, estimate: BatchEstimate | None, *, as_json: bool) -> None:
    with open_collection(settings) as fabula:
        expected = fabula.retry(dry=True, estimate=estimate)
        if as_json:
            _print_json(expected)
        else:
            show_estimate(expected, settings, estimate=estimate)


def make_graphs(
    settings: Settings,
    make: Callable[[Collection, Listener], Sequence[Outcome]],
    nothing: str = "No files found",
    opener: Callable[[Settings], AbstractContextManager[Collection]] = open_collection,
    *,
    as_json: bool = False,
    batch: BatchOptions | None = None,
) -> None:
    """Build graphs, show the progress and the outcome, and exit with 1 if something failed.

    Args:
        settings: The settings of the run.
        make: Builds the graphs of a collection and reports to a listener.
        nothing: The summary of a run that had nothing to do.
        opener: Opens the collection.
        as_json: Whether the outcome is printed as JSON, without the progress.
        batch: How it asks models by batches, if it does.
    """
    if as_json:
        from fabula.build.outcome import SilentListener

        with opener(settings) as fabula:
            _print_json(make(fabula, SilentListener()))
        return
    listener = BuildProgress()
    try:
        with opener(settings) as fabula, listener:
            outcomes = make(fabula, listener)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(listener.so_far(), settings)) from None
    show_skipped([outcome.source for outcome in outcomes if outcome.status == "skipped"])
    echo(_summarize(outcomes, nothing))
    # Before the failures: whoever repeats the command while it ends with 75 must not lose what is
    # paid for. The last run has no document that waits, and reports the failures.
    show_waiting(outcomes, batch)
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _print_json(outcomes: Sequence[Outcome]) -> None:
    """Print outcomes as JSON, and exit with 75 if documents wait, else with 1 if some failed."""
    print_json([_outcome_json(outcome) for outcome in outcomes])
    if any(outcome.status == "waiting" for outcome in outcomes):
        raise click.exceptions.Exit(WAITING_CODE)
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    names = ("source", "status", "document", "title", "graphs", "notes", "warnings", "seconds")
    return {name: getattr(outcome, name) for name in names} | {
        "counts": dict(outcome.counts),
        "left_out": dict(outcome.left_out),
        "gaps": [asdict(gap) for gap in outcome.gaps],
        "usage": {step: used.row for step, used in outcome.steps.items()},
        "error": str(outcome.error or ""),
    }


def _how_to_continue(so_far: str, settings: Settings) -> str:
    cached = " and cached" if settings.cache and not settings.offline else ""
    return f"{so_far}{cached}: run the same command again to continue."


def _summarize(outcomes: Sequence[Outcome], nothing: str) -> str:
    counts = [
        f"{number} {status}"
        for status in ("added", "replaced", "unchanged", "waiting", "failed", "skipped")
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
