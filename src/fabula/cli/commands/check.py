"""`fabula check`: check the graph for errors."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.store.integrity import CheckFindings, Violation


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
    """Check the collection, or DOCUMENT (its id, title or file), for errors. Nothing is changed.

    Chunks must be in order and linked, summaries must cover what is below them, no aspect may be
    missing, embeddings must have one dimension, and indexes must be online. Each error is a line
    with the cure; the exit code is then 1. Remains of interrupted runs, which no reader sees, are
    notes.
    """
    if document and everywhere:
        raise click.UsageError("Name a document or give --all, not both.")
    with open_app(settings) as app:
        names = (
            [space.collection for space in app.spaces()]
            if everywhere
            else [choose_collection(app).name]
        )
        by_collection = {name: app.collection(name).check(document) for name in names}
    if as_json:
        result = {name: asdict(findings) for name, findings in by_collection.items()}
        print_json(result if everywhere else result[names[0]])
    else:
        for name, findings in by_collection.items():
            if everywhere:
                echo(f"Collection {name}:")
            _print_findings(findings)
        if not by_collection:
            echo("Every collection is empty: run `fabula ingest BOOK`.")
    if any(findings.violations for findings in by_collection.values()):
        raise click.exceptions.Exit(1)


def _print_findings(findings: CheckFindings) -> None:
    for violation in findings.violations:
        echo(_describe(violation))
    checked = [
        count_noun(findings.documents, "document"),
        count_noun(findings.passages, "passage"),
    ]
    checked += [
        f"{name} of {count_noun(count, 'document')}" for name, count in findings.graphs.items()
    ]
    result = "Checked" if findings.violations else "No errors"
    echo(f"{result}: {', '.join(checked)}")
    for note in findings.notes:
        echo(f"Note: {note}")


def _describe(violation: Violation) -> str:
    where = violation.title or violation.document or "graph"
    nodes = "" if violation.count == 1 else f"{violation.count:,}, as "
    return f"BAD  {where}: {violation.what} ({nodes}{violation.id}): {violation.cure}"
