"""`fabula notes`: notes and highlights of one's own on words of a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags, until_flag
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.export.annotated_text import PlacedLayer

ID_CHARACTERS = 6
"""Of a note's id in a table: enough to name it."""


@click.group("notes", cls=Group)
def command() -> None:
    """Note or highlight words of a document; list, search, export and remove notes.

    Notes are kept with the document, and survive rebuilds, and an edit of the text where their
    words do. With `--build`, or after `fabula build annotations`, they can be asked.
    """


@command.command(
    "add",
    examples=(
        'notes add Carol "MARLEY was dead: to begin with." --note "A line."',
        "notes add Carol --at 200-240 --tag irony",
    ),
)
@click.argument("document")
@click.argument("words", default="")
@click.option("--note", "body", default="", help="the note; without one the words are highlighted")
@click.option("--tag", default="", help="a tag")
@click.option("--at", default="", metavar="CHARACTERS", help="what it is on, as 120-340")
@click.option("--build", "builds", is_flag=True, help="build the graph of annotations now")
@settings_flags(*GRAPH, *WRITING)
def add(
    document: str,
    words: str,
    body: str,
    tag: str,
    at: str,
    builds: bool,
    settings: Settings,
) -> None:
    """Note something on WORDS of DOCUMENT (its id, title or file), or on characters of it."""
    with open_for_reading(settings) as fabula:
        entry = fabula.document(document)
        note = fabula.add_note(entry.id, words, body, at=at, tag=tag)
        place = f"{entry.title}, characters {note.start}-{note.end}"
        echo(f"{note.kind} {note.id[:ID_CHARACTERS]} on {place}")
        if builds:
            from fabula.cli.commands.annotations import build_annotations

            build_annotations(settings, fabula, entry.id)


@command.command("list", examples=("notes list", 'notes list "A Christmas Carol"'))
@click.argument("document", default="")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@until_flag
@settings_flags(*GRAPH)
def list_(document: str, until: str, as_json: bool, settings: Settings) -> None:
    """List the notes on DOCUMENT, or on all documents of the collection."""
    _show(settings, document, "", until, as_json)


@command.command("search", examples=("notes search line",))
@click.argument("words")
@click.option("--document", default="", help="only in this document: its id, title or file")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@until_flag
@settings_flags(*GRAPH)
def search(words: str, document: str, until: str, as_json: bool, settings: Settings) -> None:
    """List the notes that have all WORDS, in the note, its tag or the words that it is on."""
    _show(settings, document, words, until, as_json)


@command.command("edit", examples=('notes edit Carol 3fa2c1 --note "Is he?" --tag death',))
@click.argument("document")
@click.argument("id")
@click.option("--note", "body", help="the new text of the note; '' for a highlight")
@click.option("--tag", help="the new tag; '' for none")
@settings_flags(*GRAPH)
def edit(document: str, id: str, body: str | None, tag: str | None, settings: Settings) -> None:
    """Change the text or the tag of the note of this ID, or the beginning of one, on DOCUMENT."""
    if body is None and tag is None:
        raise click.UsageError("Give the new text (--note) or the new tag (--tag).")
    with open_for_reading(settings) as fabula:
        note = fabula.edit_note(document, id, body, tag)
    echo(f"{note.kind} {note.id[:ID_CHARACTERS]} changed")


@command.command("remove", examples=("notes remove Carol 3fa2c1",))
@click.argument("document")
@click.argument("id")
@settings_flags(*GRAPH)
def remove(document: str, id: str, settings: Settings) -> None:
    """Remove the note of this ID, or the beginning of one, from DOCUMENT."""
    with open_for_reading(settings) as fabula:
        note = fabula.remove_note(document, id)
    echo(f"{note.kind} {note.id[:ID_CHARACTERS]} removed")


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
    from fabula.app.annotating import write_notes
    from fabula.export.files import replace_file
    from fabula.graph.annotations import NOTES

    is_markdown = out.suffix.lower() in (".md", ".markdown")
    if not is_markdown and not document:
        raise click.UsageError("Name a document, or write Markdown (--out notes.md).")
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        if not is_markdown:
            written = read.export_annotations(out, document, what=(NOTES,))
            echo("\n".join(map(str, written)))
            return
        content = write_notes(read.notes(document), read.document, read.store)
    with replace_file(out) as stream:
        stream.write(content)
    echo(str(out))


def _show(settings: Settings, document: str, words: str, until: str, as_json: bool) -> None:
    from fabula.app.annotating import annotation_row

    with open_for_reading(settings) as fabula:
        layers = fabula.as_read(document, until).notes(document, words)
        titles = _titles(fabula, layers)
    rows = [
        {"document": titles[layer.record.document], **annotation_row(layer.record.name, item)}
        for layer in layers
        for item in layer.items
    ]
    if as_json:
        print_json(rows)
        return
    if not rows:
        echo("There are no such notes." if words else "There are no notes: `fabula notes add`.")
        return
    table = Table(show_edge=False)
    for heading in ("id", "document", "words", "note", "tag", "by", "characters"):
        table.add_column(heading)
    for row in rows:
        place = "orphaned" if row["start"] is None else f"{row['start']}-{row['end']}"
        words_of_note = " ".join(str(row["quote"]).split())
        table.add_row(
            row["id"][:ID_CHARACTERS],
            row["document"],
            words_of_note,
            row["body"],
            row["label"],
            row["creator"],
            place,
        )
    print_table(table)
    echo(count_noun(len(rows), "note"), err=True)


def _titles(fabula: Collection, layers: Sequence[PlacedLayer]) -> dict[str, str]:
    ids = {layer.record.document for layer in layers}
    found = {entry.id: entry.title for entry in fabula.store.find_same(fabula.name, sorted(ids))}
    return {id: found.get(id, id) for id in ids}
