"""List facts, as who is related to whom, with their proof: `fabula facts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.graph.hits import ALL_ROWS
from fabula.graph.queries import read_statement
from fabula.graphs.entities.known_until import list_entities
from fabula.text.folding import find_alike
from fabula.text.nouns import count_noun
from fabula_graphs.rdf import write_facts

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.graph.hits import Filters


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
@click.option("--name", default="", help="only those of this person, place or thing")
@click.option("--relation", default="", help="only those of this relation, for example lives_in")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="maximum number of rows"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="write all facts to a file, .nt, .ttl or .csv",
)
@until_flag
@settings_flags(*GRAPH)
def command(
    document: str,
    until: str,
    name: str,
    relation: str,
    limit: int,
    as_json: bool,
    out: Path | None,
    settings: Settings,
) -> None:
    """List the facts of DOCUMENT (its id, title or file), or of all documents, with their proof.

    Facts say who is related to whom, who lives where, who owns what, and so on. `fabula build
    facts` builds the graph that this reads.
    """
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        known = read.filters(document)
        facts = _find_facts(read, known, name, relation, ALL_ROWS if as_json or out else limit)
        collection = fabula.name
        built = fabula.store.count_parts(collection, known.document, ["facts"])
    if not facts:
        narrowed = " of this name or relation" if name or relation else ""
        where = document or f"collection {collection!r}"
        raise NotFound(
            f"There are no facts{narrowed} in {where}: "
            + (
                "the graph of them was built, and has none."
                if built
                else "`fabula build facts` builds the graph of them, with a chat model."
            )
        )
    if out:
        echo(f"{out}: {count_noun(write_facts(facts, collection, out), 'fact')}")
    elif as_json:
        print_json(facts)
    else:
        print_table(_fact_table(facts, with_titles=len({row["document"] for row in facts}) > 1))


def _find_facts(
    fabula: Collection, known: Filters, name: str, relation: str, limit: int
) -> list[dict[str, Any]]:

    def find(called: str, rows: int) -> list[dict[str, Any]]:
        return fabula.store.read(
            read_statement("fabula_graphs/facts/find_facts"),
            known,
            document=known.document,
            name=" ".join(called.lower().split()),
            relation=relation,
            limit=rows,
        )

    facts = find(name, limit)
    if facts or not name:
        return facts
    # Nobody is printed so: perhaps with accents, or another ligature.
    cast = list_entities(fabula.store, known, limit=ALL_ROWS)
    forms = [form for row in cast for form in row["names"]]
    forms += [row[end] for row in find("", ALL_ROWS) for end in ("subject", "object")]
    form = find_alike(name, forms)
    return find(form, limit) if form else []


def _fact_table(facts: Sequence[Mapping[str, Any]], *, with_titles: bool) -> Table:
    table = Table(show_edge=False)
    for heading in ["fact", *(["document"] if with_titles else []), "section"]:
        table.add_column(heading)
    table.add_column("chunks", justify="right")
    table.add_column("proof")
    for row in facts:
        cells = [row["text"], *([row["title"]] if with_titles else []), row["section"]]
        table.add_row(*cells, f"{row['chunks']:,}", row["proof"] or "(no sentence names both)")
    return table
