"""Commands made from operations: arguments and options from parameters, a table from rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.table import Table as RichTable

from fabula.cli.shared.help import Command
from fabula.cli.shared.last_answer import keep_places
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import ASKING, GRAPH, HOME, WRITING, make_option, settings_flags
from fabula.cli.shared.screen import echo
from fabula.cli.shared.tables import console, print_table
from fabula.export.files import replace_file
from fabula.models.clean import escape_json
from fabula.operations.kit import (
    ABOUT_ASKER,
    Asker,
    Build,
    Mark,
    Operation,
    Table,
    build_now,
    find_operation,
    format_value,
    make_table,
    operation_entries,
)

if TYPE_CHECKING:
    from fabula.config.settings import Settings
    from fabula.library import App
    from fabula.library.collection import Collection


SUFFIXES = (".csv", ".json")


def make_commands(group: str) -> list[click.Command]:
    """Return the commands of the operations of a group, as `notes add` is one of `notes`."""
    names = [name for name in operation_entries() if name.startswith(f"{group}.")]
    found = [find_operation(name) for name in names]
    return [make_command(operation) for operation in found if operation.has_command]


def make_command(operation: Operation, kind: type[Command] = Command, **more: Any) -> click.Command:
    """Return the command of an operation; `more` is what its kind of command takes."""
    if operation.is_work:
        from fabula.cli.shared.building import make_work_command

        return make_work_command(operation)

    def run(
        settings: Settings,
        out: Path | None,
        as_json: bool = False,
        as_csv: bool = False,
        bom: bool = False,
        **values: Any,
    ) -> None:
        values = {name: value for name, value in values.items() if value not in (None, ())}
        if operation.is_file:
            assert out is not None
            with open_app(settings) as app:
                _write_file(operation, app, values, out)
            return
        suffix = _check_suffix(out, suffixes)
        if out and not _is_typed("limit"):
            values = operation.without_limit(values)
        with open_app(settings) as app:
            if out and suffix in operation.writers:
                _write_graph(operation, app, values, out, suffix)
                return
            collection, results = _run(operation, app, values)
            first = int(values.get("first", 0))
            form = ".json" if as_json else ".csv" if as_csv else suffix
            _print_results(operation, results, form, out, first, bom=bom)
            for result in results:
                _say_what_is_left(result, make_table(result), first)
                if operation.starts_job and collection:
                    # It is printed before, as it is done whatever becomes of the build.
                    _build(settings, collection, result.build, is_silent=as_json or as_csv)
        if any(getattr(result, "has_failed", False) for result in results):
            raise click.exceptions.Exit(1)

    suffixes = (*SUFFIXES, *operation.writers, *([".svg"] if operation.is_drawn else ()))
    unseen = (*ABOUT_ASKER, Mark.HAS_SETTING)
    typed = [
        each for each in operation.parameters if not (any(map(each.has, unseen)) or each.is_mapping)
    ]
    names = [*(GRAPH if operation.has_collection else HOME)]
    names += WRITING if operation.starts_job else ASKING if operation.is_question else ()
    several = [each.name.removesuffix("s") for each in typed if each.is_list]
    command = settings_flags(*(name for name in names if name not in several))(run)
    for option in (
        *_list_options(operation, suffixes),
        *(make_option(operation, parameter) for parameter in reversed(typed)),
    ):
        command = option(command)
    name, about = operation.command.split()[-1], operation.description
    return click.command(name, cls=kind, help=about, examples=operation.examples, **more)(command)


def _list_options(operation: Operation, suffixes: Sequence[str]) -> Iterator[Any]:
    """Yield the options of a command that are no parameters, the last one first."""
    if operation.has_confirmation:
        yield click.option("--yes", is_flag=True, help="do not ask for confirmation")
    if operation.is_file:
        out = click.Path(path_type=Path)
        yield click.option("--out", required=True, type=out, help="the file to write")
    else:
        yield click.option(
            "--out",
            type=click.Path(dir_okay=False, path_type=Path),
            help=f"write all rows to a file, {', '.join(suffixes)}, instead",
        )
        yield click.option("--bom", is_flag=True, help="begin CSV with a mark that Excel needs")
        yield click.option("--csv", "as_csv", is_flag=True, help="print CSV")
        yield click.option("--json", "as_json", is_flag=True, help="print JSON")


def _say_what_is_left(result: Any, table: Table, first: int) -> None:
    if hasattr(result, "to_hint") and (hint := result.to_hint()):
        echo(hint, err=True)
    if table.next:
        echo(f"There are more: --limit shows them, or --after '{table.next}'.", err=True)
    elif table.total and (last := first + len(table.rows)) < table.total:
        echo(f"{first + 1:,} to {last:,} of {table.total:,}: --limit shows more.", err=True)


def _check_suffix(out: Path | None, suffixes: Sequence[str]) -> str:
    """Return the suffix of a file's name; '' without a file."""
    if out and out.suffix.lower() not in suffixes:
        raise click.UsageError(f"End the file in {' or '.join(suffixes)}, not as {out.name!r}.")
    return out.suffix.lower() if out else ""


