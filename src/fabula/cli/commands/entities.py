"""List, show or correct who and what a book is about: `fabula entities`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.commands.correcting import SUBCOMMANDS, describe_corrections
from fabula.cli.shared.help import CommandWithActions
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags, until_flag
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.export.networks import write_network
from fabula.graph.decisions import Decision
from fabula.graph.hits import ALL_ROWS, Filters
from fabula.graph.installed import graphs
from fabula.graph.method import OtherEntities
from fabula.graph.queries import read_statement
from fabula.graphs.entities.known_until import find_called, list_entities
from fabula.text.folding import find_alike
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection

Row = Mapping[str, Any]

MAX_NAMES = 4
"""How many other names of an entity, or keywords of a relation, a table shows."""
MAX_LINES = 5
"""How many lines of an entity's description are shown."""


@click.command(
    "entities",
    cls=CommandWithActions,
    actions=SUBCOMMANDS,
    examples=(
        'entities "A Christmas Carol"',
        "entities Scrooge",
        "entities --type place --limit 10",
        'entities "A Christmas Carol" --type person --out carol.gexf',
        "entities decisions",
    ),
)
@click.argument("name", default="")
@click.option("--document", default="", help="only in this document: its id, title or file")
@click.option("--type", "kind", default="", help="only those of this type, for example person")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="rows of each table"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="write the network to a file, .gexf or .graphml",
)
@until_flag
@settings_flags(*GRAPH)
def command(
    name: str,
    document: str,
    until: str,
    kind: str,
    limit: int,
    as_json: bool,
    out: Path | None,
    settings: Settings,
) -> None:
    """List who and what a document is about, or show one entity, by any NAME of it.

    NAME may also be the title, id or file of a document, unless an entity has this name;
    `--document` names a document in any case. Without both, all documents of the collection are
    listed. `fabula build entities` builds the graph that this reads.

    An action (rename, merge, split, undo, decisions) in place of NAME corrects the entities of the
    collection, or lists the corrections; `fabula entities rename --help` describes one. An entity
    of such a name is shown by `fabula entities -- rename`.
    """
    rows = ALL_ROWS if as_json or out else limit
    with open_for_reading(settings) as fabula:
        read = fabula.as_read(document, until)
        known = read.filters(document)
        entities = _find_by_name(read, known, name, rows) if name and not out else []
        if entities and read.place:
            # Other books and corrections are of whole books: they may tell what comes later.
            _print_entities(entities, {}, (), as_json)
            return
        if entities:
            _print_entities(entities, _find_others(fabula, entities), fabula.decisions(), as_json)
            return
        if name and document:
            raise NotFound(f"No entity in {document!r} is called {name!r}.")
        if name:
            within = fabula.document(name).id if out else _document_id(fabula, name)
            read = fabula.as_read(within, until)
            known = read.filters(within)
        entities = list_entities(read.store, known, type=kind, limit=rows)
        scope = {"document": known.document, "type": kind}
        ties = read_statement("entities/find_ties")
        relations = read.store.read(ties, known, **scope) if out else []
        of_all_types = entities or list_entities(read.store, known, limit=ALL_ROWS)
    if not entities and kind and of_all_types:
        types = ", ".join(sorted({row["type"] for row in of_all_types}))
        raise NotFound(f"There are no entities of type {kind!r}; there are: {types}.")
    if not entities:
        raise NotFound(
            f"There are no entities in collection {fabula.name!r}: `fabula build entities` "
            "builds the graph of them for its documents."
        )
    if out:
        written = write_network(entities, relations, out)
        echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} relations")
        return
    if as_json:
        print_json(entities)
        return
    print_table(_list_table(entities, with_titles=len({row["document"] for row in entities}) > 1))


def _document_id(fabula: Collection, name: str) -> str:
    """Return the id of a document. NotFound explains that no entity has the name either."""
    try:
        return fabula.document(name).id
    except NotFound as error:
        raise NotFound(
            f"No entity in collection {fabula.name!r} is called {name!r} (`fabula entities` lists "
            f"them). {error}"
        ) from error


def _find_by_name(
    fabula: Collection, known: Filters, name: str, limit: int
) -> list[dict[str, Any]]:
    if rows := find_called(fabula.store, known, name, limit):
        return rows
    # Nobody is printed so: perhaps with accents, or another ligature.
    entities = list_entities(fabula.store, known, limit=ALL_ROWS)
    form = find_alike(name, (form for row in entities for form in row["names"]))
    return find_called(fabula.store, known, form, limit) if form else []


