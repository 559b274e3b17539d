"""`fabula collections`: list the collections, or move one to another Neo4j server."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.table import Table

from fabula.cli.commands.servers import HOME_FLAGS, describe_size
from fabula.cli.shared.help import Command, CommandWithActions
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.progress import BuildProgress
from fabula.cli.shared.screen import echo, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings


@click.command(
    "move",
    cls=Command,
    examples=(
        "collections move novels --to server2",
        "collections move novels --to home",
    ),
)
@click.argument("name")
@click.option("--to", "server", required=True, help="the server, as `fabula servers` lists it")
@click.option(
    "--pause",
    type=click.FloatRange(0),
    help="seconds for which the old copy is kept after the switch; less than 40 only if no other "
    "program uses the library",
)
@HOME_FLAGS
def move(name: str, server: str, pause: float | None, settings: Settings) -> None:
    """Move the collection NAME to another server: its texts, graphs, embeddings and corrections.

    Questions are answered meanwhile; documents can be added again once it is there. If this is
    stopped or killed, the same command continues it. Before the switch, a move to the server that
    it lives on gives it up. The old copy is removed last.
    """
    with open_collection(settings) as fabula, BuildProgress() as listener:
        collection = fabula.app.collection(name)
        moved = collection.move(server, progress=listener.begin(f"move {name}"), pause=pause)
    echo(
        f"Collection {name!r} is on server {moved.server!r}: {moved.nodes:,} nodes copied; "
        f"{moved.seconds:.1f} s"
    )


@click.command(
    "collections",
    cls=CommandWithActions,
    actions=(move,),
    examples=("collections", "collections move novels --to server2"),
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@HOME_FLAGS
def command(as_json: bool, settings: Settings) -> None:
    """List the collections: the server that each lives on, and its size."""
    with open_collection(settings) as fabula:
        states = fabula.app.list_servers()
    if as_json:
        rows = [
            asdict(size) | {"server": state.name} for state in states for size in state.collections
        ]
        print_json(sorted(rows, key=lambda row: row["collection"]))
        return
    table = Table(show_edge=False)
    for heading in ("collection", "server"):
        table.add_column(heading)
    for heading in ("documents", "passages"):
        table.add_column(heading, justify="right")
    sizes = [(size, state) for state in states for size in state.collections]
    for size, state in sorted(sizes, key=lambda pair: pair[0].collection):
        name, *numbers = describe_size(size, is_known=not state.problem)
        table.add_row(name, state.name, *numbers)
    if sizes:
        print_table(table)
    else:
        echo("Every collection is empty: run `fabula ingest BOOK`.")
    for state in states:
        if state.problem:
            echo(state.problem, err=True)
