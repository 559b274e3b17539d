"""`fabula cypher`: run a Cypher query over the graph."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.operations import show_table
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.config.settings import Settings
from fabula.graph.explore import COLLECTION, AnalystQuery, parse_query, read_query, shipped_query
from fabula.models.clean import clean_output
from fabula.operations.kit import find_operation, make_table
from fabula.operations.queries import EVERYTHING, QueryResult

SUFFIXES = (".cypher", ".cql", ".txt")
FLAGS = tuple(name for name in GRAPH if name != "preset")


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
@click.option("--show", is_flag=True, help="show the query, to paste into Neo4j Browser")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
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
    show: bool,
    as_json: bool,
    as_csv: bool,
    write: bool,
    seconds: float,
    settings: Settings,
) -> None:
    """Run the query NAME, a file of Cypher, or the statement of -e.

    `fabula queries` lists those that come with Fabula; --show prints one with its parameters. A
    query may only read the graph, which is checked by its plan: --write lets it change the graph,
    load files and call any procedure. Ctrl-C ends it. Queries that come with Fabula read one
    collection, that of --collection; your own statement does so with its parameter $collection.
    """
    if as_json and as_csv:
        raise click.UsageError("Give --json or --csv, not both.")
    if bool(name) == bool(execute):
        raise click.UsageError(
            "Name a query or a file, or give a statement with -e; see `fabula queries`."
        )
    query = parse_query(execute) if execute else _find_query(name)
    if show:
        echo(query.statement.rstrip())
        return
    assigned = dict(parameters)
    names_used = {parameter.name for parameter in query.parameters}
    uses_settings = COLLECTION in names_used and COLLECTION not in assigned
    values = query.read(assigned)
    from fabula.store.user_query import run_user_query

    limits: dict[str, Any] = {"write": write, "timeout_seconds": seconds or None}
    reach = EVERYTHING
    if uses_settings:
        with open_for_reading(settings) as fabula:
            table = fabula.run_query(query, values, **limits)
            reach = f"collection {fabula.name}"
    else:
        with open_collection(settings) as fabula:
            table = run_user_query(
                fabula.open_store(), query.statement, query.fill(values), **limits
            )
    _print(QueryResult.of(table, query, reach), as_json, as_csv)
    if not table.rows and query.no_rows:
        echo(query.no_rows, err=True)
    if table.changes:
        changes = [f"{name.replace('_', ' ')} {count:,}" for name, count in table.changes.items()]
        echo(f"Changed: {', '.join(changes)}", err=True)


def _find_query(name: str) -> AnalystQuery:
    """Return a query that comes with Fabula, or one in the user's own file."""
    path = Path(name)
    is_file = path.suffix in SUFFIXES or len(path.parts) > 1
    return read_query(path) if is_file else shipped_query(name)


def _print(result: QueryResult, as_json: bool, as_csv: bool) -> None:
    operation = find_operation("cypher")
    if as_json:
        print_json(operation.to_json(result))
    elif as_csv:
        csv = operation.to_csv(result)
        # CSV has no escapes: a file or a program gets the data as it is, a terminal does not.
        click.echo(clean_output(csv) if sys.stdout.isatty() else csv, nl=False)
    elif result.columns:
        if result.rows:
            show_table(make_table(result), 0)
        echo(f"{result.total:,} rows" if result.total != 1 else "1 row")
