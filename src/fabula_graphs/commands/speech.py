"""List who says what to whom: `fabula speech`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from fabula.text.folding import find_alike
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.graph.hits import Filters


@click.command(
    "speech",
    cls=Command,
    examples=(
        'speech "A Christmas Carol" --speaker Scrooge',
        'speech "A Christmas Carol" --speaker Scrooge --to Marley',
        'speech "A Christmas Carol" --speaker Scrooge --about "money business"',
        "speech --about Christmas --limit 50",
    ),
)
@click.argument("document", default="")
@click.option("--speaker", default="", help="only what this person says, by any of their names")
@click.option("--to", "addressee", default="", help="only what is said to this person")
@click.option("--about", default="", help="only quotations with one of these words")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="maximum number of rows"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@until_flag
@settings_flags(*GRAPH)
def command(
    document: str,
    until: str,
    speaker: str,
    addressee: str,
    about: str,
    limit: int,
    as_json: bool,
    settings: Settings,
) -> None:
    """List what is said in DOCUMENT (its id, title or file), or in all documents, and who says it.

    The last column has the words of the text that say who speaks, or how else that is known.
    `fabula build speech` builds the graph that this reads.
    """
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        known = read.filters(document)
        rows = _find_said(
            read, known, speaker, addressee, about, ALL_ROWS if as_json else limit + 1
        )
        collection = fabula.name
    if not rows:
        narrowed = " that is said by, to or about these" if speaker or addressee or about else ""
        raise NotFound(
            f"There is nothing{narrowed} in {document or f'collection {collection!r}'}: "
            "`fabula build speech` builds the graph of what is said."
        )
    if as_json:
        print_json(rows)
        return
    print_table(_table(rows[:limit], with_titles=len({row["document"] for row in rows}) > 1))
    if len(rows) > limit:
        echo(f"These are the first {count_noun(limit, 'quotation')}: --limit shows more.", err=True)


def _find_said(
    fabula: Collection, known: Filters, speaker: str, addressee: str, about: str, limit: int
) -> list[dict[str, Any]]:
    words = about.lower().split()

    def find(by: str, to: str, rows: int) -> list[dict[str, Any]]:
        return fabula.store.read(
            read_statement("fabula_graphs/speech/find_said"),
            known,
            document=known.document,
            speaker=" ".join(by.lower().split()),
            addressee=" ".join(to.lower().split()),
            about=words,
            limit=rows,
        )

    rows = find(speaker, addressee, limit)
    if rows or not (speaker or addressee):
        return rows
    # Nobody is printed so: perhaps with accents, or another ligature.
    everything = find("", "", ALL_ROWS)
    forms = [row[end] for row in everything for end in ("speaker", "addressee") if row[end]]
    by, to = (find_alike(name, forms) if name else "" for name in (speaker, addressee))
    if (speaker and not by) or (addressee and not to):
        return []
    return find(by or "", to or "", limit)


def _table(rows: Sequence[Mapping[str, Any]], *, with_titles: bool) -> Table:
    table = Table(show_edge=False)
    for heading in ("speaker", "to", "text", *(["document"] if with_titles else []), "section"):
        table.add_column(heading)
    table.add_column("who speaks is said by")
    for row in rows:
        text = " ".join(row["text"].split())
        speaker = row["speaker"] or "?"
        if row["quoted_by"]:
            speaker += f" (quoted by {row['quoted_by']})"
        cells = [speaker, row["addressee"] or "", text]
        cells += [row["title"]] if with_titles else []
        evidence = row["evidence"] if row["rule"] in ("tag", "beat", "label", "read") else ""
        table.add_row(*cells, row["section"], evidence or _RULES.get(row["rule"], ""))
    return table


_RULES = {
    "turns": "(the turns of the dialogue)",
    "vocative": "(who is called by name beside it)",
    "read": "(a model)",
}
"""How a speaker is known whom no words beside the quotation name."""
