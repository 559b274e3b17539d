"""Show what runs would ask of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from rich.table import Table

from fabula.cli.shared.tables import print_table
from fabula.models.prices import Price, cost
from fabula.models.usage import Usage, sum_usage
from fabula_bench.estimate import SECONDS_PER_CALL, TOKENS_PER_SECOND, RunEstimate, StageEstimate
from fabula_bench.report.costs import format_cost
from fabula_bench.report.wording import format_duration

STAGES = {"ingest": "building", "ask": "asking", "score": "judging"}


def show_estimates(estimates: Sequence[RunEstimate], prices: Mapping[str, Price]) -> None:
    """Print what runs would ask of models: each system of one run, or each of several runs."""
    every = [stage for estimate in estimates for stage in estimate.stages]
    groups = {estimate.name: estimate.stages for estimate in estimates}
    if len(estimates) == 1:
        systems = dict.fromkeys(stage.system for stage in every)
        groups = {name: [stage for stage in every if stage.system == name] for name in systems}
    totals = {
        title: [stage for stage in every if stage.stage == name] for name, title in STAGES.items()
    }
    table = Table(box=None, header_style="bold")
    for head in ("", "calls", "tokens sent", "tokens written", "US dollars", "time"):
        table.add_column(head, justify="right" if head else "left")
    for rows in (groups, totals | {"all": every}):
        for name, stages in rows.items():
            table.add_row(name, *_cells(stages, prices))
        table.add_section()
    print_table(table)
    for estimate in estimates:
        (texts, tried), (questions, asked) = estimate.texts, estimate.questions
        if texts > tried or questions > asked:
            click.echo(
                f"{estimate.name} was estimated from {tried:,} of {texts:,} texts and {asked:,} of "
                f"{questions:,} questions."
            )
    click.echo(
        "The replies of models are not known in advance. Time: of this machine, and of models, if "
        f"a call takes {SECONDS_PER_CALL:g} s and {TOKENS_PER_SECOND:g} tokens are written in one."
    )
    if unknown := cost(prices, sum_usage(stage.spent for stage in every)).unpriced:
        click.echo(
            f"No price is known for {', '.join(unknown)}: name a TOML file of prices with --prices."
        )


def _cells(stages: Sequence[StageEstimate], prices: Mapping[str, Price]) -> tuple[str, ...]:
    spent = sum_usage(stage.spent for stage in stages)
    usage = sum(spent.values(), Usage())
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    seconds = sum(stage.seconds for stage in stages)
    return (
        *(f"{count:,}" for count in counts),
        format_cost(cost(prices, spent)),
        format_duration(seconds),
    )
