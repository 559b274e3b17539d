"""`fabula cypher`: run a Cypher query over the graph."""

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
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.export.cells import format_cell, format_csv
from fabula.graph.explore import AnalystQuery, parse_query, query_names, read_query, shipped_query
from fabula.models.clean import clean_output

if TYPE_CHECKING:
    from fabula.store import Store
    from fabula.store.user_query import QueryTable

SUFFIXES = (".cypher", ".cql", ".txt")
FLAGS = tuple(name for name in GRAPH if name != "preset")
COLLECTION = "collection"
"""The parameter whose default is the collection of the settings."""


class ParameterType(click.ParamType[tuple[str, str]]):
    """The name and the value of a query's parameter."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Split the name from the value."""
        name, equals, text = str(value).partition("=")
        if not (name and equals):
            self.fail(f"give a parameter as name=value, not {value!r}", param, ctx)
        return name, text


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
@click.option(
    "-e", "--execute", default="", metavar="CYPHER", help="this statement instead of NAME"
)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    type=ParameterType(),
    help="the value of a parameter: JSON, otherwise text",
)
@click.option("--list", "list_queries", is_flag=True, help="list the queries that come with Fabula")
@click.option("--show", is_flag=True, help="show the query, to paste into Neo4j Browser")
@click.option("--json", "as_json", is_flag=True, help="print JSON: a list of objects")
@click.option("--csv", "as_csv", is_flag=True, help="print CSV, with a header line")
@click.option("--write", is_flag=True, help="let the query change the graph")
@click.option(
    "--time-limit",
    "seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    metavar="N",
    help="seconds that the query may take, or 0 for the server's limit [60]",
)
@settings_flags(*FLAGS)
def command(
    name: str,
    execute: str,
    parameters: Sequence[tuple[str, str]],
    list_queries: bool,
    show: bool,
    as_json: bool,
    as_csv: bool,
    write: bool,
    seconds: float,
    settings: Settings,
) -> None:
    """Run the query NAME, a file of Cypher, or the statement of -e.

    --list lists the queries that come with Fabula; --show prints one with its parameters. A query
    may only read the graph, which is checked by its plan: --write lets it change the graph, load
    files and call any procedure. Ctrl-C ends it. Queries that come with Fabula read one
    collection, that of --collection; your own statement does so with its parameter $collection.
    """
    if as_json and as_csv:
        raise click.UsageError("Give --json or --csv, not both.")
    if list_queries:
        _print_list(as_json)
        return
    if bool(name) == bool(execute):
        raise click.UsageError("Name a query or a file, or give a statement with -e; see --list.")
    query = parse_query(execute) if execute else _find_query(name)
    if show:
        echo(query.statement.rstrip())
        return
    assigned = dict(parameters)
    names_used = {parameter.name for parameter in query.parameters}
    uses_settings = COLLECTION in names_used and COLLECTION not in assigned
    if uses_settings:
        assigned[COLLECTION] = json.dumps(settings.collection)
    values = query.values(assigned)
    from fabula.store.user_query import run_user_query

    with (open_for_reading if uses_settings else open_collection)(settings) as fabula:
        if uses_settings:
            values[COLLECTION] = fabula.name
        read, values = fabula.resolve_place(values) if uses_settings else (fabula, values)
        table = run_user_query(
            read.store, query.statement, values, write=write, timeout_seconds=seconds or None
        )
        table = read.hide_unread_rows(table)
        if not table.rows and uses_settings and query.no_rows:
            _refuse_missing(fabula.store, query, {**values, **dict(parameters)})
    _print(table, as_json, as_csv)
    if not table.rows and query.no_rows:
        echo(query.no_rows, err=True)
    if table.changes:
        echo(f"Changed: {_describe_changes(table)}", err=True)


def _refuse_missing(store: Store, query: AnalystQuery, values: Mapping[str, Any]) -> None:
    """Raise NotFound if a query found nothing because its document or collection has nothing."""
    from fabula.app.catalogue import empty_collection_error, find_document

    collection = values[COLLECTION]
    if not store.count(collection)[0]:
        raise empty_collection_error(collection)
    for parameter in query.parameters:
        name = str(values[parameter.name])
        if parameter.names_document and name and not store.find_named(collection, name, 1):
            find_document(store, collection, name)


def _find_query(name: str) -> AnalystQuery:
    """Return a query that comes with Fabula, or one in the user's own file."""
    path = Path(name)
    is_file = path.suffix in SUFFIXES or len(path.parts) > 1
    return read_query(path) if is_file else shipped_query(name)


def _print_list(as_json: bool) -> None:
    queries = [shipped_query(name) for name in query_names()]
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


def _print(table: QueryTable, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json([dict(zip(table.columns, row, strict=True)) for row in table.rows])
    elif as_csv:
        csv = format_csv(table.columns, table.rows)
        # CSV has no escapes: a file or a program gets the data as it is, a terminal does not.
        click.echo(clean_output(csv) if sys.stdout.isatty() else csv, nl=False)
    else:
        _print_table(table)


def _print_table(table: QueryTable) -> None:
    if not table.columns:
        return
    grid = Grid(show_edge=False)
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        is_numeric = bool(cells) and all(isinstance(cell, int | float | None) for cell in cells)
        grid.add_column(Text(column), justify="right" if is_numeric else "left")
    for row in table.rows:
        grid.add_row(*(Text(format_cell(value)) for value in row))
    print_table(grid)
    echo(f"{len(table.rows):,} rows" if len(table.rows) != 1 else "1 row")


def _describe_changes(table: QueryTable) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in table.changes.items())
