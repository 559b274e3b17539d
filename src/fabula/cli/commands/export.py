"""`fabula export`: write the graph to a file for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.config.settings import Settings
from fabula.export.files import FORMATS
from fabula.export.rdf import FORMATS as TYPED_FORMATS

RDF = tuple(name for name, rdf in TYPED_FORMATS.items() if rdf)
"""The formats of facts, events and discourse relations."""


@click.command(
    "export",
    cls=Command,
    examples=(
        'export "A Christmas Carol" --out carol.jsonl',
        "export --all --out everything.graphml",
        'export "A Christmas Carol" --out carol.ttl',
    ),
)
@click.argument("document", default="")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="file to write"
)
@click.option(
    "--format",
    type=click.Choice((*FORMATS, *RDF)),
    help="format; by default the suffix of the file",
)
@click.option("--embeddings", is_flag=True, help="include the embeddings, as lists; only in JSONL")
@click.option("--all", "everywhere", is_flag=True, help="all collections")
@settings_flags(*GRAPH)
def command(
    document: str,
    out: Path,
    format: str | None,
    embeddings: bool,
    everywhere: bool,
    settings: Settings,
) -> None:
    """Write the graph of the collection, or of DOCUMENT (its id, title or file), to a file.

    JSONL has one object per line: all nodes, then all relationships, in the format of Neo4j's
    apoc.export.json. GraphML is for Gephi, yEd and NetworkX; it has no embeddings, and no control
    characters, which XML can't contain. Turtle and N-Triples (.ttl, .nt) are RDF, with facts,
    events and discourse relations alone; they need fabula[rdf]. An existing file is replaced.
    """
    if document and everywhere:
        raise click.UsageError("Name a document or give --all, not both.")
    with (open_collection if everywhere else open_for_reading)(settings) as fabula:
        if everywhere:
            written = fabula.app.export(out, format=format or "", embeddings=embeddings)
        else:
            written = fabula.export(out, document, format=format or "", embeddings=embeddings)
    click.echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} relationships")
