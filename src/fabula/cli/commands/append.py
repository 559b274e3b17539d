"""`fabula append`: continue a document with further texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import click

from fabula.cli.shared.building import BUILD_FLAGS, BuildFlags, run_build, work_flags
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.screen import notice_offline
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.library.collection import Collection


@click.command(
    "append",
    cls=Command,
    examples=(
        "append Serial chapter101.txt chapter102.txt",
        "append Serial chapter103.md --dry-run",
        "append Serial - --name chapter104.md < draft.md",
    ),
)
@click.argument("document")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--name", default="", help="file name for standard input, for example tale.md")
@work_flags(*BUILD_FLAGS)
@settings_flags(*GRAPH, *BUILDING)
def command(
    document: str, paths: tuple[str, ...], name: str, flags: BuildFlags, settings: Settings
) -> None:
    """Continue DOCUMENT with the texts of PATHS, in their order, as a serial grows.

    Places in its text stay what they were: citations, notes and bookmarks. The graphs that it has
    are brought up to date, and the model is asked only about what the new text changes.

    A file that it was continued with before changes nothing. An ingest of the first file leaves the
    document as it is, unless that file has changed.
    """
    notice_offline(settings)

    def append(collection: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        return collection.append(document, *paths, name=name, **options)

    run_build(settings, append, flags, opener=open_for_reading)
