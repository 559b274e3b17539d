"""`fabula ingest`: files and folders become graphs."""

from __future__ import annotations

import click

from fabula.cli.options import BUILDING, GRAPH, settings_flags
from fabula.cli.screen import notice_offline, spent
from fabula.cli.starting import opened
from fabula.cli.watching import watching
from fabula.ingest import Outcome
from fabula.model import Usage
from fabula.settings import Settings


@click.command("ingest")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@settings_flags(*GRAPH, *BUILDING)
def command(paths: tuple[str, ...], settings: Settings) -> None:
    """Make graphs of PATHS: text, Markdown, HTML, EPUB and PDF files, or folders of them.

    What is in the graph already, and has not changed, is left as it is; a changed file takes the
    place of the old one. A file that can't be read is named, and the rest goes on; the exit code
    is then 1.
    """
    notice_offline(settings)
    with opened(settings) as fabula, watching() as listener:
        outcomes = fabula.ingest(*paths, listener=listener)
    click.echo(_in_all(outcomes))
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _in_all(outcomes: list[Outcome]) -> str:
    counts = [
        f"{number} {status}"
        for status in ("added", "replaced", "unchanged", "failed")
        if (number := sum(outcome.status == status for outcome in outcomes))
    ]
    usage = sum((outcome.usage for outcome in outcomes), Usage())
    return f"{', '.join(counts) or 'No files found'}; {spent(usage)}."
