"""`fabula build`: build a graph for documents that are in the collection."""

from __future__ import annotations

import click

from fabula.cli.commands.ingest import make_graphs
from fabula.cli.shared.estimate import show_estimate
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
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
@click.option("--rebuild", is_flag=True, help="build it anew, as the first time")
@click.option("--strict", is_flag=True, help="fail a document that would have a gap")
@click.option("--dry-run", is_flag=True, help="only show the expected calls and cost")
@settings_flags(*GRAPH, *WRITING)
def command(
    graph: str,
    documents: tuple[str, ...],
    rebuild: bool,
    strict: bool,
    dry_run: bool,
    settings: Settings,
) -> None:
    """Build GRAPH (for example aspects) for DOCUMENTS (ids, titles or files), or for all of the
    collection.

    Texts and other graphs stay as they are, except for graphs that use this one. A graph that is
    up to date is not built again; only its gaps are. A graph of the whole collection, such as
    identities, is built from the graphs of all its documents.
    """
    notice_offline(settings)
    # Only documents that are named identify a collection that is not.
    open_it = open_for_reading if documents else open_collection
    if dry_run:
        with open_it(settings) as fabula:
            show_estimate(fabula.build(graph, *documents, rebuild=rebuild, dry=True), settings)
        return
    make_graphs(
        settings,
        lambda fabula, listener: fabula.build(
            graph, *documents, rebuild=rebuild, strict=strict, listener=listener
        ),
        opener=open_it,
    )