def _list_table(entities: Sequence[Row], *, with_titles: bool) -> Table:
    table = Table(show_edge=False)
    for heading in ["name", "type", *(["document"] if with_titles else [])]:
        table.add_column(heading)
    for heading in ("mentions", "chunks", "relations"):
        table.add_column(heading, justify="right")
    table.add_column("also")
    for row in entities:
        cells = [row["name"], row["type"], *([row["title"]] if with_titles else [])]
        cells += [f"{row[column]:,}" for column in ("mentions", "chunks", "relations")]
        names = [name for name in row["names"] if name != row["name"]]
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        table.add_row(*cells, ", ".join(names[:MAX_NAMES]) + more)
    return table


def _print_entities(
    entities: Sequence[Row],
    others: Mapping[str, OtherEntities],
    decisions: Sequence[Decision],
    as_json: bool,
) -> None:
    if as_json:
        known = [others.get(entity["id"], OtherEntities()) for entity in entities]
        print_json(
            [
                {**entity, "others": its.others, "namesakes": its.namesakes}
                for entity, its in zip(entities, known, strict=True)
            ]
        )
        return
    for number, entity in enumerate(entities):
        if number:
            echo("")
        corrections = describe_corrections(decisions, entity["document"], entity["names"])
        elsewhere = others.get(entity["id"], OtherEntities())
        for line in (*_describe(entity), *corrections, *elsewhere.lines):
            echo(line)
        if entity["relations"]:
            echo("")
            print_table(_relation_table(entity))
        echo("")
        print_table(_place_table(entity))


def _describe(entity: Row) -> Iterator[str]:
    """Yield lines on who or what it is, and on its names and why they were taken for one."""
    yield f"{entity['name']} · {entity['type']} · {entity['title']}"
    lines = [line for line in entity["text"].splitlines() if line.strip()]
    yield from (f"  {line}" for line in lines[:MAX_LINES])
    if len(lines) > MAX_LINES:
        yield f"  and {count_noun(len(lines) - MAX_LINES, 'line')} more; --json has all"
    mentions = count_noun(entity["mentions"], "mention")
    relations = count_noun(entity["degree"], "relation")
    maker = "rules, offline" if entity["by"] == "rules" else "a model"
    yield (
        f"  {mentions} in {count_noun(entity['chunks'], 'chunk')}, {relations}; found by {maker}; "
        f"id {entity['id']}"
    )
    forms = zip(entity["names"], entity["counts"], entity["merged_by"], strict=True)
    names = [
        f"{name} {count:,}" + (f" ({why})" if name != entity["name"] and why else "")
        for name, count, why in forms
    ]
    yield f"  names: {', '.join(names)}"


def _find_others(fabula: Collection, entities: Sequence[Row]) -> Mapping[str, OtherEntities]:
    """Return what graphs know about entities in other documents, by the ids of the entities."""
    found: dict[str, OtherEntities] = {}
    stale = {part.graph: part.stale for part in fabula.collection_graphs()}
    for graph in graphs().values():
        if graph.find_others:
            options = fabula.settings.table(graph.name)
            given = fabula.store.rows, fabula.name, options, stale.get(graph.name, ()), entities
            found |= graph.find_others(*given)
    return found


def _relation_table(entity: Row) -> Table:
    table = Table(title="with whom", title_justify="left", show_edge=False)
    for heading in ("name", "type"):
        table.add_column(heading)
    table.add_column("chunks", justify="right")
    for heading in ("keywords", "what is said"):
        table.add_column(heading)
    for row in entity["relations"]:
        text = row["text"].partition("\n")[0]
        keywords = ", ".join(row["keywords"][:MAX_NAMES])
        table.add_row(row["name"], row["type"], f"{row['chunks']:,}", keywords, text)
    return table


def _place_table(entity: Row) -> Table:
    table = Table(title="where", title_justify="left", show_edge=False)
    table.add_column("section")
    for heading in ("mentions", "chunks", "from character", "to"):
        table.add_column(heading, justify="right")
    for row in entity["places"]:
        numbers = [f"{row[column]:,}" for column in ("mentions", "chunks", "start", "end")]
        table.add_row(row["section"] or "(no heading)", *numbers)
    return table
