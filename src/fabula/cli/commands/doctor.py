"""`fabula doctor`: check what works, and how to repair what does not."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection
from fabula.cli.shared.options import GRAPH, MODELS, settings_flags
from fabula.config.settings import Settings


@click.command(
    "doctor",
    cls=Command,
    examples=("doctor",),
)
@settings_flags(*GRAPH, *MODELS, "aspect_model")
def command(settings: Settings) -> None:
    """Check Python, Neo4j, the indexes, the models and the keys; each is a line, with the cure.

    Indexes and embeddings are those of the collection that a question is asked of. This starts
    Fabula's own Neo4j unless another is configured, and asks each model one word.
    """
    from fabula.cli.shared.health_checks import examine

    is_ok = True
    # Few attempts: whoever looks for an error should not wait for every retry.
    hasty = settings.model_copy(update={"attempts": min(settings.attempts, 2)})
    with open_collection(hasty) as fabula:
        for check in examine(fabula, fabula.app.default_collection):
            click.echo(f"{'ok ' if check.passed else 'BAD'}  {check.name:<16} {check.message}")
            is_ok = is_ok and check.passed
    if not is_ok:
        raise click.exceptions.Exit(1)
