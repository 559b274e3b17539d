"""Open the collection that a command works on, or start the private server for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.server_progress import show_server_progress

if TYPE_CHECKING:
    from fabula.config.settings import Settings
    from fabula.library import App, Fabula
    from fabula.library.collection import Collection


@contextmanager
def open_collection(settings: Settings) -> Iterator[Fabula]:
    """Open the collection of the settings; if the private server has to be started, show that."""
    from fabula.library import Fabula

    with show_server_progress() as report, Fabula(settings, report=report) as fabula:
        yield fabula


@contextmanager
def open_app(settings: Settings) -> Iterator[App]:
    """Open what all collections share; if the private server has to be started, show that."""
    from fabula.library import App

    with show_server_progress() as report, App(settings, report=report) as app:
        yield app


@contextmanager
def open_for_reading(settings: Settings) -> Iterator[Collection]:
    """Open the collection that a question or a look most likely is about: `choose_collection`."""
    with open_app(settings) as app:
        yield choose_collection(app)


def choose_collection(app: App) -> Collection:
    """Return the collection of the settings.

    If nobody named one, and that is empty, it is the one that was written to last; standard error
    then says which.
    """
    collection, usual = app.default_collection(), app.settings.collection
    if collection.name != usual:
        click.echo(
            f"Using collection {collection.name}: {usual} is empty, and no collection was named.",
            err=True,
        )
    return collection
