"""Show what runs would ask of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from rich.table import Table

from fabula.cli.shared.tables import print_table
from fabula.models.prices import Price
from fabula_bench.estimate import (
    SECONDS_PER_CALL,
    TOKENS_PER_SECOND,
    RunEstimate,
    StageEstimate,
    sum_stages,
)
from fabula_bench.report.costs import format_cost
from fabula_bench.report.wording import format_duration

STAGES = {"ingest": "building", "ask": "asking", "score": "judging"}


def show_estimates(estimates: Sequence[RunEstimate], prices: Mapping[str, Price]) -> None:
    """Print what runs would ask of models: each system of one run, or each of several runs."""
    table = Table(box=None, header_style="bold")
    heads = ("", "calls", "tokens sent", "tokens written", "US dollars", "time")
    for head in heads:
        table.add_column(head, justify="right" if head else "left")

    def add(name: str, stages: Sequence[StageEstimate]) -> None:
        total = sum_stages(stages, prices)
        usage = total.usage
        counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
        numbers = (f"{count:,}" for count in counts)
        table.add_row(name, *numbers, format_cost(total.cost), format_duration(total.seconds))

    every = [stage for estimate in estimates for stage in estimate.stages]
    if len(estimates) == 1:
        for system in dict.fromkeys(stage.system for stage in every):
            add(system, [stage for stage in every if stage.system == system])
    else:
        for estimate in estimates:
            add(estimate.name, estimate.stages)
    table.add_section()
    for name, title in STAGES.items():
        add(title, [stage for stage in every if stage.stage == name])
    add("all", every)
    print_table(table)
    for estimate in estimates:
        texts, questions = estimate.texts, estimate.questions
        if texts[0] > texts[1] or questions[0] > questions[1]:
            click.echo(
                f"{estimate.name} was estimated from {texts[1]:,} of {texts[0]:,} texts and "
                f"{questions[1]:,} of {questions[0]:,} questions."
            )
    click.echo(
        "The replies of models are not known in advance. Time: of this machine, and of models, if "
        f"a call takes {SECONDS_PER_CALL:g} s and {TOKENS_PER_SECOND:g} tokens are written in one."
    )
    if unknown := sum_stages(every, prices).cost.unpriced:
        click.echo(
            f"No price is known for {', '.join(unknown)}: name a TOML file of prices with --prices."
        )
