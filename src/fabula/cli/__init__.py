"""The command line: each command is a module of `commands`, imported when it is called."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

import click

from fabula.errors import FabulaError
from fabula.packages import describe_missing

DEBUG = "fabula.debug"
GC_THRESHOLD = 50_000
"""New objects before the garbage collector runs; Python's default is 700."""
COMMANDS = (
    *("init", "demo", "ingest", "append", "query", "chat", "read", "history", "cite"),
    *("cypher", "annotations", "notes", "import", "serve", "mcp"),
    *("jobs", "keys", "doctor", "settings", "batches", "cache", "db"),
)
"""The commands that do more than an operation."""
READING = {
    "init": "Set Fabula up: a model, a key, a folder of books.",
    "demo": "Try a story that comes with Fabula.",
    "ingest": "Build graphs of books: files and folders.",
    "append": "Continue a book with further chapters.",
    "query": "Answer a question from the graph, with citations.",
    "chat": "Ask a series of questions that may refer to each other.",
    "read": "Read the text around a citation, a section or a passage.",
    "recap": "Tell what a book has told up to a place, in order.",
    "entities": "List who and what the documents are about.",
    "entity": "Show who or what has a name, with whom and where.",
    "concordance": "Show every place of some words in its context.",
    "plot": "Draw a document as a page or as a picture.",
    "notes": "Note or highlight words of a document; search notes.",
    "export": "Write the text or the graph of a document to a file.",
    "serve": "Serve web pages, an HTTP API and MCP.",
    "settings": "Show every setting, its value and where to set it.",
}
"""What readers need: the help has a line for each of them, and of the others only the names."""
GROUP = "fabula.commands"
"""The group of entry points by which a package brings a command."""
OPERATIONS = "fabula.operations"
"""The group by which it brings operations, which are commands as well; one with a dot in its name
is an action of a command."""


@cache
def find_commands() -> Mapping[str, EntryPoint]:
    """Return the commands that packages bring and those of operations, by name.

    An operation whose command does more than it is in `COMMANDS`.
    """
    entries = [*entry_points(group=GROUP), *entry_points(group=OPERATIONS)]
    # "notes.add" is an action of the command `notes`.
    names = {entry.name: entry for entry in sorted(entries) if "." not in entry.name}
    return {name: names[name] for name in names if name not in COMMANDS}


class Commands(click.Group):
    """The commands, each in the module of its name; errors become one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, those first that readers need."""
        names = [*READING, *sorted([*COMMANDS, *find_commands()])]
        return [
            name for name in dict.fromkeys(names) if name in COMMANDS or name in find_commands()
        ]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS and cmd_name not in find_commands():
            return None
        # Imports create many objects and drop few: collecting garbage took a sixth of their time.
        gc.disable()
        command = _import_command(cmd_name)
        gc.freeze()
        gc.enable()
        return _add_debug_option(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; an unknown name is reported with the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            if missing := describe_missing():
                click.echo(missing, err=True)
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands for readers, and the names of the others."""
        names = self.list_commands(ctx)
        with formatter.section("For readers"):
            formatter.write_dl([(name, READING[name]) for name in names if name in READING])
        with formatter.section("More commands, which `fabula NAME --help` describes"):
            formatter.write_text(", ".join(name for name in names if name not in READING))

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error becomes one line, or a traceback with --debug."""
        try:
            return super().invoke(ctx)
        except FabulaError as error:
            if ctx.meta.get(DEBUG):
                raise
            from fabula.models.clean import clean_output

            # A message may quote titles, or what an endpoint or a server sent.
            raise click.ClickException(clean_output(str(error))) from error
        except KeyboardInterrupt as stop:
            click.echo(f"\nStopped. {stop}".rstrip(), err=True)
            ctx.exit(130)


def _import_command(name: str) -> click.Command:
    command: click.Command
    if name in COMMANDS:
        command = importlib.import_module(f"fabula.cli.commands.{name.replace('-', '_')}").command
    elif find_commands()[name].group == OPERATIONS:
        from fabula.cli.shared.operations import make_command
        from fabula.operations.kit import find_operation

        command = make_command(find_operation(name))
    else:
        from fabula.graph.installed import load

        command = load(find_commands()[name])
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error, and log details.")
@click.version_option(package_name="fabula")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Graph RAG for long narrative texts, on Neo4j."""
    log = logging.getLogger("fabula")
    if not any(isinstance(handler, _StderrHandler) for handler in log.handlers):
        log.addHandler(_StderrHandler())
    _set_debug(ctx, None, debug)


def run() -> NoReturn:
    """Run the program and end the process at once.

    Threads may still wait for a model: they must not delay the exit, and one that prints while
    Python shuts down would make it abort. So the process ends without a shutdown.
    """
    from fabula.cli.shared.encoding import tell_written_otherwise, write_any_text

    gc.set_threshold(GC_THRESHOLD)
    write_any_text()
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    tell_written_otherwise()
    os._exit(code if isinstance(code, int) else code is not None)


class _StderrHandler(logging.Handler):
    """Prints Fabula's own log on standard error; the logs of libraries are not shown."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line; progress bars stay below it."""
        from fabula.models.clean import clean_output

        line = f"{record.levelname}: {record.getMessage()}"
        if record.exc_info and logging.getLogger("fabula").isEnabledFor(logging.DEBUG):
            line += f"\n{logging.Formatter().formatException(record.exc_info)}"
        click.echo(clean_output(line), err=True)


def _set_debug(ctx: click.Context, param: click.Parameter | None, value: bool) -> None:
    ctx.meta[DEBUG] = value or ctx.meta.get(DEBUG, False)
    level = logging.DEBUG if ctx.meta[DEBUG] else logging.WARNING
    logging.getLogger("fabula").setLevel(level)


def _add_debug_option(command: click.Command) -> click.Command:
    """Let --debug stand after the name of the command too, where people type it."""
    for subcommand in (command, *getattr(command, "commands", {}).values()):
        if not any(param.name == "debug" for param in subcommand.params):
            subcommand.params.append(
                click.Option(
                    ["--debug"],
                    is_flag=True,
                    expose_value=False,
                    callback=_set_debug,
                    help="show the traceback of an error",
                )
            )
    return command
