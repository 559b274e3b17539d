"""`fabula check`: whether the graph is sound."""

from __future__ import annotations

from dataclasses import asdict

import click

from fabula.cli.options import GRAPH, settings_flags
from fabula.cli.screen import print_json
from fabula.cli.starting import opened
from fabula.settings import Settings
from fabula.store.checks import Violation


@click.command("check")
@click.argument("document", default="")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(document: str, as_json: bool, settings: Settings) -> None:
    """Check that the graph, or DOCUMENT (its id, title or file), is sound; changes nothing.

    Chunks in order and linked, summaries over what is below them, every aspect there, embeddings
    of one dimension, indexes online. A line for each thing that is wrong, with the cure; the exit
    code is then 1. What other runs have left over, which no reader sees, is a note.
    """
    with opened(settings) as fabula:
        findings = fabula.check(document)
    if as_json:
        print_json(asdict(findings))
    else:
        for violation in findings.violations:
            click.echo(_line(violation))
        if not findings.violations:
            counted = f"{findings.documents:,} documents, {findings.passages:,} passages"
            click.echo(f"All well: {counted}")
        for note in findings.notes:
            click.echo(f"Note: {note}")
    if findings.violations:
        raise click.exceptions.Exit(1)


def _line(violation: Violation) -> str:
    where = violation.title or violation.document or "graph"
    nodes = "" if violation.count == 1 else f"{violation.count:,}, as "
    return f"BAD  {where}: {violation.what} ({nodes}{violation.id}): {violation.cure}"
