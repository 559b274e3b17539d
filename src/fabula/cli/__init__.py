"""The command line: each command is a file, imported when it is called."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import sys
from typing import NoReturn

import click

from fabula.errors import FabulaError

DEBUG = "fabula.debug"
OFTEN = 50_000
"""New objects after which some are looked at that may be dropped; Python's own is 700."""
COMMANDS = {
    "init": "Set Fabula up: a model, a key, a folder of books.",
    "demo": "Make a graph of a story that comes with Fabula, and ask it.",
    "ingest": "Make graphs of books: files and folders.",
    "build": "Build a graph for documents that are there.",
    "drop": "Take a graph out of documents.",
    "query": "Answer a question from the graph, with citations.",
    "chat": "Talk about books: questions that lean on those before them.",
    "read": "Read a book around a place: a citation, a section, a passage.",
    "cite": "Print documents as BibTeX or CSL-JSON.",
    "list": "List the documents and their graphs.",
    "entities": "List who and what a book is about, or tell all of one of them.",
    "facts": "List who is whose kin, lives where, owns what, with proof.",
    "show": "Show a document's graphs and what they cost.",
    "remove": "Remove documents.",
    "reembed": "Give a collection embeddings of another model.",
    "check": "Check that the graph is sound.",
    "cypher": "Put a query to the graph: one of Fabula's for analysts, or your own.",
    "export": "Write the graph, or a document's, as JSONL or GraphML.",
    "plot": "Draw a document as a page to explore, an SVG or a PNG.",
    "serve": "Serve pages, an HTTP API and MCP to a room of people.",
    "mcp": "Let an assistant on this machine read and ask, by MCP.",
    "keys": "Make, list and revoke the keys of the service.",
    "bench": "Run an experiment: systems, questions, measures, a report.",
    "doctor": "Check Python, Neo4j, indexes, models and keys.",
    "settings": "Show every setting, its value and where to set it.",
    "cache": "Look at the model replies that are kept, or delete them.",
    "db": "Start, stop, look at and back up Fabula's own Neo4j; compact any.",
}
"""Every command and its line of help, so that showing them imports none of them."""


class Commands(click.Group):
    """The commands, each found in the module of its name; errors become one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported only now."""
        if cmd_name not in COMMANDS:
            return None
        # Imports make much and drop little: to look for it took a sixth of their time.
        gc.disable()
        module = importlib.import_module(f"fabula.cli.commands.{cmd_name}")
        gc.freeze()
        gc.enable()
        command: click.Command = module.command
        return _debuggable(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; a slip is told with the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; what goes wrong is one line, and with --debug the whole trace."""
        try:
            return super().invoke(ctx)
        except FabulaError as error:
            if ctx.meta.get(DEBUG):
                raise
            from fabula.models.clean import clean_output

            # A message quotes titles and what an endpoint or a server said.
            raise click.ClickException(clean_output(str(error))) from error
        except KeyboardInterrupt as stop:
            click.echo(f"\nStopped. {stop}".rstrip(), err=True)
            ctx.exit(130)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the trace of an error, and log what happens.")
@click.version_option(package_name="fabula")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Graph RAG for long narrative texts, on Neo4j."""
    log = logging.getLogger("fabula")
    if not log.handlers:
        log.addHandler(_Shown())
    _set_debug(ctx, None, debug)


def run() -> NoReturn:
    """The program, which ends at once.

    Threads that still wait for a model must not hold it, and one of them that speaks while Python
    winds up would make it abort.
    """
    gc.set_threshold(OFTEN)
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else code is not None)


class _Shown(logging.Handler):
    """Fabula's own log on standard error; what libraries log of files and models is not shown."""

    def emit(self, record: logging.LogRecord) -> None:
        """A line, above the progress bars where there are any."""
        from fabula.models.clean import clean_output

        click.echo(clean_output(f"{record.levelname}: {record.getMessage()}"), err=True)


def _set_debug(ctx: click.Context, param: click.Parameter | None, value: bool) -> None:
    ctx.meta[DEBUG] = value or ctx.meta.get(DEBUG, False)
    level = logging.DEBUG if ctx.meta[DEBUG] else logging.WARNING
    logging.getLogger("fabula").setLevel(level)


def _debuggable(command: click.Command) -> click.Command:
    """The command with --debug after its name too, where people type it."""
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    for one in commands:
        if not any(param.name == "debug" for param in one.params):
            one.params.append(
                click.Option(
                    ["--debug"],
                    is_flag=True,
                    expose_value=False,
                    callback=_set_debug,
                    help="show the trace of an error",
                )
            )
    return command
