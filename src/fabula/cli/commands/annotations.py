"""`fabula annotations`: exchange annotations of a document with other programs."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.building import build_graph
from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.operations import make_commands
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings
from fabula.export.annotation_formats import annotation_formats
from fabula.text.nouns import count_noun

FORMATS = annotation_formats()

_format_flag = click.option(
    "--format",
    type=click.Choice(tuple(FORMATS)),
    metavar="NAME",
    help="format, by default by the suffix of the file. "
    + "; ".join(f"{name}: {format.about}" for name, format in FORMATS.items()),
)


@click.group("annotations", cls=Group, commands=make_commands("annotations"))
def command() -> None:
    """Exchange annotations of a document with other programs.

    Imported annotations are kept with the document. They survive rebuilds, and an edit of the text
    where their words do. The graph `annotations` is made of them, so that they can be asked
    (`fabula query --mode annotations`).
    """


@command.command("import", examples=("annotations import carol.jsonld --document Carol",))
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option("--document", required=True, help="the document that they are of: id, title or file")
@click.option("--layer", default="", help="name of the layer; by default that of the file")
@_format_flag
@click.option("--later", is_flag=True, help="do not build the graph of annotations now")
@settings_flags(*GRAPH, *WRITING)
def import_(
    files: tuple[Path, ...],
    document: str,
    layer: str,
    format: str | None,
    later: bool,
    settings: Settings,
) -> None:
    """Import annotations of a document from FILES as a layer; one of the same name is replaced."""
    with open_for_reading(settings) as fabula:
        entry = fabula.document(document)
        imported = fabula.import_annotations(
            *files, document=entry.id, layer=layer, format=format or ""
        )
        record = imported.record
        echo(
            f"{record.name}: {count_noun(record.count, 'annotation')} of {entry.title}; "
            f"{imported.in_place:,} in place, {imported.moved:,} found elsewhere, "
            f"{imported.orphaned:,} orphaned"
            + (
                f" ({imported.untried:,} of them not looked for everywhere: import a part of them)"
                if imported.untried
                else ""
            )
        )
        for remark in imported.remarks:
            echo(remark)
        for name in () if later else fabula.graphs_of_annotations():
            build_graph(settings, fabula, name, entry.id)
