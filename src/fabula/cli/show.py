"""`fabula show`: a document's trees, and what they cost."""

from __future__ import annotations

from dataclasses import asdict

import click

from fabula.cli.options import GRAPH, settings_flags
from fabula.cli.screen import console, outline, print_json, spent
from fabula.cli.starting import opened
from fabula.model import Entry, Usage
from fabula.settings import Settings


@click.command("show")
@click.argument("document")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(document: str, as_json: bool, settings: Settings) -> None:
    """Show DOCUMENT (its id, title or file): passages by aspect and level, and its cost."""
    with opened(settings) as fabula:
        entry = fabula.document(document)
        layers = fabula.layers(entry.id)
    if as_json:
        print_json(asdict(entry) | {"layers": [asdict(layer) for layer in layers]})
        return
    console().print(outline(entry, layers))
    click.echo(facts(entry))


def facts(entry: Entry) -> str:
    """Where a document is from, how it was built, and what each step cost."""
    writer = entry.settings.get("model", "extraction, offline")
    lines = [
        "",
        f"id {entry.id}, collection {entry.collection}, language {entry.language or 'unknown'}",
        f"author {entry.author or 'unknown'}, from {entry.source}",
        f"{entry.tokens:,} tokens of text; updated {entry.updated_at[:16].replace('T', ' ')}",
        f"written by {writer}, embedded by {entry.settings['embedding_model']}",
        f"cost: {spent(sum(entry.usage.values(), Usage()))}",
    ]
    lines += [f"  {step}: {spent(usage)}" for step, usage in entry.usage.items()]
    if entry.assigned:
        lines.append(f"found in no cluster, so given to the nearest: {', '.join(entry.assigned)}")
    return "\n".join(lines)
