"""Run a suite: build each system's graph, ask each question, score and store each result.

    suite -> data, systems -> for each system: ingest -> ask -> score -> results.jsonl, run.json

A run that was stopped continues where it was: existing results are not asked for again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fabula.app import Fabula
from fabula.app.collection import Collection
from fabula.config.model_factory import ModelFactory
from fabula.errors import BadReply, BudgetSpent, ReplyPending
from fabula.models.batch_options import BatchOptions
from fabula.models.budget import Budget
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.server import ProgressReport
from fabula_bench import record as records
from fabula_bench.answering import QuestionRunner
from fabula_bench.ingesting import count_nodes, ingest_cost, ingest_texts
from fabula_bench.log import Log, lock_folder
from fabula_bench.model import BenchQuestion, DataSet
from fabula_bench.plan import TestedSystem, limit_questions, plan_systems, read_data
from fabula_bench.scoring import RunMetrics, choose_metrics
from fabula_bench.suite import Suite

LOG = logging.getLogger("fabula")


class ProgressView(Protocol):
    """Shows the progress of a run; it is called from several threads."""

    def begin(self, source: str) -> Progress:
        """Begin the next work of a system and return what shows its steps."""
        ...


@dataclass(frozen=True, slots=True)
class BenchRun:
    """What to run.

    Attributes:
        suite: The suite.
        folder: Where the results are written.
        given: Settings of the run and models from flags.
        data: The folder of the data set, if it isn't that of the suite.
        texts: The maximum number of texts, if it is less than the suite's.
        questions: The maximum number of questions, if it is less than the suite's.
        command: The command line that repeats the run.
        batch: How graphs ask models by batches; None to call them directly.
    """

    suite: Suite
    folder: Path
    given: Mapping[str, Any]
    data: Path | None = None
    texts: int | None = None
    questions: int | None = None
    command: str = ""
    batch: BatchOptions | None = None


@dataclass(slots=True)
class RunOutcome:
    """The outcome of a run: existing and expected results, and messages about failures.

    `waiting` says of which graphs texts wait for batches.
    """

    results: int = 0
    expected: int = 0
    failed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


def run(
    bench: BenchRun, watching: ProgressView, report: ProgressReport | None = None
) -> RunOutcome:
    """Run what is missing of a suite, and write `results.jsonl` and `run.json`.

    A question or a text whose replies stay malformed fails alone, and is retried the next time.

    Raises:
        FabulaError: Anything else failed, or another run writes into the folder. Results so far
            are stored.
    """
    data = _data(bench)
    systems = plan_systems(bench.suite, data, bench.given)
    metrics = choose_metrics(bench.suite, data, systems[0])
    if data.subset:
        LOG.warning("%s", data.subset)
    with lock_folder(bench.folder):
        return _run(bench, data, systems, metrics, watching, report)


def _run(
    bench: BenchRun,
    data: DataSet,
    systems: Sequence[TestedSystem],
    metrics: RunMetrics,
    watching: ProgressView,
    report: ProgressReport | None,
) -> RunOutcome:
    log = Log(bench.folder)
    record = _record(bench, log, data, systems, metrics)
    for name, reason in metrics.left_out.items():
        LOG.warning("%s is not measured: %s", name, reason)
    names = [system.name for system in systems]
    questions = [question.id for question in data.questions]
    done = RunOutcome(expected=len(names) * len(questions))
    if _count_answered(log, names, questions) == done.expected:
        done.results = done.expected
        record.write(log, finished=record.finished)
        return done
    record.write(log)
    documents_by_graph: dict[str, dict[str, str]] = {}
    parts = [
        _System(bench, system, data, log, record, metrics, watching, done, documents_by_graph)
        for system in systems
    ]
    try:
        _run_systems(parts, report)
    finally:
        log.sort(names, questions)
        done.results = _count_answered(log, names, questions)
        record.write(log, finished=records.now() if done.results == done.expected else None)
    return done


def _run_systems(systems: Sequence[_System], report: ProgressReport | None) -> None:
    """Run the systems one after the other within one budget; write the record after each."""
    first = systems[0].system.settings
    budget = Budget(first.max_calls, first.max_tokens)
    for system in systems:
        try:
            system.run(budget, report)
        except ReplyPending as error:
            # The graphs of the other systems are sent as well, and not when this one is done.
            system.done.waiting.append(f"{system.system.name}: {error.message}")
        system.record.write(system.log)


def _record(
    bench: BenchRun, log: Log, data: DataSet, systems: Sequence[TestedSystem], metrics: RunMetrics
) -> records.RunRecord:
    return records.open_record(
        bench.folder,
        log,
        bench.suite,
        data,
        systems,
        metrics.metrics,
        metrics.left_out,
        bench.command,
        _limits(bench),
    )


def _count_answered(log: Log, systems: Sequence[str], questions: Sequence[str]) -> int:
    """Return how many results of these systems and questions exist."""
    expected = {(system, question) for system in systems for question in questions}
    return len(expected & {(result.system, result.question) for result in log.results})


def _data(bench: BenchRun) -> DataSet:
    suite = bench.suite
    texts = bench.texts or suite.limits.texts
    questions = bench.questions or suite.limits.questions
    return limit_questions(read_data(suite, bench.data), texts, questions, suite.seed)


def _limits(bench: BenchRun) -> dict[str, Any]:
    limits = {name: bench.given.get(name) for name in ("max_calls", "max_tokens")}
    return limits | {"texts": bench.texts, "questions": bench.questions}


@dataclass(frozen=True, slots=True)
class _System:
    """The part of a run for one system; `documents` are those of the texts, by graph."""

    bench: BenchRun
    system: TestedSystem
    data: DataSet
    log: Log
    record: records.RunRecord
    metrics: RunMetrics
    watching: ProgressView
    done: RunOutcome
    documents: dict[str, dict[str, str]]

    def run(self, budget: Budget, report: ProgressReport | None) -> None:
        """Build its graph and ask the questions that have no result yet."""
        answered = {result.question for result in self.log.of(self.system.name)}
        missing = [question for question in self.data.questions if question.id not in answered]
        if not missing:
            return
        settings = self.system.settings
        models = ModelFactory(settings, budget)
        with Fabula(settings, report=report, models=models) as fabula:
            self.record.versions["neo4j"] = fabula.store.version()
            documents = self._ingest(fabula, missing)
            answerable = [question for question in missing if question.text in documents]
            within = documents if self.bench.suite.data.scope == "document" else {}
            self._ask(QuestionRunner(self.system, fabula, models, within), answerable, models)

    def _ingest(self, collection: Collection, missing: Sequence[BenchQuestion]) -> dict[str, str]:
        graph = self.system.settings.collection
        documents = self.documents.setdefault(graph, {})
        needed = {question.text for question in missing}
        if self.bench.suite.data.scope == "collection":
            needed = {text.id for text in self.data.texts}
        texts = [text for text in self.data.texts if text.id in needed - documents.keys()]
        if not texts:
            return documents
        report_piece = self._begin("texts", len(texts))
        began = time.monotonic()
        try:
            documents |= ingest_texts(
                texts, self.data.name, self.system, collection, report_piece, self._batch
            )
        finally:
            self.record.add_seconds("ingest", graph, time.monotonic() - began)
        self.record.graphs[graph] = ingest_cost(
            collection, self.system, self.data.name, self.data.texts
        )
        self.record.nodes[graph] = count_nodes(collection, self.data.name, self.data.texts)
        return documents

    @property
    def _batch(self) -> BatchOptions | None:
        """How this system's graph is built by batches; without models there is nothing to batch."""
        settings = self.system.settings
        uses_models = not settings.offline or settings.embeds_by_endpoint
        return self.bench.batch if uses_models else None

    def _ask(
        self, asking: QuestionRunner, questions: Sequence[BenchQuestion], models: ModelFactory
    ) -> None:
        score = self.metrics.by(models, self.system, self._baseline_answers())
        seconds = {"ask": 0.0, "score": 0.0}
        lock = threading.Lock()

        def ask_one(question: BenchQuestion) -> None:
            try:
                result = asking(question)
                answered = time.monotonic()
                scored_result = score(question, result)
            except BudgetSpent:
                raise
            except BadReply as error:
                report_piece(f"{self.system.name}, question {question.id}: {error}")
                return
            # Several threads ask at once, and += is not atomic.
            with lock:
                seconds["ask"] += result.seconds
                seconds["score"] += time.monotonic() - answered
            self.log.append(scored_result)
            report_piece("")

        report_piece = self._begin("questions", len(questions))
        began = time.monotonic()
        try:
            with TaskGroup(models.workers) as job:
                job.each(0, ask_one, questions)
        except BudgetSpent:
            # Wait for calls that are under way: they are paid for.
            models.workers.join()
            raise
        finally:
            wall, total = time.monotonic() - began, sum(seconds.values()) or 1.0
            for stage, share in seconds.items():
                self.record.add_seconds(stage, self.system.name, wall * share / total)

    def _baseline_answers(self) -> dict[str, str]:
        """Return the answers of the first system, which is done before; none for itself."""
        first = self.record.systems[0].name
        if self.system.name == first:
            return {}
        return {result.question: result.answer for result in self.log.of(first)}

    def _begin(self, step: str, count: int) -> Callable[[str], None]:
        """Return what is called for each piece of work, with '' or the reason why it failed."""
        progress = self.watching.begin(self.system.name)
        progress.expect(step, count)

        def report_piece(failure: str) -> None:
            if failure:
                self.done.failed.append(failure)
            progress.done(step, Usage())

        return report_piece
