"""`fabula serve`: pages, an HTTP API and MCP over one graph."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import click
from pydantic import ValidationError

from fabula.cli.help import Command
from fabula.cli.options import BUILDING, GRAPH, settings_flags
from fabula.cli.starting import shown
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
    """Serve a page to read and ask in, an HTTP API, MCP and OpenAI's interface, until Ctrl-C.

    Prints one link that works: it signs your browser in. Programs need a key of `fabula keys make`.
    Every other knob is in the table `serve`: `fabula settings` lists them.
    """
    with needing_the_extra():
        from fabula.app import App
        from fabula.service.process import serve

    settings = _listening_at(settings, host, port)

    def ready(link: str) -> None:
        click.echo(f"Fabula: {link}")
        if open_it and not webbrowser.open(link):
            click.echo("No web browser could be opened here: open the link yourself.", err=True)

    with shown() as report, App(settings, report=report) as app:
        _ = app.store
        serve(app, ready)


@contextmanager
def needing_the_extra() -> Iterator[None]:
    """Says in words that the packages of the service are not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "fabula").partition(".")[0] == "fabula":
            raise
        raise SettingsError(
            f"The service needs the package {error.name}: install `fabula[serve]`."
        ) from error


def _listening_at(settings: Settings, host: str | None, port: int | None) -> Settings:
    """The settings with what was said on the command line."""
    given = {name: one for name, one in (("host", host), ("port", port)) if one is not None}
    own = settings.table(TABLE).model_dump() | given
    try:
        serving = Serving.model_validate(own)
    except ValidationError as error:
        raise SettingsError(f"{first_problem(error)}.") from error
    return settings.model_copy(update={"tables": settings.tables | {TABLE: serving}})
