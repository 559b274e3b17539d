"""`fabula export`: write the graph to a file for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.config.settings import Settings
from fabula.export.export_formats import export_formats, find_export_format
from fabula.export.files import FORMATS
from fabula.text.nouns import count_noun

OTHERS = export_formats()


@click.command(
    "export",
    cls=Command,
    examples=(
        'export "A Christmas Carol" --out carol.jsonl',
        "export --all --out everything.graphml",
        'export "A Christmas Carol" --out carol.ttl',
        "export --whole --collection novels --out novels.jsonl",
        'export "A Christmas Carol" --format obsidian --out vault',
    ),
)
@click.argument("document", default="")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="file, or vault, to write"
)
@click.option(
    "--format",
    type=click.Choice((*FORMATS, *OTHERS)),
    help="format; by default the suffix of the file. "
    + "; ".join(f"{name}: {format.about}" for name, format in OTHERS.items()),
)
@click.option("--embeddings", is_flag=True, help="include the embeddings, as lists; only in JSONL")
@click.option("--all", "everywhere", is_flag=True, help="all collections")
@click.option(
    "--whole", is_flag=True, help="all that the collection holds, for `fabula import`; only JSONL"
)
@until_flag
@settings_flags(*GRAPH)
def command(
    document: str,
    until: str,
    out: Path,
    format: str | None,
    embeddings: bool,
    everywhere: bool,
    whole: bool,
    settings: Settings,
) -> None:
    """Write the graph of the collection, or of DOCUMENT (its id, title or file), to a file.

    JSONL has one object per line: all nodes, then all relationships, in the format of Neo4j's
    apoc.export.json. GraphML is for Gephi, yEd and NetworkX; it has no embeddings, and no control
    characters, which XML can't contain. RDF (.ttl, .nt) needs fabula[rdf]. An existing file is
    replaced. --whole writes what `fabula import` takes in: all of one collection, with its
    embeddings, corrections and annotations, as it is.
    """
    if whole and (document or everywhere or until or embeddings or format not in (None, "jsonl")):
        raise click.UsageError("--whole is all of one collection, as JSONL: leave the rest out.")
    if document and everywhere:
        raise click.UsageError("Name a document or give --all, not both.")
    if until and everywhere:
        raise click.UsageError("--until is a place in one document: leave --all out.")
    with open_app(settings) as app:
        if everywhere:
            written = app.export(out, format=format or "", embeddings=embeddings)
        elif whole:
            written = choose_collection(app).export_whole(out)
        else:
            read = choose_collection(app).as_read(document, until)
            written = read.export(out, document, format=format or "", embeddings=embeddings)
    other = None if everywhere else find_export_format(out, format or "")
    nodes = count_noun(written.nodes, other.noun if other else "node")
    links = f", {count_noun(written.relationships, 'relationship')}"
    click.echo(f"{out}: {nodes}{links if written.relationships or not other else ''}")
