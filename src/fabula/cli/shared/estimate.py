"""Show what a run would do: chunks, and expected calls, tokens and money by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from fabula.cli.shared.progress import show_reading
from fabula.cli.shared.screen import echo, show_skipped
from fabula.cli.shared.tables import begin_table, print_table
from fabula.config.settings import Settings
from fabula.models.usage import Usage, sum_usage
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

WOULD = {
    "added": "to be added",
    "replaced": "to be replaced",
    "removed": "to be removed",
    "unchanged": "unchanged",
}


def show_estimate(
    outcomes: Sequence[Outcome],
    settings: Settings,
    *,
    by_batches: bool = False,
) -> None:
    """Print a line for each document and a table of all steps; exit with 1 if one can't be read.

    Args:
        outcomes: What a dry run expects.
        settings: The settings of the run, for models and prices.
        by_batches: Whether the run asks models by batches, whose price is shown as well.
    """
    for outcome in outcomes:
        if outcome.error:
            echo(f"failed  {outcome.error}")
            continue
        if outcome.status == "skipped":
            continue
        chunks = (
            f", {count_noun(outcome.counts['chunk'], 'chunk')}" if "chunk" in outcome.counts else ""
        )
        echo(f"{PurePath(outcome.source).name}: {WOULD[outcome.status]}{chunks}")
        show_reading(outcome)
    show_skipped(outcomes)
    steps = sum_usage(outcome.steps for outcome in outcomes)
    show_steps(steps, settings)
    if steps and by_batches:
        _show_batches(steps, settings)
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def show_steps(steps: Mapping[str, Usage], settings: Settings) -> None:
    """Print what would be asked of models, by step; settings tell of models and prices."""
    if not steps:
        echo("No model would be asked anything.")
        return
    numbers = ("calls", "saved", "prompt tokens", "completion tokens", "USD")
    table = begin_table("step", "model", *numbers, right=numbers)
    for step, usage in steps.items():
        models = ", ".join(settings.by_model({step: usage}))
        table.add_row(step, models, *_counts(usage), _cost({step: usage}, settings))
    table.add_section()
    table.add_row("all", "", *_counts(sum(steps.values(), Usage())), _cost(steps, settings))
    print_table(table)
    echo("These are estimates: the replies of models are not known in advance.")
    if unknown := settings.cost(steps).unpriced:
        echo(
            f"No price is known for {', '.join(unknown)}: name a TOML file of prices with "
            "--prices (FABULA_PRICES)."
        )


def _show_batches(steps: Mapping[str, Usage], settings: Settings) -> None:
    """Print what the run would cost with and without batches, and how long it may take."""
    batched = {step: usage.batched for step, usage in steps.items()}
    echo(
        f"\nBy batches: {_cost(batched, settings)} USD, and {_cost(steps, settings)} USD without "
        "--batch. They come in several rounds, each of which may take up to 24 hours."
    )


def _cost(steps: Mapping[str, Usage], settings: Settings) -> str:
    """Return the known cost in US dollars; a question mark stands for unknown prices."""
    cost = settings.cost(steps)
    if cost.money is None:
        return "?"
    return f"{cost.known:.4f}" + (" + ?" if cost.unpriced else "")


def _counts(usage: Usage) -> list[str]:
    numbers = (usage.calls, usage.saved, usage.prompt_tokens, usage.completion_tokens)
    return [f"{number:,}" for number in numbers]
