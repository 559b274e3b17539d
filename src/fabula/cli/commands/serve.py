"""`fabula serve`: web pages, an HTTP API and MCP over one graph."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import click
from pydantic import ValidationError

from fabula.cli.shared.help import Command
from fabula.cli.shared.options import BUILDING, GRAPH, settings_flags
from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.serving import TABLE, Serving
from fabula.config.settings import Settings
from fabula.errors import SettingsError, first_problem


@click.command(
    "serve",
    cls=Command,
    examples=("serve", "serve --open", "serve --port 9000 --model offline"),
)
@click.option("--host", help="address to listen at [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="port to listen at [8040]")
@click.option("--open", "open_it", is_flag=True, help="open the page in the web browser")
@settings_flags(*GRAPH, *BUILDING)
def command(host: str | None, port: int | None, open_it: bool, settings: Settings) -> None:
    """Serve web pages, an HTTP API, MCP and OpenAI's interface, until Ctrl-C.

    This prints a link that signs your browser in. Programs need a key of `fabula keys make`. All
    other options are settings in the table `serve`: `fabula settings` lists them.
    """
    with explain_missing_extra():
        from fabula.library import App
        from fabula.service.process import serve

    settings = _with_address(settings, host, port)

    def ready(link: str) -> None:
        click.echo(f"Fabula: {link}")
        if open_it and not webbrowser.open(link):
            click.echo("No web browser could be opened here: open the link yourself.", err=True)

    with show_server_progress() as report, App(settings, report=report) as app:
        app.connect()
        serve(app, ready)


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Explain a missing package of the service, which the extra `serve` installs."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "fabula").partition(".")[0] == "fabula":
            raise
        raise SettingsError(
            f"The service needs the package {error.name}: install `fabula[serve]`."
        ) from error


def _with_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Return the settings with the host and the port of the command line."""
    values = settings.table(TABLE).model_dump()
    values |= {} if host is None else {"host": host}
    values |= {} if port is None else {"port": port}
    try:
        serving = Serving.model_validate(values)
    except ValidationError as error:
        raise SettingsError(f"{first_problem(error)}.") from error
    return settings.model_copy(update={"tables": settings.tables | {TABLE: serving}})
