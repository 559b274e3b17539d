"""`fabula reembed`: a collection gets embeddings of another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import Watching
from fabula.cli.shared.screen import echo, spent
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.build.reembed import Reembedded

EMBEDDING = (
    "base_url",
    "embedding_model",
    "embedding_batch",
    "concurrency",
    "timeout",
    "attempts",
    "cache",
    "cache_folder",
)


@click.command(
    "reembed",
    cls=Command,
    examples=("reembed --collection trial --embedding-model text-embedding-3-small",),
)
@settings_flags(*GRAPH, *EMBEDDING)
def command(settings: Settings) -> None:
    """Give every passage of the collection an embedding of --embedding-model.

    Questions are answered all the while: in the old model's space until the new one's index is
    built, and in the new one's from then on. Documents are taken in again when it has ended. If it
    is stopped, the same command goes on, and the old model's name gives it up.
    """
    with opened(settings) as fabula, Watching() as listener:
        done = fabula.reembed(listener.begin("reembed"))
    echo(_in_all(fabula.name, done))
    echo(
        f"Set FABULA_EMBEDDING_MODEL={done.model} for all that asks collection {fabula.name!r} or "
        "adds to it; other collections keep theirs."
    )


def _in_all(collection: str, done: Reembedded) -> str:
    return (
        f"Collection {collection!r} has embeddings of {done.model}, {done.dimensions} dimensions: "
        f"{done.passages:,} passages embedded; {spent(done.usage)}; {done.seconds:.1f} s"
    )