def _run(
    operation: Operation, app: App, values: dict[str, Any]
) -> tuple[Collection | None, list[Any]]:
    """Return the collection and the result or, of what destroys several things, that for each."""
    asker = _make_asker(app)
    is_confirmed = values.pop("yes", False)
    each_value = values.pop(operation.positional[-1], ()) if operation.has_confirmation else ()
    given = [values | {operation.positional[-1]: each} for each in dict.fromkeys(each_value)]
    collection = _choose_collection(operation, app, (given or [values])[0])

    def answer(**more: Any) -> list[Any]:
        return [operation.run(collection, each | more, asker) for each in given or [values]]

    if operation.has_confirmation and not values["dry_run"]:
        # Nothing goes before all of it is found to be there.
        would = answer(dry_run=True)
        if not is_confirmed:
            for result in would:
                echo(result.to_text(), err=True)
            click.confirm(f"{operation.command.capitalize()} this?", abort=True, err=True)
    results = answer()
    for result in results:
        table = make_table(result)
        if collection and table.has_places:
            _keep_places(operation, result, table, values, collection)
    return collection, results


def _write_file(operation: Operation, app: App, values: dict[str, Any], out: Path) -> None:
    """Write a result that is a file, in the format that its name ends in if none was typed."""
    if not _is_typed("format"):
        values["format"] = out.name
    collection = _choose_collection(operation, app, values)
    echo(operation.run(collection, values, _make_asker(app)).write(out))


def _write_graph(
    operation: Operation, app: App, values: dict[str, Any], out: Path, suffix: str
) -> None:
    """Write a file that is no table."""
    collection = _choose_collection(operation, app, values)
    write = partial(operation.writers[suffix], out)
    written = operation.run(collection, values, _make_asker(app), write)
    echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} relations")


def _make_asker(app: App) -> Asker:
    from fabula.library.current_user import current_user

    return Asker(current_user(), app, app.collections, app.collection)


def _choose_collection(
    operation: Operation, app: App, values: Mapping[str, Any]
) -> Collection | None:
    """Return the collection that is meant: for what changes all of one it is not guessed."""
    if not operation.has_collection:
        return None
    is_narrow = operation.needs_documents or values.get("document")
    return choose_collection(app) if is_narrow and not values.get("all") else app.collection()


def _build(settings: Settings, collection: Collection, build: Build, *, is_silent: bool) -> None:
    """Build what has to be built after an operation, with its progress."""
    from fabula.cli.shared.building import build_graph

    if is_silent or not build.is_due:
        build_now(collection, build)
        return
    build_graph(settings, collection, build.graph, *build.documents)


def _keep_places(
    operation: Operation,
    result: Any,
    table: Table,
    values: Mapping[str, Any],
    collection: Collection,
) -> None:
    """Remember the rows by their numbers, so that `fabula read 3` opens the third."""
    read = collection
    if not operation.is_question:
        read = collection.as_read(values.get("document", ""), values.get("until", ""))
    elif result.place and result.place.until:
        # A question's place may be a volume of a series, too, all of which was read.
        read = collection.as_read(result.place.document, str(result.place.until))
    places = [
        (number, row.document, f"{row.start}-{row.end}")
        for number, row in enumerate(table.rows, int(values.get("first", 0)) + 1)
        if row.start is not None
    ]
    what = " ".join(
        [operation.command, *(str(values.get(name, "")) for name in operation.positional)]
    )
    keep_places(what, places, read)


def _print_results(
    operation: Operation,
    results: Sequence[Any],
    form: str,
    out: Path | None,
    first: int,
    *,
    bom: bool,
) -> None:
    """Print results, or write them to a file, as JSON, as CSV or, without a form, for people.

    With `bom`, CSV begins with the mark that Excel needs.
    """
    if form == ".json":
        found = [operation.to_json(result) for result in results]
        text = json.dumps(found if found[1:] else found[0], indent=2, ensure_ascii=False)
        _write(escape_json(text) + "\n", out)
    elif form == ".svg":
        _write("".join(result.to_svg() for result in results), out)
    elif form:
        texts = (operation.to_csv(each, bom=bom and not n) for n, each in enumerate(results))
        _write("".join(texts), out)
    else:
        for result in results:
            _show(operation, result, first)


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


def _show(operation: Operation, result: Any, first: int) -> None:
    """Print a result for people: its text, or a table and what is below it."""
    if hasattr(result, "to_text"):
        echo(result.to_text())
        return
    screen = console()
    if hasattr(result, "to_lines") and screen.is_terminal:
        width = len(f"{first + len(result.rows)}") + 1
        for number, line in enumerate(result.to_lines(screen.width - width), first + 1):
            echo(f"{number:>{width - 1}} {line}")
        return
    notes = [*result.to_notes()] if hasattr(result, "to_notes") else []
    show_table(make_table(result), first, notes)
    if operation.changes:
        echo("Done.", err=True)


def show_table(table: Table, first: int, notes: Sequence[str] = ()) -> None:
    """Print a table for people, and below it notes and what is true of all of it."""
    shown = RichTable(show_edge=False)
    if table.has_places:
        shown.add_column("", justify="right", style="dim")
    for column in table.columns:
        shown.add_column(column.title, justify="right" if column.is_right else "left")
    for number, row in enumerate(table.rows, first + 1):
        cells = [column.cell(row) for column in table.columns]
        shown.add_row(*([str(number)] if table.has_places else []), *cells)
    if table.rows:
        print_table(shown)
    elif not (table.total or notes):
        echo("Nothing was found.", err=True)
    for line in notes:
        echo(line)
    facts = [f"{name} {format_value(value)}" for name, value in table.facts.items() if value]
    if facts:
        echo(", ".join(facts), err=True)
