"""What a dry run shows: chunks, and expected calls, tokens and money by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.screen import counted, print_table, show_skipped
from fabula.model import Usage, sum_usage
from fabula.prices import price, read_prices
from fabula.settings import Settings

if TYPE_CHECKING:
    from fabula.ingest import Outcome

WOULD = {"added": "to be added", "replaced": "to be replaced", "unchanged": "unchanged"}


def show_expected(outcomes: Sequence[Outcome], settings: Settings) -> None:
    """A line a document, a table of the steps of all, and what it would cost where that is known.

    Exits with 1 where a document can't be read.
    """
    for one in outcomes:
        if one.error:
            click.echo(f"failed  {one.error}")
            continue
        if one.status == "skipped":
            continue
        chunks = f", {counted(one.counts['chunk'], 'chunk')}" if "chunk" in one.counts else ""
        click.echo(f"{PurePath(one.source).name}: {WOULD[one.status]}{chunks}")
    show_skipped([one.source for one in outcomes if one.status == "skipped"])
    if steps := sum_usage(one.steps for one in outcomes):
        _show_steps(steps, settings)
    else:
        click.echo("No model would be asked anything.")
    if any(one.error for one in outcomes):
        raise click.exceptions.Exit(1)


def _show_steps(steps: dict[str, Usage], settings: Settings) -> None:
    prices = read_prices(settings.prices)
    table = Table(show_edge=False)
    for name in ("step", "model"):
        table.add_column(name)
    for name in ("calls", "saved", "prompt tokens", "completion tokens", "USD"):
        table.add_column(name, justify="right")
    cost, unknown = 0.0, set()
    for step, usage in steps.items():
        model = _model(step, settings)
        known = price(prices, model)
        if known is None:
            unknown.add(model)
        else:
            cost += known.of(usage)
        table.add_row(step, model, *_counts(usage), f"{known.of(usage):.4f}" if known else "?")
    table.add_section()
    whole = sum(steps.values(), Usage())
    table.add_row("all", "", *_counts(whole), f"{cost:.4f}" + (" + ?" if unknown else ""))
    print_table(table)
    click.echo("Expected, not counted: what models reply is not known before.")
    if unknown:
        click.echo(
            f"No price is known of {', '.join(sorted(unknown))}: name a TOML file of prices with "
            "--prices (FABULA_PRICES)."
        )


def _model(step: str, settings: Settings) -> str:
    if step == "embeddings":
        return settings.embedding_model
    return settings.aspect_model or settings.model if step == "aspects" else settings.model


def _counts(usage: Usage) -> list[str]:
    numbers = (usage.calls, usage.saved, usage.prompt_tokens, usage.completion_tokens)
    return [f"{number:,}" for number in numbers]
