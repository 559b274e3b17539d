"""`fabula annotations`: exchange annotations of a document with other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.commands.ingest import make_graphs
from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags, until_flag
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.export.annotation_formats import annotation_formats
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.export.annotated_text import PlacedLayer

MAX_CELL = 80
"""Characters of a quotation or a note in a table."""
FORMATS = annotation_formats()

_format_flag = click.option(
    "--format",
    type=click.Choice(tuple(FORMATS)),
    metavar="NAME",
    help="format, by default by the suffix of the file. "
    + "; ".join(f"{name}: {format.about}" for name, format in FORMATS.items()),
)


@click.group("annotations", cls=Group)
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
        if not later:
            build_annotations(settings, fabula, entry.id)


@command.command(
    "export",
    examples=(
        'annotations export "A Christmas Carol" --out carol.jsonld',
        "annotations export Carol --what entities --out carol.jsonld",
    ),
)
@click.argument("document")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="file to write"
)
@_format_flag
@click.option(
    "--what",
    multiple=True,
    metavar="NAME",
    help="entities, quotations, events, or the name of a layer such as notes; may be repeated",
)
@until_flag
@settings_flags(*GRAPH)
def export(
    document: str,
    until: str,
    out: Path,
    format: str | None,
    what: tuple[str, ...],
    settings: Settings,
) -> None:
    """Write what is marked in DOCUMENT (its id, title or file): what graphs found, and layers."""
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        written = read.export_annotations(out, document, format=format or "", what=what)
    for path in written:
        echo(str(path))


@command.command("list", examples=("annotations list", 'annotations list "A Christmas Carol"'))
@click.argument("document", default="")
@click.option("--layer", default="", help="only this layer, with each of its annotations")
@click.option("--orphaned", is_flag=True, help="only those whose words are not in the text")
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="maximum rows")
@until_flag
@settings_flags(*GRAPH)
def list_(
    document: str,
    until: str,
    layer: str,
    orphaned: bool,
    as_json: bool,
    limit: int,
    settings: Settings,
) -> None:
    """List the layers of DOCUMENT, or of all documents; with --layer or --orphaned, annotations."""
    if until and not document:
        raise click.UsageError("--until is a place in one document: name the document.")
    with open_for_reading(settings) as fabula:
        if not document:
            records = fabula.annotation_layers()
            titles = {entry.id: entry.title for entry in fabula.documents()} if records else {}
            _print_records(
                [(titles.get(r.document, r.document), r.name, r.count, r.source) for r in records],
                as_json,
            )
            return
        layers = fabula.as_read(document, until).annotations(document, layer)
    if layer or orphaned:
        _print_annotations(layers, orphaned, as_json, limit)
        return
    if as_json:
        print_json([_layer_json(each) for each in layers])
        return
    table = Table(show_edge=False)
    for heading in ("layer", "annotations", "moved", "orphaned", "source", "by"):
        table.add_column(heading)
    for each in layers:
        record = each.record
        counts = (f"{len(each.items):,}", f"{each.moved:,}", f"{each.orphaned:,}")
        table.add_row(record.name, *counts, record.source, record.by)
    print_table(table)


@command.command("remove", examples=('annotations remove "A Christmas Carol" carol',))
@click.argument("document")
@click.argument("layer")
@click.option("--later", is_flag=True, help="do not build the graph of annotations now")
@settings_flags(*GRAPH, *WRITING)
def remove(document: str, layer: str, later: bool, settings: Settings) -> None:
    """Remove a LAYER of DOCUMENT with all its annotations."""
    with open_for_reading(settings) as fabula:
        entry = fabula.document(document)
        record = fabula.remove_annotations(entry.id, layer)
        echo(f"{record.name}: {count_noun(record.count, 'annotation')} removed")
        if not later:
            build_annotations(settings, fabula, entry.id)


def build_annotations(settings: Settings, fabula: Collection, document: str) -> None:
    """Bring the graphs that are made of a document's annotations up to date, and print that."""
    from contextlib import nullcontext

    for name in fabula.graphs_of_annotations():
        make_graphs(
            settings,
            lambda collection, listener, name=name: collection.build(  # type: ignore[misc]
                name, document, listener=listener
            ),
            opener=lambda _: nullcontext(fabula),
        )


def _print_records(rows: list[tuple[str, str, int, str]], as_json: bool) -> None:
    names = ("document", "layer", "annotations", "source")
    if as_json:
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    if not rows:
        echo("No document has annotations: `fabula annotations import` brings them.")
        return
    table = Table(show_edge=False)
    for heading in names:
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(str, row))
    print_table(table)


def _layer_json(layer: PlacedLayer) -> dict[str, object]:
    record = layer.record
    return {
        "layer": record.name,
        "annotations": len(layer.items),
        "moved": layer.moved,
        "orphaned": layer.orphaned,
        "source": record.source,
        "format": record.format,
        "by": record.by,
        "at": record.at,
    }


def _print_annotations(
    layers: list[PlacedLayer], orphaned: bool, as_json: bool, limit: int
) -> None:
    from fabula.app.annotating import annotation_row

    rows = [
        annotation_row(layer.record.name, item)
        for layer in layers
        for item in layer.items
        if not orphaned or item.anchor is None
    ]
    if as_json:
        print_json(rows)
        return
    table = Table(show_edge=False)
    for heading in ("layer", "id", "kind", "tag", "words", "note", "characters"):
        table.add_column(heading)
    for row in rows[:limit]:
        place = "orphaned" if row["start"] is None else f"{row['start']}-{row['end']}"
        texts = (_cut(str(row["quote"])), _cut(str(row["body"])))
        table.add_row(str(row["layer"]), str(row["id"]), row["kind"], row["label"], *texts, place)
    print_table(table)
    if len(rows) > limit:
        echo(f"These are the first {limit:,} of {len(rows):,}: --limit shows more.", err=True)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"
