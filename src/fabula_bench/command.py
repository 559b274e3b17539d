"""Run experiments and report them: `fabula bench`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.shared.batch_flags import WAITING_CODE, batch_flags
from fabula.cli.shared.help import Group
from fabula.cli.shared.options import GRAPH, MODELS, Assignment, given_flags
from fabula.cli.shared.progress import BuildProgress
from fabula.cli.shared.server_progress import show_server_progress
from fabula.config.settings import Settings

if TYPE_CHECKING:
    from fabula.models.batch_options import BatchOptions
    from fabula_bench.data.subsets import Only
    from fabula_bench.plan import BenchRun
    from fabula_bench.run import RunOutcome

RUNS = "runs"
"""The folder of all runs; a run has a folder with the name of its suite."""
SETTINGS = (
    *(name for name in GRAPH if name not in ("preset", "collection")),
    *MODELS,
    "aspect_model",
    "embedding_batch",
    "batch_min_tokens",
    "batch_min_calls",
    "max_calls",
    "max_tokens",
    "prices",
)
DATA_SET = "data set"
"""The name under which --set gives a data set; no setting is called so."""


class DataSetOrSetting(Assignment):
    """A data set's name, or a setting's whole name and its value."""

    name = "data set | name=value"
    help = (
        "the data set, as narrativeqa, in place of the suite's; or any setting by its whole name, "
        "as aspects.levels=3"
    )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the data set by the name DATA_SET, or the name and the value of a setting."""
        if "=" in str(value):
            return super().convert(value, param, ctx)
        from fabula_bench.data import NAMES

        if value not in NAMES:
            self.fail(
                f"{value!r} is no data set ({', '.join(NAMES)}), and a setting is name=value",
                param,
                ctx,
            )
        return DATA_SET, value


@click.group("bench", cls=Group)
def command() -> None:
    """Run experiments: suites of systems, questions and measures."""


@command.command("list", examples=("bench list",))
def list_suites() -> None:
    """List the suites that come with Fabula."""
    from fabula_bench.gold import GOLD, PURPOSE
    from fabula_bench.series import read_series
    from fabula_bench.suite import read_suite, shipped_suites

    purposes = {name: read_suite(name).purpose for name in shipped_suites()} | {GOLD: PURPOSE}
    purposes |= {name: series.purpose for name, series in read_series().items()}
    width = max(map(len, purposes))
    for name, purpose in sorted(purposes.items()):
        click.echo(f"{name:<{width}}  {purpose}")


@command.command(
    "run",
    examples=(
        "bench run smoke",
        "bench run quality --data QuALITY/ --limit 200 --max-calls 20000",
        "bench run thesis --data data/ --dry-run",
        "bench run sweep-top-k --set narrativeqa --only gutenberg",
    ),
)
@click.argument("suite")
@click.option("--out", type=click.Path(path_type=Path), help=f"folder of the run [{RUNS}/SUITE]")
@click.option("--data", type=click.Path(path_type=Path), help="folder of the data set's files")
@click.option("--part", metavar="PART", help="part of the data set; several as train+dev, or all")
@click.option(
    "--hard/--all-questions",
    default=None,
    help="ask only the questions of the hard subset, or all questions",
)
@click.option(
    "--only",
    type=click.Choice(["gutenberg"]),
    help="use only texts of Project Gutenberg, as the aspect graph's publication did",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="ask at most N questions")
