"""`fabula ingest`: build graphs of files and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from fabula.cli.shared.building import BUILD_FLAGS, BuildFlags, run_build, work_flags
from fabula.cli.shared.help import Command
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.screen import echo, notice_offline
from fabula.config.settings import Settings
from fabula.errors import LoadError
from fabula.text.metadata import GivenMetadata, Metadata, read_assignments, read_table

if TYPE_CHECKING:
    from fabula.build.options import BuildOptions
    from fabula.build.outcome import Outcome
    from fabula.library.collection import Collection

MAX_NAMED = 5
"""Rows of a table that are named because they are of no document."""


@click.command(
    "ingest",
    cls=Command,
    examples=(
        "ingest book.epub",
        "ingest novels/ --dry-run",
        "ingest - --name tale.md < tale.md",
        "ingest novels/ --workers 4",
        "ingest novels/ --meta genre=gothic --meta-csv corpus.csv",
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--rebuild", is_flag=True, help="build all anew, as the first time")
@click.option("--name", default="", help="file name for standard input, for example tale.md")
@click.option(
    "--meta", multiple=True, metavar="NAME=VALUE", help="a field of all documents; may be repeated"
)
@click.option(
    "--meta-csv",
    type=click.Path(path_type=Path),
    help="a table of fields by file or title",
)
@click.option(
    "--as-one",
    is_flag=True,
    help="one document of all files of a folder",
)
@work_flags(*BUILD_FLAGS)
@settings_flags(*GRAPH, *BUILDING)
def command(
    paths: tuple[str, ...],
    rebuild: bool,
    name: str,
    meta: tuple[str, ...],
    meta_csv: Path | None,
    as_one: bool,
    flags: BuildFlags,
    settings: Settings,
) -> None:
    """Build graphs of PATHS: files, folders, zip archives, an https address, or - for standard
    input.

    Fabula reads books, plays, scripts and subtitles in many formats (docs/formats.md). Other files
    in a folder are listed and skipped.

    Documents that have not changed stay as they are; of a changed file the model is asked only
    about what changed. A file that can't be read is reported, and the others continue; the exit
    code is then 1. A piece that the model did not provide is a gap, which the next ingest asks for
    again.

    With --batch, models are asked at half the price, within a day. The command ends with exit code
    75 while documents wait; run it again, or let it --wait.
    """
    from fabula.load import find
    from fabula.load.encoding import decode_text
    from fabula.load.files import read_file
    from fabula.load.folders import describe_parts

    notice_offline(settings)
    for path in map(Path, () if as_one else paths):
        # A folder that can't be searched is reported as a document that has failed.
        with suppress(LoadError):
            if path.is_dir() and (hint := describe_parts(path, find([path]).files)):
                echo(hint, err=True)
    rows: Mapping[str, Metadata] = {}
    if meta_csv:
        data = read_file(meta_csv, str(meta_csv), settings.max_file_mb * 1_000_000)
        rows = read_table(decode_text(data, str(meta_csv)).text)
    given = GivenMetadata(read_assignments(meta), rows)

    def ingest(collection: Collection, /, **options: Unpack[BuildOptions]) -> Sequence[Outcome]:
        options |= {"rebuild": rebuild, "metadata": given}
        outcomes = collection.ingest(*paths, name=name, as_one=as_one, **options)
        used = {given.find_row(each.source, each.title) for each in outcomes}
        if unused := sorted(given.rows.keys() - used):
            names = ", ".join(unused[:MAX_NAMED])
            echo(f"No file or title fits {len(unused)} rows of --meta-csv: {names}.", err=True)
        return outcomes

    run_build(settings, ingest, flags)
