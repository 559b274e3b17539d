"""`fabula build`: a graph for documents that are there."""

from __future__ import annotations

import click

from fabula.cli.commands.ingest import make_graphs
from fabula.cli.shared.estimate import show_expected
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import notice_offline
from fabula.config.settings import Settings


@click.command(
    "build",
    cls=Command,
    examples=(
        "build aspects",
        'build aspects "A Christmas Carol" --levels 3',
        "build aspects --dry-run",
    ),
)
@click.argument("graph")
@click.argument("documents", nargs=-1)
@click.option("--rebuild", is_flag=True, help="make it anew, as at a first build")
@click.option("--strict", is_flag=True, help="a document with a gap fails")
@click.option("--dry-run", is_flag=True, help="only say what it would ask and cost")
@settings_flags(*GRAPH, *WRITING)
def command(
    graph: str,
    documents: tuple[str, ...],
    rebuild: bool,
    strict: bool,
    dry_run: bool,
    settings: Settings,
) -> None:
    """Build GRAPH, as aspects, for DOCUMENTS (ids, titles or files), or for all of the collection.

    Their texts stay as they are, and so do other graphs, but those that rest on this one. What is
    built already, from the same, is left as it is, but for gaps, which are asked for again. A graph
    of the whole collection, as identities, is made of what all its documents have.
    """
    notice_offline(settings)
    reach = meant if documents else opened
    if dry_run:
        with reach(settings) as fabula:
            show_expected(fabula.build(graph, *documents, rebuild=rebuild, dry=True), settings)
        return
    make_graphs(
        settings,
        lambda fabula, listener: fabula.build(
            graph, *documents, rebuild=rebuild, strict=strict, listener=listener
        ),
        reach=reach,
    )
