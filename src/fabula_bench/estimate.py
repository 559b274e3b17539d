"""Estimate what a run will ask of models and cost: the run itself, with placeholders for models.

A few texts are ingested into collections of their own, a few questions about them are asked and
judged, and what that took is multiplied: graphs by the tokens of the texts, questions by their
number. A run that is no larger than the sample is estimated as a whole. No model is asked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.errors import FabulaError
from fabula.jobs.work import RemovalWork
from fabula.library import Fabula
from fabula.models.placeholders import DryRun
from fabula.models.usage import Usage
from fabula.server import ProgressReport
from fabula.text import tokens
from fabula_bench.log import Log
from fabula_bench.model import DataSet
from fabula_bench.plan import (
    BenchRun,
    TestedSystem,
    limit_questions,
    plan_systems,
    read_limited_data,
)
from fabula_bench.run import ProgressView, Runner
from fabula_bench.scoring import choose_metrics

SAMPLE_TEXTS, SAMPLE_QUESTIONS = 3, 12
"""How much of a run is tried at most."""
SECONDS_PER_CALL, TOKENS_PER_SECOND = 1.0, 50.0
"""What a hosted model is taken to need: before the first token of a reply, and for the others. Only
the estimate of time rests on this; a run shows how long it took."""
DRY = "dry-run-"
"""What the names of the collections of a dry run begin with."""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What a stage of a system would ask of each model.

    Attributes:
        system: The system; of a graph that several systems share, the first of them.
        stage: ingest, for building its graph, ask, or score, for judging its answers.
        graph: The collection of its graph.
        spent: The usage by model.
        seconds: How long it would take: this machine's work, and the wait for models.
    """

    system: str
    stage: str
    graph: str
    spent: Mapping[str, Usage]
    seconds: float


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would ask of models.

    Attributes:
        name: The suite's name, or the name of the run in a series.
        texts: How many texts there are, and how many of them were tried.
        questions: How many questions there are, and how many of them were tried.
        stages: The stages of all systems, in their order.
    """

    name: str
    texts: tuple[int, int]
    questions: tuple[int, int]
    stages: Sequence[StageEstimate]


def drop_shared(estimates: Sequence[RunEstimate]) -> list[RunEstimate]:
    """Return the estimates of runs one after the other: graphs that are there are not built again.

    A graph of fewer texts is taken for a part of an earlier one of more.
    """
    built: dict[str, int] = {}
    kept = []
    for estimate in estimates:
        texts = estimate.texts[0]
        stages = [
            stage
            for stage in estimate.stages
            if stage.stage != "ingest" or built.get(stage.graph, 0) < texts
        ]
        kept.append(replace(estimate, stages=stages))
        for stage in estimate.stages:
            built[stage.graph] = max(built.get(stage.graph, 0), texts)
    return kept


def estimate_run(
    name: str, bench: BenchRun, watching: ProgressView, report: ProgressReport | None = None
) -> RunEstimate:
    """Return what a run would ask of models, less the questions that its folder has results of.

    Args:
        name: The name that the run is shown by.
        bench: The run.
        watching: Shows the progress.
        report: Called with each step of the private Neo4j's start.

    Raises:
        FabulaError: The data or the suite can't be used, or a step can't be estimated.
    """
    data = read_limited_data(bench)
    sample = limit_questions(data, SAMPLE_TEXTS, SAMPLE_QUESTIONS, bench.suite.seed)
    planned = plan_systems(bench.suite, data, bench.given)
    metrics = choose_metrics(bench.suite, data, planned[0])
    left = _count_missing(bench, data, planned)
    texts = (len(data.texts), len(sample.texts))
    questions = (len(data.questions), len(sample.questions))
    if not any(left.values()):
        return RunEstimate(name, texts, questions, ())
    with tempfile.TemporaryDirectory(prefix="fabula-dry-run-") as temporary:
        folder = Path(temporary)
        systems = [_stand_in(system, folder) for system in planned]
        dry = DryRun(saves=True)
        trial = replace(bench, folder=folder, batch=None)
        runner = Runner(trial, sample, systems, metrics, watching, report, dry)
        try:
            outcome = runner.run()
        finally:
            _remove_collections(systems, report)
    if outcome.failed:
        raise FabulaError(f"The cost of this run can't be estimated: {outcome.failed[0]}")
    stages = _scale(runner, data, sample, left)
    return RunEstimate(name, texts, questions, stages)


def _stand_in(system: TestedSystem, folder: Path) -> TestedSystem:
    """Return a system with a collection and a response cache of its own."""
    settings = system.settings
    own = {"collection": f"{DRY}{settings.collection}", "cache_folder": folder / "cache"}
    return replace(system, settings=settings.model_copy(update=own))


def _remove_collections(systems: Sequence[TestedSystem], report: ProgressReport | None) -> None:
    for settings in {system.settings.collection: system.settings for system in systems}.values():
        with Fabula(settings, report=report) as fabula:
            RemovalWork(fabula).run()


def _count_missing(
    bench: BenchRun, data: DataSet, systems: Sequence[TestedSystem]
) -> dict[str, int]:
    """Return how many questions of each system have no result in the folder of the run."""
    asked = {question.id for question in data.questions}
    log = Log(bench.folder)
    return {
        system.name: len(asked - {result.question for result in log.of(system.name)})
        for system in systems
    }


def _scale(
    runner: Runner, data: DataSet, sample: DataSet, left: Mapping[str, int]
) -> list[StageEstimate]:
    """Return the stages of a run from those of a run of its sample."""
    of_texts = _count_tokens(data) / (_count_tokens(sample) or 1)
    stages: list[StageEstimate] = []
    built: set[str] = set()
    for system in runner.systems:
        graph = system.settings.collection
        for stage, took in runner.record.describe(system).stages.items():
            factor = left[system.name] / len(sample.questions)
            if stage == "ingest":
                factor = of_texts if left[system.name] and graph not in built else 0
                built.add(graph)
            spent = {model: usage * factor for model, usage in took.spent.items()}
            seconds = took.seconds * factor + _wait(spent) / system.settings.concurrency
            of_graph = graph.removeprefix(DRY)
            stages.append(StageEstimate(system.name, stage, of_graph, spent, seconds))
    return stages


def _count_tokens(data: DataSet) -> int:
    return sum(tokens.count_all([text.text for text in data.texts]))


def _wait(spent: Mapping[str, Usage]) -> float:
    total = sum(spent.values(), Usage())
    return total.calls * SECONDS_PER_CALL + total.completion_tokens / TOKENS_PER_SECOND
