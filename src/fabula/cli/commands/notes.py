"""`fabula notes`: notes and highlights on words of a document."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.operations import make_commands
from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings


@click.group("notes", cls=Group, commands=make_commands("notes"))
def command() -> None:
    """Note or highlight words of a document; list, search, export and remove notes.

    Notes are kept with the document, and survive rebuilds, and an edit of the text where their
    words do. With `--build`, or after `fabula build annotations`, they can be asked.
    """


@command.command(
    "export",
    examples=(
        "notes export --out notes.md",
        'notes export "A Christmas Carol" --out notes.jsonld',
    ),
)
@click.argument("document", default="")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="file to write: .md for Markdown, any other for the format that it ends in",
)
@until_flag
@settings_flags(*GRAPH)
def export(document: str, until: str, out: Path, settings: Settings) -> None:
    """Write the notes on DOCUMENT as Markdown or as Web Annotations; those on all as Markdown."""
    from fabula.export.files import replace_file
    from fabula.graph.annotations import NOTES
    from fabula.operations.notes import export_notes

    is_markdown = out.suffix.lower() in (".md", ".markdown")
    if not is_markdown and not document:
        raise click.UsageError("Name a document, or write Markdown (--out notes.md).")
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        if not is_markdown:
            written = read.export_annotations(out, document, what=(NOTES,))
            echo("\n".join(map(str, written)))
            return
        content = export_notes(read, document)
    with replace_file(out) as stream:
        stream.write(content)
    echo(str(out))
