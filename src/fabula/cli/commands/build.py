"""`fabula build`: build a graph for documents that are in the collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fabula.cli.commands.ingest import make_graphs, new_estimate
from fabula.cli.shared.batch_flags import batch_flags
from fabula.cli.shared.estimate import show_estimate
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import notice_offline
from fabula.cli.shared.workers import open_cluster, refuse_conflicts, worker_flags
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.models.batch_options import BatchOptions


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
@batch_flags
@worker_flags
@settings_flags(*GRAPH, *WRITING)
def command(
    graph: str,
    documents: tuple[str, ...],
    rebuild: bool,
    strict: bool,
    dry_run: bool,
    batch: BatchOptions | None,
    workers: int | None,
    scheduler: str,
    settings: Settings,
) -> None:
    """Build GRAPH (for example aspects) for DOCUMENTS (ids, titles or files), or for all of the
    collection.

    Texts and other graphs stay as they are, except for graphs that use this one. A graph that is
    up to date is not built again; only its gaps are. A graph of the whole collection, such as
    identities, is built from the graphs of all its documents.

    With --batch, models are asked by batches, at half the price; see `fabula ingest --help`.
    """
    refuse_conflicts(workers, scheduler, batch)
    notice_offline(settings)
    # Only documents that are named identify a collection that is not.
    open_it = open_for_reading if documents else open_collection
    if dry_run:
        estimate = new_estimate(settings, batch)
        with open_it(settings) as fabula:
            expected = fabula.build(graph, *documents, rebuild=rebuild, dry=True, estimate=estimate)
            show_estimate(expected, settings, estimate=estimate)
        return
    with open_cluster(workers, scheduler, batch) as cluster:
        make_graphs(
            settings,
            lambda fabula, listener: fabula.build(
                graph,
                *documents,
                rebuild=rebuild,
                strict=strict,
                listener=listener,
                batch=batch,
                cluster=cluster,
            ),
            opener=open_it,
            batch=batch,
        )
