"""Open the collection that a command works on, or start the private server for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.connect import private_server
from fabula.server import Address

if TYPE_CHECKING:
    from fabula.app import Fabula
    from fabula.config.settings import Settings


@contextmanager
def open_collection(settings: Settings) -> Iterator[Fabula]:
    """Open the collection of the settings; if the private server has to be started, show that."""
    from fabula.app import Fabula

    with show_server_progress() as report, Fabula(settings, report=report) as fabula:
        yield fabula


@contextmanager
def open_for_reading(settings: Settings) -> Iterator[Fabula]:
    """Open the collection that a question or a look most likely is about.

    It is that of the settings. If nobody named one, and that is empty, it is the only collection
    with documents; standard error then says which.
    """
    with open_collection(settings) as fabula:
        name = fabula.app.default_collection().name
        if name != fabula.name:
            click.echo(
                f"Using collection {name}: {fabula.name} is empty, and no collection was named.",
                err=True,
            )
            fabula.name = name
        yield fabula


def start_server(settings: Settings) -> Address:
    """Return the address of the private server, started if necessary."""
    with show_server_progress() as report:
        return private_server(settings).start(report)
