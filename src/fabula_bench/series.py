"""Run several suites as one: all tables and figures of a publication, `fabula bench run thesis`.

What the runs need is looked for before the first begins. Each run has a folder of its own, so that
the same command goes on where it was stopped.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from fabula.errors import FabulaError, SettingsError
from fabula.graphs.aspects.cluster import check_reduction
from fabula_bench.data.subsets import Only
from fabula_bench.metrics import metric, missing_library
from fabula_bench.model import DataSet
from fabula_bench.plan import BenchRun, plan_systems, read_data
from fabula_bench.run import RunOutcome
from fabula_bench.suite import DataOverrides, read_suite

NO_MODEL = "A chat model answers and judges: set OPENAI_BASE_URL or OPENAI_API_KEY."
FILE = Path(__file__).with_name("series.toml")


@dataclass(frozen=True, slots=True)
class SeriesRun:
    """A run of a series: what it is of, its suite, and the data in place of the suite's."""

    what: str
    suite: str
    set: str
    hard: bool = False

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return "-".join((Path(self.suite).stem, self.set, *(["hard"] * self.hard)))


@dataclass(frozen=True, slots=True)
class Series:
    """Runs in their order, all of the same part of their data sets."""

    purpose: str
    runs: Sequence[SeriesRun]
    part: str
    only: Only = ""


def read_series() -> Mapping[str, Series]:
    """Return the series that come with Fabula, by their names."""
    return TypeAdapter(dict[str, Series]).validate_python(tomllib.loads(FILE.read_text("utf-8")))


def plan_series(series: Series, common: BenchRun, overrides: DataOverrides) -> dict[str, BenchRun]:
    """Return the runs of a series as runs of suites, by what they are of.

    `common` has what they have in common; its folder gets theirs, and its data have a folder for
    each data set, by its name. `overrides` may take the runs of one data set, or another part.

    Raises:
        SettingsError: None of the runs is of the data set.
    """
    planned = {}
    for each in series.runs:
        if overrides.set not in (None, each.set) or overrides.hard not in (None, each.hard):
            continue
        part, only = overrides.part or series.part, overrides.only or series.only
        suite = DataOverrides(each.set, part, each.hard, only).apply(read_suite(each.suite))
        data = common.data / each.set if common.data else None
        folder = common.folder / each.folder
        planned[each.what] = replace(common, suite=suite, folder=folder, data=data)
    if not planned:
        raise SettingsError(f"No run of this series is of the data set {overrides.set}.")
    return planned


def check_runs(runs: Iterable[BenchRun]) -> None:
    """Look for the data, the libraries and the model that runs need.

    Raises:
        SettingsError: Something is missing: the message names all that is.
    """
    needed: dict[str, None] = {}
    for bench in runs:
        suite = bench.suite
        try:
            read_data(suite, bench.data)
        except FabulaError as error:
            needed[error.message] = None
        # Of any data, as the collections alone are called by them.
        systems = plan_systems(suite, DataSet(suite.data.set, (), (), {}), bench.given)
        if systems[0].ask != suite.ask:
            needed[NO_MODEL] = None
        for system in systems:
            try:
                check_reduction(system.settings.table("aspects").cluster_reduction)
            except SettingsError as error:
                needed[error.message] = None
        needed |= dict.fromkeys(missing_library(metric(name)) for name in suite.metrics)
    if reasons := [reason for reason in needed if reason]:
        raise SettingsError("\n".join(("The runs need what is missing here:", *reasons)))


def write_index(
    folder: Path, planned: Mapping[str, BenchRun], outcomes: Mapping[str, RunOutcome]
) -> Path:
    """Write which report has which table or figure, and return the file."""
    lines = ["| of | report | results |", "| --- | --- | --- |"]
    for what, bench in planned.items():
        name, done = bench.folder.name, outcomes.get(what)
        count = f"{done.results:,} of {done.expected:,}" if done else "not begun, or stopped"
        lines.append(f"| {what} | [{name}]({name}/report.md) | {count} |")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "index.md"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
