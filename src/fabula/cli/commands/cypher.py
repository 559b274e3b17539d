"""`fabula cypher`: questions put to the graph itself, in Cypher."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table as Grid
from rich.text import Text

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json, print_table
from fabula.config.settings import Settings
from fabula.export.cells import cell, table_csv
from fabula.graph.explore import Query, names, parse, read, shipped
from fabula.models.clean import clean_output

if TYPE_CHECKING:
    from fabula.store import Store
    from fabula.store.reading import Table

SUFFIXES = (".cypher", ".cql", ".txt")
SERVER = tuple(name for name in GRAPH if name != "preset")
DOCUMENT = "a document's id"
"""Begins what a parameter is that names a document."""
COLLECTION = "collection"
"""The parameter that is the settings' collection, unless it is given."""


class Given(click.ParamType[tuple[str, str]]):
    """A parameter's name and its value."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The name and the value as typed."""
        name, equals, typed = str(value).partition("=")
        if not (name and equals):
            self.fail(f"give a parameter as name=value, not {value!r}", param, ctx)
        return name, typed


@click.command(
    "cypher",
    cls=Command,
    examples=(
        "cypher --list",
        "cypher characters --param first=Scrooge --param second=Bob",
        "cypher outline --show",
        'cypher -e "MATCH (c:Chunk) RETURN c.section, count(*)"',
    ),
)
@click.argument("name", default="")
@click.option("-e", "--execute", default="", metavar="CYPHER", help="this statement, and no NAME")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    type=Given(),
    help="a parameter's value: JSON, or else text",
)
@click.option("--list", "listed", is_flag=True, help="list the queries that come with Fabula")
@click.option("--show", is_flag=True, help="show the query, to paste into Neo4j Browser")
@click.option("--json", "as_json", is_flag=True, help="print JSON: a list of objects")
@click.option("--csv", "as_csv", is_flag=True, help="print CSV, with a header line")
@click.option("--write", is_flag=True, help="let the query do more than read the graph")
@click.option(
    "--time-limit",
    "seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    metavar="N",
    help="seconds that the query may take, or 0 for as long as the server lets it [60]",
)
@settings_flags(*SERVER)
def command(
    name: str,
    execute: str,
    parameters: Sequence[tuple[str, str]],
    listed: bool,
    show: bool,
    as_json: bool,
    as_csv: bool,
    write: bool,
    seconds: float,
    settings: Settings,
) -> None:
    """Put the query NAME to the graph, or a file of Cypher, or a statement with -e.

    --list names the queries that come with Fabula, and --show tells one's parameters. A query
    only reads the graph, by its plan: --write lets it change the graph, load files, and call any
    procedure. Ctrl-C ends it. Those that come with Fabula stay in one
    collection, that of --collection; a statement of your own does so by its $collection.
    """
    if as_json and as_csv:
        raise click.UsageError("Give --json or --csv, not both.")
    if listed:
        _print_list(as_json)
        return
    if bool(name) == bool(execute):
        raise click.UsageError("Name a query or a file, or give a statement with -e; see --list.")
    query = parse(execute) if execute else _named(name)
    if show:
        echo(query.statement.rstrip())
        return
    given = dict(parameters)
    is_meant = COLLECTION not in given and COLLECTION in {
        parameter.name for parameter in query.parameters
    }
    if is_meant:
        given[COLLECTION] = json.dumps(settings.collection)
    values = query.values(given)
    from fabula.store.reading import run

    with (meant if is_meant else opened)(settings) as fabula:
        if is_meant:
            values[COLLECTION] = fabula.name
        table = run(fabula.store, query.statement, values, write=write, seconds=seconds or None)
        if not table.rows and is_meant and query.no_rows:
            _refuse_missing(fabula.store, query, values)
    _print(table, as_json, as_csv)
    if not table.rows and query.no_rows:
        echo(query.no_rows, err=True)
    if table.changes:
        echo(f"Changed: {_counted(table)}", err=True)


def _refuse_missing(store: Store, query: Query, values: Mapping[str, Any]) -> None:
    """Raises NotFound where a query found nothing in a collection without that document."""
    from fabula.app.catalogue import choose, nothing_there

    collection = values[COLLECTION]
    if not store.count(collection)[0]:
        raise nothing_there(collection)
    for parameter in query.parameters:
        name = str(values[parameter.name])
        if parameter.about.startswith(DOCUMENT) and name and not store.named(collection, name, 1):
            choose(store, collection, name)


def _named(name: str) -> Query:
    """A query that comes with Fabula, or the user's own file."""
    path = Path(name)
    is_file = path.suffix in SUFFIXES or len(path.parts) > 1
    return read(path) if is_file else shipped(name)


def _print_list(as_json: bool) -> None:
    queries = [shipped(name) for name in names()]
    if as_json:
        print_json(
            [
                {
                    "name": query.name,
                    "purpose": query.purpose,
                    "parameters": [
                        {
                            "name": parameter.name,
                            "default": parameter.default,
                            "about": parameter.about,
                        }
                        for parameter in query.parameters
                    ],
                }
                for query in queries
            ]
        )
        return
    grid = Grid(show_edge=False)
    for heading in ("name", "purpose", "parameters"):
        grid.add_column(heading)
    for query in queries:
        grid.add_row(
            query.name, query.purpose, ", ".join(parameter.name for parameter in query.parameters)
        )
    print_table(grid)


def _print(table: Table, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json([dict(zip(table.columns, row, strict=True)) for row in table.rows])
    elif as_csv:
        written = table_csv(table.columns, table.rows)
        # CSV has no escapes: a file or a program is given the data as it is, a terminal is not.
        click.echo(clean_output(written) if sys.stdout.isatty() else written, nl=False)
    else:
        _print_table(table)


def _print_table(table: Table) -> None:
    if not table.columns:
        return
    grid = Grid(show_edge=False)
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        numbers = bool(cells) and all(isinstance(cell, int | float | None) for cell in cells)
        grid.add_column(Text(column), justify="right" if numbers else "left")
    for row in table.rows:
        grid.add_row(*(Text(cell(value)) for value in row))
    print_table(grid)
    echo(f"{len(table.rows):,} rows" if len(table.rows) != 1 else "1 row")


def _counted(table: Table) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in table.changes.items())
