"""`fabula doctor`: what works, what does not, and the cure."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import opened
from fabula.cli.shared.options import GRAPH, MODELS, settings_flags
from fabula.config.settings import Settings


@click.command(
    "doctor",
    cls=Command,
    examples=("doctor",),
)
@settings_flags(*GRAPH, *MODELS, "aspect_model")
def command(settings: Settings) -> None:
    """Check Python, Neo4j, the indexes, the models and the keys: a line each, with the cure.

    Starts Fabula's own Neo4j where no other is configured, and asks each model one word.
    """
    from fabula.app.doctor import examine

    well = True
    # Who asks what is wrong need not sit out every try.
    hasty = settings.model_copy(update={"attempts": min(settings.attempts, 2)})
    with opened(hasty) as fabula:
        for check in examine(fabula):
            click.echo(f"{'ok ' if check.well else 'BAD'}  {check.name:<16} {check.says}")
            well = well and check.well
    if not well:
        raise click.exceptions.Exit(1)