@click.option("--texts", type=click.IntRange(1), metavar="N", help="use at most N texts")
@click.option(
    "--dry-run", is_flag=True, help="show calls, tokens, cost and time; ask and write nothing"
)
@batch_flags
@given_flags(*SETTINGS, assignment=DataSetOrSetting())
def run_suite(
    suite: str,
    out: Path | None,
    data: Path | None,
    part: str | None,
    hard: bool | None,
    only: Only | None,
    limit: int | None,
    texts: int | None,
    dry_run: bool,
    batch: BatchOptions | None,
    given: dict[str, Any],
) -> None:
    """Run SUITE, a suite's name or a TOML file, and write a report.

    The folder gets results.jsonl, with a line for each question and system, run.json, with
    everything needed to repeat the run, and the report. The same command continues a run that was
    stopped; with a larger --limit it asks more questions. The environment does not change settings
    that the suite sets. --set, --part, --hard and --only take other data than the suite's; the
    folder of the run is then called after them, too.

    With --dry-run, a few texts and questions are tried with placeholders in the place of models,
    and what they would have cost is multiplied.

    With --batch, the graphs are built by batches, at half the price; see `fabula ingest --help`.
    Questions are asked directly.

    SUITE thesis is a series of runs: all tables and figures of a publication. What they need is
    named first. --data names the folder that has one for each data set; --set takes one of these.

    SUITE gold measures the graphs on annotations of LitBank and PolDraCor: --data names the folder
    that has litbank/ and poldracor/.
    """
    from fabula_bench.gold import GOLD
    from fabula_bench.plan import BenchRun
    from fabula_bench.series import check_runs, plan_series, read_series, write_index
    from fabula_bench.suite import DataOverrides, read_suite

    if suite == GOLD and (batch or dry_run):
        raise click.UsageError(f"The measurement {GOLD} needs neither --batch nor --dry-run.")
    if suite == GOLD:
        _run_gold(out, data, limit, texts, given)
        return
    overrides = DataOverrides(given.pop(DATA_SET, None), part, hard, only)
    series = read_series().get(suite)
    chosen = read_suite(series.runs[0].suite) if series else overrides.apply(read_suite(suite))
    name = suite if series else chosen.name
    bench = BenchRun(
        suite=chosen,
        folder=out or Path(RUNS, "-".join((name, *overrides.words))),
        given=given,
        data=data,
        texts=texts,
        questions=limit,
        command=shlex.join(["fabula", *sys.argv[1:]]),
        batch=batch,
    )
    planned = {name: bench}
    if series:
        planned = plan_series(series, bench, overrides)
        check_runs(planned.values())
    if dry_run:
        _show_estimates(planned)
        return
    outcomes: dict[str, RunOutcome] = {}
    try:
        for what, each in planned.items():
            outcomes[what] = _run(each)
    finally:
        if series:
            click.echo(f"The reports are listed in {write_index(bench.folder, planned, outcomes)}.")
    if any(done.waiting for done in outcomes.values()):
        click.echo("Run the same command again to go on; `fabula batches` lists the batches.")
        raise click.exceptions.Exit(WAITING_CODE)
    if any(done.results < done.expected for done in outcomes.values()):
        raise click.exceptions.Exit(1)


def _run(bench: BenchRun) -> RunOutcome:
    """Run a suite, print what came of it, and write its report unless it waits for batches."""
    from fabula_bench.run import run

    folder = bench.folder
    try:
        with show_server_progress() as report, BuildProgress(keep_steps=True) as progress:
            done = run(bench, progress, report)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"The results so far are in {folder}: run the same command again to continue."
        ) from None
    _print_outcome(done, folder)
    for reason in done.waiting:
        click.echo(f"waiting    {reason}", err=True)
    if not done.waiting:
        _write_report(folder, bench.given)
    return done


def _run_gold(
    out: Path | None, data: Path | None, limit: int | None, texts: int | None, given: dict[str, Any]
) -> None:
    """Measure the graphs on gold annotations, and print the figures."""
    from fabula_bench.gold import GOLD
    from fabula_bench.gold.report import figures_table
    from fabula_bench.gold.run import GoldRun, run_gold
    from fabula_bench.plan import DATA

    if limit:
        raise click.UsageError(
            f"The measurement {GOLD} asks no questions, so --limit is not for it: "
            "--texts takes fewer texts."
        )
    run = GoldRun(
        data=data or Path(DATA),
        folder=out or Path(RUNS, GOLD),
        given=given,
        texts=texts,
        command=shlex.join(["fabula", *sys.argv[1:]]),
    )
    with BuildProgress(keep_steps=True) as progress:
        outcome = run_gold(run, progress)
    for is_of_plays in (False, True):
        rows = figures_table(outcome.systems, is_of_plays=is_of_plays)
        if len(rows) > 2:
            click.echo("\n".join(rows) + "\n")
    for failure in outcome.failed:
        click.echo(f"failed     {failure}", err=True)
    click.echo(f"The report is {outcome.report}.")
    if outcome.failed:
        raise click.exceptions.Exit(1)


@command.command("report", examples=("bench report runs/quality",))
@click.argument("folder", type=click.Path(path_type=Path))
@given_flags("prices")
def report(folder: Path, given: dict[str, Any]) -> None:
    """Write the report of the run in FOLDER again."""
    _write_report(folder, given)


def _show_estimates(planned: Mapping[str, BenchRun]) -> None:
    """Print what runs would ask of models."""
    from fabula.models.prices import read_prices
    from fabula_bench.estimate import drop_shared, estimate_run
    from fabula_bench.shown_estimate import show_estimates

    estimates = []
    with show_server_progress() as report, BuildProgress(keep_steps=True) as progress:
        for name, bench in planned.items():
            estimates.append(estimate_run(name, bench, progress, report))
    prices = next(iter(planned.values())).given.get("prices")
    show_estimates(drop_shared(estimates), read_prices(Settings.read(prices=prices).prices))


def _print_outcome(done: RunOutcome, folder: Path) -> None:
    click.echo(f"{done.results:,} of {done.expected:,} results are in {folder}.")
    for failure in done.failed:
        click.echo(f"failed     {failure}", err=True)
    if done.failed:
        click.echo("Run the same command again to retry these.", err=True)


def _write_report(folder: Path, given: Mapping[str, Any]) -> None:
    from fabula.models.prices import read_prices
    from fabula_bench.report import write_report

    report = write_report(folder, read_prices(Settings.read(**given).prices))
    click.echo(f"The report is {report}.")
