"""`fabula ingest`: build graphs of files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from fabula.cli.shared.building import BUILD_FLAGS, BuildFlags, run_build, work_flags
from fabula.cli.shared.help import Command
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.screen import echo, notice_offline
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.library.collection import Collection


@click.command(
    "ingest",
    cls=Command,
    examples=(
        "ingest book.epub",
        "ingest novels/ --dry-run",
        "ingest novels/ --max-calls 5000",
        "ingest scenes/ --as-one",
        "ingest - --name tale.md < tale.md",
        "ingest novels/ --workers 4",
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--rebuild", is_flag=True, help="build all anew, as the first time")
@click.option("--name", default="", help="file name for standard input, for example tale.md")
@click.option(
    "--as-one",
    is_flag=True,
    help="one document of all files of a folder, as its chapters or scenes",
)
@work_flags(*BUILD_FLAGS)
@settings_flags(*GRAPH, *BUILDING)
def command(
    paths: tuple[str, ...],
    rebuild: bool,
    name: str,
    as_one: bool,
    flags: BuildFlags,
    settings: Settings,
) -> None:
    """Build graphs of PATHS: files, folders, zip archives, an https address, or - for standard
    input.

    Fabula reads text, Markdown, HTML, EPUB, PDF, DOCX, ODT, RTF, FB2, TEI, screenplays (Fountain,
    Final Draft), subtitles (SRT, WebVTT, TTML) and transcripts. Other files in a folder are listed
    and skipped.

    Documents that have not changed stay as they are; a changed file replaces its old version, and
    the model is asked only about what changed. A file that can't be read is reported, and the
    others continue; the exit code is then 1.

    A document is added without its gaps, the pieces that the model did not provide, if they are
    few. The next ingest of the file asks for them again; `fabula retry` does so for all documents.

    With --batch, models are asked by batches, at half the price, which may take up to a day each.
    The command ends with exit code 75 while documents wait; run it again, or let it --wait.
    """
    from fabula.load import find
    from fabula.load.folders import describe_parts

    notice_offline(settings)

    def ingest(collection: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        options["rebuild"] = rebuild
        return collection.ingest(*paths, name=name, as_one=as_one, **options)

    # Standard input can be read only once, an address is not fetched twice, and the settings of a
    # published baseline are fixed.
    is_local = not any(path == "-" or "://" in path for path in paths)
    run_build(
        settings,
        ingest,
        flags,
        nothing="No files found",
        can_compare=is_local and settings.preset in ("fabula", "published"),
    )
    for path in map(Path, () if as_one else paths):
        if path.is_dir() and (hint := describe_parts(path, find([path]).files)):
            echo(hint, err=True)
