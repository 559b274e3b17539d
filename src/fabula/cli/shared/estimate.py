"""What a dry run shows: chunks, and expected calls, tokens and money by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.shared.screen import counted, echo, print_table, show_skipped
from fabula.config.settings import Settings
from fabula.models.usage import Usage, sum_usage

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome

ECONOMY = "economy"
"""The preset that asks for least."""
WOULD = {"added": "to be added", "replaced": "to be replaced", "unchanged": "unchanged"}


def show_expected(
    outcomes: Sequence[Outcome],
    settings: Settings,
    cheaper: Callable[[], Sequence[Outcome]] | None = None,
) -> None:
    """A line a document, a table of the steps of all, and what it would cost where that is known.

    `cheaper` gives what the preset ECONOMY would ask, which is told where it asks for less. Exits
    with 1 where a document can't be read.
    """
    for outcome in outcomes:
        if outcome.error:
            echo(f"failed  {outcome.error}")
            continue
        if outcome.status == "skipped":
            continue
        chunks = (
            f", {counted(outcome.counts['chunk'], 'chunk')}" if "chunk" in outcome.counts else ""
        )
        echo(f"{PurePath(outcome.source).name}: {WOULD[outcome.status]}{chunks}")
    show_skipped([outcome.source for outcome in outcomes if outcome.status == "skipped"])
    steps = sum_usage(outcome.steps for outcome in outcomes)
    if steps:
        _show_steps(steps, settings)
    else:
        echo("No model would be asked anything.")
    if steps and cheaper:
        _show_cheaper(steps, sum_usage(one.steps for one in cheaper()), settings)
    if any(outcome.error for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _show_steps(steps: Mapping[str, Usage], settings: Settings) -> None:
    table = _table("step", "model", "calls", "saved", "prompt tokens", "completion tokens", "USD")
    for step, usage in steps.items():
        models = ", ".join(settings.by_model({step: usage}))
        table.add_row(step, models, *_counts(usage), _cost({step: usage}, settings))
    table.add_section()
    table.add_row("all", "", *_counts(sum(steps.values(), Usage())), _cost(steps, settings))
    print_table(table)
    echo("Expected, not counted: what models reply is not known before.")
    if unknown := settings.cost(steps).unpriced:
        echo(
            f"No price is known of {', '.join(unknown)}: name a TOML file of prices with "
            "--prices (FABULA_PRICES)."
        )


def _show_cheaper(
    steps: Mapping[str, Usage], fewer: Mapping[str, Usage], settings: Settings
) -> None:
    ways = {"as above": steps, f"--preset {ECONOMY}": fewer}
    wholes = {name: sum(way.values(), Usage()) for name, way in ways.items()}
    asked = [whole.prompt_tokens + whole.completion_tokens for whole in wholes.values()]
    if asked[1] >= asked[0]:
        return
    echo("\nCheaper, with fewer, larger clusters and calls that ask for more at once:")
    table = _table("", "calls", "saved", "prompt tokens", "completion tokens", "USD")
    for name, way in ways.items():
        table.add_row(name, *_counts(wholes[name]), _cost(way, settings))
    print_table(table)


def _table(*columns: str) -> Table:
    """A table whose numbers, from the calls on, stand on the right."""
    table = Table(show_edge=False)
    for name in columns:
        is_text = name in ("", "step", "model")
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not name)
    return table


def _cost(steps: Mapping[str, Usage], settings: Settings) -> str:
    """The sum of what is known, in US dollars, and a question mark for the rest."""
    cost = settings.cost(steps)
    if cost.money is None:
        return "?"
    return f"{cost.known:.4f}" + (" + ?" if cost.unpriced else "")


def _counts(usage: Usage) -> list[str]:
    numbers = (usage.calls, usage.saved, usage.prompt_tokens, usage.completion_tokens)
    return [f"{number:,}" for number in numbers]
