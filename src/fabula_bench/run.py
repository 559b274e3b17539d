"""Run a suite: build each system's graph, ask each question, score and store each result.

    suite -> data, systems -> for each system: ingest -> ask -> score -> results.jsonl, run.json

A run that was stopped continues where it was: existing results are not asked for again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fabula.config.model_factory import ModelFactory
from fabula.errors import BadReply, BudgetSpent
from fabula.library import Fabula
from fabula.library.collection import Collection
from fabula.models.budget import Budget
from fabula.models.parallel import TaskGroup
from fabula.models.placeholders import DryRun
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.server import ProgressReport
from fabula_bench.answering import QuestionRunner
from fabula_bench.ingesting import TextsWaiting, count_nodes, ingest_cost, ingest_texts
from fabula_bench.log import Log, lock_folder
from fabula_bench.model import BenchQuestion, DataSet
from fabula_bench.plan import BenchRun, TestedSystem, plan_systems, read_limited_data
from fabula_bench.record import RunRecord, now
from fabula_bench.scoring import RunMetrics, choose_metrics

LOG = logging.getLogger("fabula")


class ProgressView(Protocol):
    """Shows the progress of a run; it is called from several threads."""

    def begin(self, source: str) -> Progress:
        """Begin the next work of a system and return what shows its steps."""
        ...


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
    data = read_limited_data(bench)
    systems = plan_systems(bench.suite, data, bench.given)
    metrics = choose_metrics(bench.suite, data, systems[0])
    if data.subset:
        LOG.warning("%s", data.subset)
    with lock_folder(bench.folder):
        return Runner(bench, data, systems, metrics, watching, report).run()


class Runner:
    """A run: what it has found so far, and what is shown of it.

    In a `dry` one placeholders stand for all models.
    """

    def __init__(
        self,
        bench: BenchRun,
        data: DataSet,
        systems: Sequence[TestedSystem],
        metrics: RunMetrics,
        watching: ProgressView,
        report: ProgressReport | None,
        dry: DryRun | None = None,
    ) -> None:
        self.bench, self.data, self.systems, self.metrics = bench, data, systems, metrics
        self.dry = dry
        self.watching, self.report = watching, report
        self.log = Log(bench.folder)
        self.record = RunRecord(bench, self.log, data, systems, metrics)
        self.done = RunOutcome(expected=len(systems) * len(data.questions))
        self.documents: dict[str, dict[str, str]] = {}
        """The documents of the texts, by graph."""

    def run(self) -> RunOutcome:
        """Run the systems one after the other within one budget; write the record after each."""
        for name, reason in self.metrics.left_out.items():
            LOG.warning("%s is not measured: %s", name, reason)
        done = self.done
        done.results = self._count_answered()
        if done.results == done.expected:
            self.record.write(self.record.finished)
            return done
        self.record.write()
        settings = self.systems[0].settings
        budget = Budget(settings.max_calls, settings.max_tokens)
        try:
            for system in self.systems:
                try:
                    self._run_system(system, budget)
                except TextsWaiting as error:
                    # The graphs of the others are sent as well, and not when this one is done.
                    done.waiting.append(f"{system.name}: {error.message}")
                self.record.write()
        finally:
            questions = [question.id for question in self.data.questions]
            self.log.sort([system.name for system in self.systems], questions)
            done.results = self._count_answered()
            self.record.write(now() if done.results == done.expected else None)
        return done

    def _count_answered(self) -> int:
        """Return how many results of these systems and questions exist."""
        results = {(result.system, result.question) for result in self.log.results}
        return sum(
            (system.name, question.id) in results
            for system in self.systems
            for question in self.data.questions
        )

    def _run_system(self, system: TestedSystem, budget: Budget) -> None:
        """Build a system's graph and ask the questions that have no result yet."""
        answered = {result.question for result in self.log.of(system.name)}
        missing = [question for question in self.data.questions if question.id not in answered]
        if not missing:
            return
        models = ModelFactory(system.settings, budget).view(dry_run=self.dry)
        with Fabula(system.settings, report=self.report, models=models) as fabula:
            self.record.versions["neo4j"] = fabula.open_store().version()
            documents = self._ingest(system, fabula, missing)
            answerable = [question for question in missing if question.text in documents]
            scope = self.bench.suite.data.scope
            asking = QuestionRunner(system, fabula, models, documents, scope)
            self._ask(system, asking, answerable, models)

    def _ingest(
        self, system: TestedSystem, collection: Collection, missing: Sequence[BenchQuestion]
    ) -> dict[str, str]:
        settings = system.settings
        graph = settings.collection
        documents = self.documents.setdefault(graph, {})
        needed = {question.text for question in missing}
        if self.bench.suite.data.scope == "collection":
            needed = {text.id for text in self.data.texts}
        texts = [text for text in self.data.texts if text.id in needed - documents.keys()]
        if not texts:
            return documents
        report_piece = self._begin(system, "texts", len(texts))
        # Without models there is nothing to batch.
        uses_models = not settings.offline or settings.embeds_by_endpoint
        batch = self.bench.batch if uses_models else None
        began = time.monotonic()
        try:
            documents |= ingest_texts(texts, self.data.name, collection, report_piece, batch)
        finally:
            self.record.add_seconds("ingest", graph, time.monotonic() - began)
        self.record.graphs[graph] = ingest_cost(collection, system, self.data.name, self.data.texts)
        self.record.nodes[graph] = count_nodes(collection, self.data.name, self.data.texts)
        return documents

    def _ask(
        self,
        system: TestedSystem,
        asking: QuestionRunner,
        questions: Sequence[BenchQuestion],
        models: ModelFactory,
    ) -> None:
        # Of the first system, which is done before; none for itself.
        first = self.systems[0]
        results = self.log.of(first.name) if system is not first else []
        baseline = {result.question: result.answer for result in results}
        score = self.metrics.by(models, system, baseline)
        seconds = {"ask": 0.0, "score": 0.0}
        lock = threading.Lock()

        def ask_one(question: BenchQuestion) -> None:
            try:
                result = asking(question)
                answered = time.monotonic()
                if self.dry and result.answer:
                    # Placeholders answer alike for all systems, and a judge is asked about each.
                    result = replace(result, answer=f"{result.answer} {system.name}")
                scored_result = score(question, result)
            except BudgetSpent:
                raise
            except BadReply as error:
                report_piece(f"{system.name}, question {question.id}: {error}")
                return
            # Several threads ask at once, and += is not atomic.
            with lock:
                seconds["ask"] += result.seconds
                seconds["score"] += time.monotonic() - answered
            self.log.append(scored_result)
            report_piece("")

        report_piece = self._begin(system, "questions", len(questions))
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
                self.record.add_seconds(stage, system.name, wall * share / total)

    def _begin(self, system: TestedSystem, step: str, count: int) -> Callable[[str], None]:
        """Return what is called for each piece of work, with '' or the reason why it failed."""
        progress = self.watching.begin(system.name)
        progress.expect(step, count)

        def report_piece(failure: str) -> None:
            if failure:
                self.done.failed.append(failure)
            progress.done(step, Usage())

        return report_piece
