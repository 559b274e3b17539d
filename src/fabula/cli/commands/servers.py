"""`fabula servers`: the Neo4j servers that collections live on."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.shared.help import Command, CommandWithActions
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings, environment_variable
from fabula.models.keyring import keyring_name, save_key

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.app.server_list import CollectionSize, ServerState

HOME_FLAGS = settings_flags(*(name for name in GRAPH if name not in ("preset", "collection")))


@click.command(
    "add",
    cls=Command,
    examples=(
        "servers add server2 bolt://10.0.0.2:7687",
        "servers add cloud neo4j+s://1a2b3c4d.databases.neo4j.io --user neo4j",
    ),
)
@click.argument("name")
@click.argument("uri")
@click.option("--user", default="neo4j", show_default=True, help="user at that server")
@click.option("--database", default="neo4j", show_default=True, help="database at that server")
@HOME_FLAGS
def add(name: str, uri: str, user: str, database: str, settings: Settings) -> None:
    """Add the Neo4j server at URI by the name NAME, or change the address of that server.

    The password is that of the setting server_passwords. Otherwise it is asked for, and saved in
    the system's keyring (with `pip install 'fabula[keyring]'`); it is never in a graph or a file.
    The schema of the server is made; what else is on it stays.
    """
    password = settings.server_password(name)
    ring = "" if password else keyring_name()
    if not password and sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, default="", show_default=False)
    elif not password:
        password = sys.stdin.readline().rstrip("\n")
    saves = bool(ring and password)
    with _open_app(settings) as app:
        state = app.add_server(
            name, uri, username=user, database=database, password=password, in_keyring=saves
        )
    if saves:
        save_key(uri, password)
        echo(f"The password is saved in the keyring ({ring}).")
    elif not settings.server_password(name):
        variable = environment_variable("server_passwords")
        echo(f'Every program needs the password: set {variable}=\'{{"{name}": "..."}}\'.')
    echo(f"Added {name}: {state.uri}, Neo4j {state.version}.")
    if state.collections:
        names = ", ".join(size.collection for size in state.collections)
        echo(f"It has collections that are not of this library: {names}. They stay as they are.")
    echo(f"Next: fabula collections move COLLECTION --to {name}")


@click.command("remove", cls=Command, examples=("servers remove server2",))
@click.argument("name")
@HOME_FLAGS
def remove(name: str, settings: Settings) -> None:
    """Remove the server NAME from the library; refused while collections live there."""
    with _open_app(settings) as app:
        app.remove_server(name)
    echo(f"Removed {name}. What is on it stays.")


@click.command(
    "servers",
    cls=CommandWithActions,
    actions=(add, remove),
    examples=("servers", "servers add server2 bolt://10.0.0.2:7687", "servers remove server2"),
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@HOME_FLAGS
def command(as_json: bool, settings: Settings) -> None:
    """List the Neo4j servers of the library: whether each answers, and its collections.

    The first is the home server, which the settings name. It knows the others, and has the keys,
    jobs and conversations of the service. Each collection lives on one server.
    """
    with _open_app(settings) as app:
        states = app.list_servers()
    if as_json:
        print_json([asdict(state) for state in states])
        return
    print_table(_table(states))
    for state in states:
        if state.problem:
            echo(state.problem, err=True)


@contextmanager
def _open_app(settings: Settings) -> Iterator[App]:
    with open_collection(settings) as fabula:
        yield fabula.app


def _table(states: Iterable[ServerState]) -> Table:
    table = Table(show_edge=False)
    for heading in ("server", "address", "Neo4j", "collection"):
        table.add_column(heading)
    for heading in ("documents", "passages"):
        table.add_column(heading, justify="right")
    for state in states:
        about = (state.name, state.uri, state.version or "can't be used")
        if not state.collections:
            table.add_row(*about, "", "", "")
        for number, size in enumerate(state.collections):
            shown = about if number == 0 else ("", "", "")
            table.add_row(*shown, *describe_size(size, is_known=not state.problem))
    return table


def describe_size(size: CollectionSize, *, is_known: bool) -> tuple[str, str, str]:
    """Return a collection's name with what happens to it, and its numbers, if they are known."""
    name = f"{size.collection} ({size.state})" if size.state else size.collection
    return (name, f"{size.documents:,}", f"{size.passages:,}") if is_known else (name, "?", "?")
