"""`fabula export`: the graph as a file for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.config.settings import Settings
from fabula.export.files import FORMATS


@click.command(
    "export",
    cls=Command,
    examples=(
        'export "A Christmas Carol" --out carol.jsonl',
        "export --all --out everything.graphml",
    ),
)
@click.argument("document", default="")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="file to write"
)
@click.option("--format", type=click.Choice(FORMATS), help="by default what FILE's name ends in")
@click.option("--embeddings", is_flag=True, help="with the embeddings, as lists; only in JSONL")
@click.option("--all", "everywhere", is_flag=True, help="of all collections")
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

    JSONL has an object a line: every node, then every relationship, shaped as Neo4j's
    apoc.export.json shapes them. GraphML is for Gephi, yEd and NetworkX; it has no embeddings,
    and control characters, which XML can't hold, are left out. A FILE that is there is replaced.
    """
    if document and everywhere:
        raise click.UsageError("Name a document or give --all, not both.")
    with (opened if everywhere else meant)(settings) as fabula:
        if everywhere:
            written = fabula.app.export(out, format=format or "", embeddings=embeddings)
        else:
            written = fabula.export(out, document, format=format or "", embeddings=embeddings)
    click.echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} relationships")
