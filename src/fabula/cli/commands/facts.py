"""`fabula facts`: who is whose kin, lives where, owns what, with the sentence that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import counted, echo, print_json, print_table
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.export.rdf import write_facts

MANY = 1_000_000


@click.command(
    "facts",
    cls=Command,
    examples=(
        'facts "A Christmas Carol"',
        'facts "A Christmas Carol" --name "Bob Cratchit"',
        "facts --relation parent_of --limit 50",
        'facts "A Christmas Carol" --out carol.ttl',
    ),
)
@click.argument("document", default="")
@click.option("--name", default="", help="those of one, by any name of it")
@click.option("--relation", default="", help="those of one relation, as lives_in")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="rows at most")
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="write all to a file, .nt, .ttl or .csv",
)
@settings_flags(*GRAPH)
def command(
    document: str,
    name: str,
    relation: str,
    limit: int,
    as_json: bool,
    out: Path | None,
    settings: Settings,
) -> None:
    """List the facts of a DOCUMENT (its id, title or file), or of all, with what proves each.

    `fabula build facts` makes the graph that this reads.
    """
    with meant(settings) as fabula:
        within = fabula.document(document).id if document else ""
        found = fabula.store.rows(
            "facts/find_facts",
            collection=fabula.name,
            document=within,
            name=" ".join(name.lower().split()),
            relation=relation,
            limit=MANY if as_json or out else limit,
        )
        collection = fabula.name
    if not found:
        narrowed = " of that name or relation" if name or relation else ""
        raise NotFound(
            f"There are no facts{narrowed} in {document or f'collection {collection!r}'}: "
            "`fabula build facts` makes the graph of them; without a model it finds few."
        )
    if out:
        echo(f"{out}: {counted(write_facts(found, collection, out), 'fact')}")
    elif as_json:
        print_json(found)
    else:
        print_table(_listed(found, titled=len({row["document"] for row in found}) > 1))


def _listed(found: Sequence[Mapping[str, Any]], *, titled: bool) -> Table:
    table = Table(show_edge=False)
    for heading in ["fact", *(["document"] if titled else []), "section"]:
        table.add_column(heading)
    table.add_column("chunks", justify="right")
    table.add_column("what proves it")
    for row in found:
        cells = [row["text"], *([row["title"]] if titled else []), row["section"]]
        table.add_row(*cells, f"{row['chunks']:,}", row["proof"] or "(no sentence names both)")
    return table
