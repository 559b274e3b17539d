"""Commands made from operations: arguments and options from parameters, a table from rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.table import Table as RichTable

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_places
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import echo
from fabula.cli.shared.tables import print_table
from fabula.export.files import replace_file
from fabula.models.clean import escape_json
from fabula.operations.kit import (
    Asker,
    Build,
    Mark,
    Operation,
    Parameter,
    Table,
    build_now,
    format_value,
    make_table,
)

if TYPE_CHECKING:
    from fabula.app.collection import Collection
    from fabula.config.settings import Settings


SUFFIXES = (".csv", ".json")


def make_command(operation: Operation) -> click.Command:
    """Return the command of an operation."""

    def run(
        settings: Settings, as_json: bool, as_csv: bool, out: Path | None, **values: Any
    ) -> None:
        from fabula.app.current_user import current_user

        suffix = _check_suffix(out, suffixes)
        with open_app(settings) as app:
            # What builds again what is there is about a collection that has something.
            is_filled = operation.role == "read" or operation.starts_job
            collection = choose_collection(app) if is_filled else app.collection()
            values = {name: value for name, value in values.items() if value is not None}
            if out and not _is_typed("limit"):
                values = operation.without_limit(values)
            asker = Asker(current_user(), app, app.collections, app.collection)
            source = collection if operation.has_collection else None
            if out and suffix in operation.writers:
                written = operation.run(
                    source, values, asker, partial(operation.writers[suffix], out)
                )
                echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} relations")
                return
            result = operation.run(source, values, asker)
            table = make_table(result)
            if table.has_places:
                _keep_places(operation, table, values, collection)
            first = int(values.get("first", 0))
            if as_json or suffix == ".json":
                text = json.dumps(operation.to_json(result), indent=2, ensure_ascii=False)
                _write(escape_json(text) + "\n", out)
            elif as_csv or out:
                _write(operation.to_csv(result), out)
            else:
                _show(result, table, first)
            if (last := first + len(table.rows)) < table.total:
                echo(f"{first + 1:,} to {last:,} of {table.total:,}: --limit shows more.", err=True)
            if operation.starts_job:
                # It is printed before, as it is done whatever becomes of the build.
                _build(settings, collection, result.build, is_silent=as_json or as_csv)

    suffixes = (*SUFFIXES, *operation.writers)
    typed = [each for each in operation.parameters if not each.has(Mark.CALLER)]
    command = settings_flags(*GRAPH, *(WRITING if operation.starts_job else ()))(run)
    for option in (
        click.option(
            "--out",
            type=click.Path(dir_okay=False, path_type=Path),
            help=f"write all rows to a file, {', '.join(suffixes)}, instead",
        ),
        click.option("--csv", "as_csv", is_flag=True, help="print CSV"),
        click.option("--json", "as_json", is_flag=True, help="print JSON"),
        *(_make_option(operation, parameter) for parameter in reversed(typed)),
    ):
        command = option(command)
    return click.command(
        operation.name, cls=Command, help=operation.description, examples=operation.examples
    )(command)


def _check_suffix(out: Path | None, suffixes: Sequence[str]) -> str:
    """Return the suffix of a file's name; '' without a file."""
    if out and out.suffix.lower() not in suffixes:
        raise click.UsageError(f"End the file in {' or '.join(suffixes)}, not as {out.name!r}.")
    return out.suffix.lower() if out else ""


def _make_option(operation: Operation, parameter: Parameter) -> Any:
    about = parameter.field.description or ""
    if parameter.name in operation.positional:
        default = None if parameter.is_required else parameter.default
        number = -1 if parameter.is_list else 1
        required = parameter.is_required
        return click.argument(parameter.name, required=required, default=default, nargs=number)
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
        default=None if parameter.default in (..., "") else parameter.default,
        required=parameter.is_required,
        show_default=parameter.default not in ("", ..., None),
        help=about,
    )


def _build(settings: Settings, collection: Collection, build: Build, *, is_silent: bool) -> None:
    """Build what has to be built after an operation, with its progress."""
    from fabula.cli.commands.ingest import make_graphs

    if is_silent or not build.is_due:
        build_now(collection, build)
        return
    make_graphs(
        settings,
        lambda source, listener: source.build(build.graph, *build.documents, listener=listener),
        opener=lambda _: nullcontext(collection),
    )


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


def _show(result: Any, table: Table, first: int) -> None:
    """Print a result for people: its text, or a table, and below that what is true of all of it."""
    if hasattr(result, "to_text"):
        echo(result.to_text())
        return
    shown = RichTable(show_edge=False)
    if table.has_places:
        shown.add_column("", justify="right", style="dim")
    for column in table.columns:
        shown.add_column(column.title, justify="right" if column.is_right else "left")
    for number, row in enumerate(table.rows, first + 1):
        cells = [format_value(getattr(row, column.name)) for column in table.columns]
        shown.add_row(*([str(number)] if table.has_places else []), *cells)
    if table.rows:
        print_table(shown)
    elif not table.total:
        echo("Nothing was found.", err=True)
    facts = [f"{name} {format_value(value)}" for name, value in table.facts.items() if value]
    if facts:
        echo(", ".join(facts), err=True)
