"""`fabula build`: build a graph for documents that are in the collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import click

from fabula.cli.shared.building import BuildFlags, build_flags, run_build
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import notice_offline
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.library.collection import Collection


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
@build_flags
@settings_flags(*GRAPH, *WRITING)
def command(graph: str, documents: tuple[str, ...], flags: BuildFlags, settings: Settings) -> None:
    """Build GRAPH (for example aspects) for DOCUMENTS (ids, titles or files), or for all of the
    collection.

    Texts and other graphs stay as they are, except for graphs that use this one. A graph that is
    up to date is not built again; only its gaps are. A graph of the whole collection, such as
    identities, is built from the graphs of all its documents.

    With --batch, models are asked by batches, at half the price; see `fabula ingest --help`.
    """
    notice_offline(settings)

    def build(collection: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        return collection.build(graph, *documents, **options)

    # Only documents that are named identify a collection that is not.
    opener = open_for_reading if documents else open_collection
    run_build(settings, build, flags, opener=opener)
