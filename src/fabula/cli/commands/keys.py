"""`fabula keys`: manage the keys of the service."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Group
from fabula.cli.shared.opening import open_app
from fabula.cli.shared.operations import make_commands
from fabula.cli.shared.options import HOME_FLAGS
from fabula.config.serving import TABLE
from fabula.config.settings import Settings


@click.group("keys", cls=Group, commands=make_commands("keys"))
def command() -> None:
    """Make, list and revoke the keys of `fabula serve`.

    The graph stores their hashes. Changes apply at once to every service over this graph.
    """


@command.command(examples=("keys link", "keys link --url https://books.example.org"))
@click.option("--url", help="address of the service [from the settings]")
@HOME_FLAGS
def link(url: str | None, settings: Settings) -> None:
    """Print a link that signs in one browser, once, as the user of this machine."""
    from fabula.cli.commands.serve import explain_missing_extra

    with explain_missing_extra():
        from fabula.service.core.keys import Keys
        from fabula.service.core.sessions import Sessions
    from fabula.store import schema

    serving = settings.table(TABLE)
    address = (url or serving.url or f"http://127.0.0.1:{serving.port}").rstrip("/")
    with open_app(settings) as app:
        store = app.connect()
        schema.make_service(store)
        click.echo(f"{address}/enter?token={Sessions(store, Keys(store), serving).link()}")
