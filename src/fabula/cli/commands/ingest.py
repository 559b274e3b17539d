"""`fabula ingest`: files and folders become graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.estimate import ECONOMY, show_expected
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import opened
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.progress import Watching
from fabula.cli.shared.screen import counted, echo, notice_offline, show_skipped, spent
from fabula.config.settings import Settings
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.build.outcome import Listener, Outcome


@click.command(
    "ingest",
    cls=Command,
    examples=(
        "ingest book.epub",
        "ingest novels/ --dry-run",
        "ingest novels/ --max-calls 5000",
        "ingest - --name tale.md < tale.md",
        "ingest --retry",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--rebuild", is_flag=True, help="make all anew, as at a first ingest")
@click.option("--retry", is_flag=True, help="without PATHS: ask again for the collection's gaps")
@click.option("--strict", is_flag=True, help="a document with a gap fails")
@click.option("--name", default="", help="what standard input is known by, as tale.md")
@click.option("--dry-run", is_flag=True, help="only say what it would ask and cost")
@settings_flags(*GRAPH, *BUILDING)
def command(
    paths: tuple[str, ...],
    rebuild: bool,
    retry: bool,
    strict: bool,
    name: str,
    dry_run: bool,
    settings: Settings,
) -> None:
    """Make graphs of PATHS: files, folders and zips of them, an https address, or - for standard
    input.

    Text, Markdown, HTML, EPUB, PDF, DOCX, ODT, RTF, FB2 and TEI are read. What else a folder holds
    is named, and left alone.

    What is in the graph already, and has not changed, is left as it is; a changed file takes the
    place of the old one, and only what changed in it is asked for. A file that can't be read is
    named, and the rest goes on; the exit code is then 1.

    A piece that the model does not give, as its replies can't be read or a filter withholds them,
    is a gap: the document comes in without it, unless more than one and over a tenth are
    missing. The next ingest of the file asks for it again; --retry does so for all documents that
    have gaps, whose files it does not need.
    """
    if not paths and not retry:
        raise click.UsageError("Name files or folders, or give --retry.")
    if not paths and rebuild:
        raise click.UsageError("Name what to --rebuild; --retry asks for gaps alone.")
    notice_offline(settings)
    if not paths:
        _retry(strict, dry_run, settings)
        return
    if dry_run:
        _expect(paths, rebuild, name, settings)
        return
    make_graphs(
        settings,
        lambda fabula, listener: fabula.ingest(
            *paths, rebuild=rebuild, strict=strict, name=name, listener=listener
        ),
    )


def _expect(paths: Sequence[str], rebuild: bool, name: str, settings: Settings) -> None:
    with opened(settings) as fabula:

        def cheaper() -> Sequence[Outcome]:
            return fabula.expect(*paths, rebuild=rebuild, name=name, preset=ECONOMY)

        # Standard input is there once, and an address is not asked twice. A baseline is as it is.
        is_local = not any(path == "-" or "://" in path for path in paths)
        can_compare = is_local and settings.preset in ("fabula", "published")
        expected = fabula.expect(*paths, rebuild=rebuild, name=name)
        show_expected(expected, settings, cheaper if can_compare else None)


def _retry(strict: bool, dry_run: bool, settings: Settings) -> None:
    if dry_run:
        with opened(settings) as fabula:
            show_expected(fabula.retry(dry=True), settings)
        return
    make_graphs(
        settings,
        lambda fabula, listener: fabula.retry(strict=strict, listener=listener),
        nothing="No gaps",
    )


def make_graphs(
    settings: Settings,
    make: Callable[[Collection, Listener], Sequence[Outcome]],
    nothing: str = "No files found",
    reach: Callable[[Settings], AbstractContextManager[Collection]] = opened,
) -> None:
    """Shows how a run goes on and what became of it; exits with 1 where something failed.

    `nothing` is said of a run that had nothing to do; `reach` opens the collection.
    """
    listener = Watching()
    try:
        with reach(settings) as fabula, listener:
            outcomes = make(fabula, listener)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(listener.so_far(), settings)) from None
    show_skipped([outcome.source for outcome in outcomes if outcome.status == "skipped"])
    echo(_in_all(outcomes, nothing))
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _how_to_go_on(so_far: str, settings: Settings) -> str:
    kept = " and kept" if settings.cache and not settings.offline else ""
    return f"{so_far}{kept}: run the same command again to go on."


def _in_all(outcomes: Sequence[Outcome], nothing: str) -> str:
    counts = [
        f"{number} {status}"
        for status in ("added", "replaced", "unchanged", "failed", "skipped")
        if (number := sum(outcome.status == status for outcome in outcomes))
    ]
    if gaps := sum(len(outcome.gaps) for outcome in outcomes):
        counts.append(f"with {counted(gaps, 'gap')}")
    usage = sum((outcome.usage for outcome in outcomes), Usage())
    return f"{', '.join(counts) or nothing}; {spent(usage)}."
