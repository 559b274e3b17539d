"""Commands made from operations: arguments and options from parameters, a table from rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.table import Table as RichTable

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_places
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.cli.shared.tables import print_table
from fabula.export.files import replace_file
from fabula.models.clean import escape_json
from fabula.operations.kit import (
    Asker,
    Mark,
    Operation,
    Parameter,
    Table,
    format_value,
    make_table,
    show_cell,
)

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.app.collection import Collection
    from fabula.config.settings import Settings


SUFFIXES = (".csv", ".json")


def make_command(operation: Operation) -> click.Command:
    """Return the command of an operation."""

    def run(
        settings: Settings, as_json: bool, as_csv: bool, out: Path | None, **values: Any
    ) -> None:
        from fabula.app.deciding import current_user

        if out and out.suffix.lower() not in SUFFIXES:
            raise click.UsageError(f"End the file in {' or '.join(SUFFIXES)}, not as {out.name!r}.")
        with open_app(settings) as app:
            collection = _open_collection(operation, app)
            values = {name: value for name, value in values.items() if value is not None}
            if out and not _is_typed("limit"):
                values = operation.without_limit(values)
            asker = Asker(current_user(), app, app.collections, app.collection)
            result = operation.run(collection, values, asker)
            table = make_table(result)
            if collection is not None and table.has_places:
                _keep_places(operation, table, values, collection)
        first = int(values.get("first", 0))
        if as_json or (out and out.suffix.lower() == ".json"):
            text = json.dumps(operation.to_json(result), indent=2, ensure_ascii=False)
            _write(escape_json(text) + "\n", out)
        elif as_csv or out:
            _write(operation.to_csv(result), out)
        elif hasattr(result, "to_text"):
            echo(result.to_text())
        else:
            show_table(table, first)
        if (last := first + len(table.rows)) < table.total:
            echo(f"{first + 1:,} to {last:,} of {table.total:,}: --limit shows more.", err=True)

    typed = [each for each in operation.parameters if not each.has(Mark.CALLER)]
    command = settings_flags(*GRAPH)(run)
    for option in (
        click.option(
            "--out",
            type=click.Path(dir_okay=False, path_type=Path),
            help="write all rows to a file, .csv or .json, instead",
        ),
        click.option("--csv", "as_csv", is_flag=True, help="print CSV"),
        click.option("--json", "as_json", is_flag=True, help="print JSON"),
        *(_make_option(operation, parameter) for parameter in reversed(typed)),
    ):
        command = option(command)
    return click.command(
        operation.name, cls=Command, help=operation.description, examples=operation.examples
    )(command)


def _make_option(operation: Operation, parameter: Parameter) -> Any:
    about = parameter.field.description or ""
    if parameter.name in operation.positional:
        default = None if parameter.is_required else parameter.default
        return click.argument(parameter.name, required=parameter.is_required, default=default)
    flag = f"--{parameter.name.replace('_', '-')}"
    if parameter.is_flag:
        return click.option(flag, parameter.name, is_flag=True, help=about)
    bounds = parameter.bounds
    kind: click.ParamType[Any] | None = None
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    elif parameter.type is int:
        kind = click.IntRange(bounds.get("ge"), bounds.get("le"))
    return click.option(
        flag,
        parameter.name,
        type=kind,
        # '' is no choice that anybody would type.
        default=None if parameter.default in (..., "", {}) else parameter.default,
        required=parameter.is_required,
        show_default=parameter.default not in ("", ..., None, {}),
        help=about,
    )


def _open_collection(operation: Operation, app: App) -> Collection | None:
    """Return the collection of the settings; None where none is needed, and perhaps no Neo4j."""
    if not operation.has_collection:
        return None
    return choose_collection(app) if operation.role == "read" else app.collection()


def _keep_places(
    operation: Operation, table: Table, values: Mapping[str, Any], collection: Collection
) -> None:
    """Remember the rows by their numbers, so that `fabula read 3` opens the third."""
    places = [
        (number, row.document, f"{row.start}-{row.end}")
        for number, row in enumerate(table.rows, int(values.get("first", 0)) + 1)
    ]
    what = " ".join([operation.name, *(str(values.get(name, "")) for name in operation.positional)])
    keep_places(
        what, places, collection.as_read(values.get("document", ""), values.get("until", ""))
    )


def _write(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        with replace_file(out) as stream:
            stream.write(text)
        echo(f"Written to {out}.", err=True)


def _is_typed(name: str) -> bool:
    """Return whether an option was given, and does not just have its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source is not ParameterSource.DEFAULT


def show_table(table: Table, first: int) -> None:
    """Print a table for people, and below it what is left out and what is true of all of it."""
    shown = RichTable(show_edge=False)
    if table.has_places:
        shown.add_column("", justify="right", style="dim")
    for column in table.columns:
        shown.add_column(column.title, justify="right" if column.is_right else "left")
    for number, row in enumerate(table.rows, first + 1):
        cells = [show_cell(row, column.name) for column in table.columns]
        shown.add_row(*([str(number)] if table.has_places else []), *cells)
    if table.rows:
        print_table(shown)
    elif not table.total:
        echo("Nothing was found.", err=True)
    facts = [f"{name} {format_value(value)}" for name, value in table.facts.items() if value]
    if facts:
        echo(", ".join(facts), err=True)
