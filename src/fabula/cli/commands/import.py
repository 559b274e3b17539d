# ruff: noqa: N999 - a command's module has its name
"""`fabula import`: take in a collection that `fabula export --whole` has written."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import HOME_FLAGS
from fabula.config.settings import Settings


@click.command("import", cls=Command, examples=("import novels.jsonl",))
@click.argument("file", type=click.Path(path_type=Path))
@HOME_FLAGS
def command(file: Path, settings: Settings) -> None:
    """Take in the collection of FILE, which `fabula export --whole` has written.

    It has its name, and all that it had: texts, graphs, embeddings, corrections, annotations and
    notes. No model is asked. It is there once all of it is; if this is stopped, nothing is there.
    A collection of this name that has documents is never changed.
    """
    with open_collection(settings) as fabula:
        head = fabula.app.import_collection(file)
    click.echo(
        f"Collection {head.collection!r}: {head.nodes:,} nodes, "
        f"{head.relationships:,} relationships"
    )
