"""`fabula reembed`: embed a collection again with another model."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import BuildProgress
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings
from fabula.models.prefixes import split_space_name
from fabula.models.usage import describe_usage

EMBEDDING = (
    "base_url",
    "embedding_model",
    "embedding_query_prefix",
    "embedding_passage_prefix",
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
    """Embed every passage of the collection with --embedding-model.

    Questions are answered meanwhile, with the old embeddings until the new index is built.
    Documents can be added again after it has ended. If it is stopped, the same command continues
    it, and the name of the old model cancels it.
    """
    with open_collection(settings) as fabula, BuildProgress() as listener:
        done = fabula.reembed(listener.begin("reembed"))
    echo(
        f"Collection {fabula.name!r} has embeddings of {done.model}, {done.dimensions} dimensions: "
        f"{done.passages:,} passages embedded; {describe_usage(done.usage)}; {done.seconds:.1f} s"
    )
    echo(
        f"Set FABULA_EMBEDDING_MODEL={split_space_name(done.model)[0]} for every program that adds "
        f"to collection {fabula.name!r}; questions to it are embedded by its own model wherever "
        "that is to be had. Other collections keep their model."
    )
