"""`fabula check`: whether the graph is sound."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import counted, echo, print_json
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.store.checks import Findings, Violation


@click.command(
    "check",
    cls=Command,
    examples=(
        "check",
        'check "A Christmas Carol" --json',
    ),
)
@click.argument("document", default="")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--all", "everywhere", is_flag=True, help="all collections")
@settings_flags(*GRAPH)
def command(document: str, as_json: bool, everywhere: bool, settings: Settings) -> None:
    """Check that the collection, or DOCUMENT (its id, title or file), is sound; changes nothing.

    Chunks in order and linked, summaries over what is below them, every aspect there, embeddings
    of one dimension, indexes online. A line for each thing that is wrong, with the cure; the exit
    code is then 1. What other runs have left over, which no reader sees, is a note.
    """
    if document and everywhere:
        raise click.UsageError("Name a document or give --all, not both.")
    with (opened if everywhere else meant)(settings) as fabula:
        app = fabula.app
        names = [space.collection for space in app.store.spaces()] if everywhere else [fabula.name]
        found = {name: app.collection(name).check(document) for name in names}
    if as_json:
        told = {name: asdict(findings) for name, findings in found.items()}
        print_json(told if everywhere else told[fabula.name])
    else:
        for name, findings in found.items():
            if everywhere:
                echo(f"Collection {name}:")
            _tell(findings)
        if not found:
            echo("Every collection is empty: run `fabula ingest BOOK`.")
    if any(findings.violations for findings in found.values()):
        raise click.exceptions.Exit(1)


def _tell(findings: Findings) -> None:
    for violation in findings.violations:
        echo(_line(violation))
    looked_at = [counted(findings.documents, "document"), counted(findings.passages, "passage")]
    looked_at += [
        f"{name} of {counted(count, 'document')}" for name, count in findings.graphs.items()
    ]
    well = "Looked at" if findings.violations else "All well"
    echo(f"{well}: {', '.join(looked_at)}")
    for note in findings.notes:
        echo(f"Note: {note}")


def _line(violation: Violation) -> str:
    where = violation.title or violation.document or "graph"
    nodes = "" if violation.count == 1 else f"{violation.count:,}, as "
    return f"BAD  {where}: {violation.what} ({nodes}{violation.id}): {violation.cure}"
