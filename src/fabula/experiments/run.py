"""A run of a suite: each system's graph is made, each question asked, each result kept and scored.

    suite -> data, systems -> for each system: ingest -> ask -> score -> results.jsonl, run.json

A run that was stopped goes on where it was: results that are there are not asked again.
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
from fabula.config.kit import Kit
from fabula.errors import BadReply, BudgetSpent
from fabula.experiments import record
from fabula.experiments.answering import Asking
from fabula.experiments.ingesting import cost, ingested
from fabula.experiments.log import Log, locked
from fabula.experiments.model import DataSet, Question
from fabula.experiments.plan import Tested, limited, planned, read_data
from fabula.experiments.scoring import Scoring, measured
from fabula.experiments.suite import Suite
from fabula.models.budget import Budget
from fabula.models.parallel import Job
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.server import Report

LOG = logging.getLogger("fabula")


class Watching(Protocol):
    """Sees how a run goes; called from several threads."""

    def begin(self, source: str) -> Progress:
        """A system's next work begins; what is returned hears its steps."""
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What is to be run, and where to. `given`: settings of the run and models, as flags say.

    `data` is the folder of the data set's files, where it isn't the suite's; `texts` and
    `questions` limit those of the suite further; `command` is what to type to run it again.
    """

    suite: Suite
    folder: Path
    given: Mapping[str, Any]
    data: Path | None = None
    texts: int | None = None
    questions: int | None = None
    command: str = ""


@dataclass(slots=True)
class Done:
    """How a run ended: results that are there, those that it should have, and what failed."""

    results: int = 0
    expected: int = 0
    failed: list[str] = field(default_factory=list)


def run(bench: Bench, watching: Watching, report: Report | None = None) -> Done:
    """Runs what of a suite isn't there yet, and leaves `results.jsonl` and `run.json`.

    A question or a text whose replies stay malformed fails alone, and is tried again the next
    time. Raises FabulaError for everything else, as where another run is writing into the folder;
    what was done until then is kept.
    """
    data = _data(bench)
    systems = planned(bench.suite, data, bench.given)
    metrics = measured(bench.suite, data, systems[0])
    with locked(bench.folder):
        return _run(bench, data, systems, metrics, watching, report)


def _run(
    bench: Bench,
    data: DataSet,
    systems: Sequence[Tested],
    metrics: Scoring,
    watching: Watching,
    report: Report | None,
) -> Done:
    log = Log(bench.folder)
    kept = _record(bench, log, data, systems, metrics)
    for name, reason in metrics.left_out.items():
        LOG.warning("%s is not measured: %s", name, reason)
    names = [system.name for system in systems]
    questions = [question.id for question in data.questions]
    done = Done(expected=len(names) * len(questions))
    if _there(log, names, questions) == done.expected:
        done.results = done.expected
        kept.write(log, finished=kept.finished)
        return done
    kept.write(log)
    made: dict[str, dict[str, str]] = {}
    parts = [
        _System(bench, system, data, log, kept, metrics, watching, done, made) for system in systems
    ]
    try:
        _run_systems(parts, report)
    finally:
        log.sort(names, questions)
        done.results = _there(log, names, questions)
        kept.write(log, finished=record.now() if done.results == done.expected else None)
    return done


def _run_systems(systems: Sequence[_System], report: Report | None) -> None:
    """One after the other, within one budget; the record is written after each."""
    first = systems[0].system.settings
    budget = Budget(first.max_calls, first.max_tokens)
    for system in systems:
        system.run(budget, report)
        system.kept.write(system.log)


def _record(
    bench: Bench, log: Log, data: DataSet, systems: Sequence[Tested], metrics: Scoring
) -> record.Record:
    return record.opened(
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


def _there(log: Log, systems: Sequence[str], questions: Sequence[str]) -> int:
    """How many of these questions these systems have answered."""
    wanted = {(system, question) for system in systems for question in questions}
    return len(wanted & {(result.system, result.question) for result in log.results})


def _data(bench: Bench) -> DataSet:
    suite = bench.suite
    texts = bench.texts or suite.limits.texts
    questions = bench.questions or suite.limits.questions
    return limited(read_data(suite, bench.data), texts, questions, suite.seed)


def _limits(bench: Bench) -> dict[str, Any]:
    given = {name: bench.given.get(name) for name in ("max_calls", "max_tokens")}
    return given | {"texts": bench.texts, "questions": bench.questions}


@dataclass(frozen=True, slots=True)
class _System:
    """One system's part of a run; `made`: by graph the documents of texts, as far as looked at."""

    bench: Bench
    system: Tested
    data: DataSet
    log: Log
    kept: record.Record
    metrics: Scoring
    watching: Watching
    done: Done
    made: dict[str, dict[str, str]]

    def run(self, budget: Budget, report: Report | None) -> None:
        """Makes its graph and asks what isn't answered yet."""
        there = {one.question for one in self.log.of(self.system.name)}
        missing = [question for question in self.data.questions if question.id not in there]
        if not missing:
            return
        settings = self.system.settings
        kit = Kit(settings, budget)
        with Fabula(settings, report=report, kit=kit) as fabula:
            self.kept.versions["neo4j"] = fabula.store.version()
            documents = self._ingest(fabula, missing)
            asked = [one for one in missing if one.text in documents]
            within = documents if self.bench.suite.data.scope == "document" else {}
            self._ask(Asking(self.system, fabula, kit, within), asked, kit)

    def _ingest(self, collection: Collection, missing: Sequence[Question]) -> dict[str, str]:
        graph = self.system.settings.collection
        made = self.made.setdefault(graph, {})
        needed = {question.text for question in missing}
        if self.bench.suite.data.scope == "collection":
            needed = {text.id for text in self.data.texts}
        texts = [text for text in self.data.texts if text.id in needed - made.keys()]
        if not texts:
            return made
        tell = self._begin("texts", len(texts))
        began = time.monotonic()
        try:
            made |= ingested(texts, self.data.name, self.system, collection, tell)
        finally:
            self.kept.took("ingest", graph, time.monotonic() - began)
        self.kept.graphs[graph] = cost(collection, self.system, self.data.name, self.data.texts)
        return made

    def _ask(self, asking: Asking, questions: Sequence[Question], kit: Kit) -> None:
        score = self.metrics.by(kit, self.system)
        seconds = {"ask": 0.0, "score": 0.0}
        lock = threading.Lock()

        def one(question: Question) -> None:
            try:
                result = asking(question)
                answered = time.monotonic()
                scored = score(question, result)
            except BudgetSpent:
                raise
            except BadReply as error:
                tell(f"{self.system.name}, question {question.id}: {error}")
                return
            # Several threads ask at once, and adding is no single step.
            with lock:
                seconds["ask"] += result.seconds
                seconds["score"] += time.monotonic() - answered
            self.log.append(scored)
            tell("")

        tell = self._begin("questions", len(questions))
        began = time.monotonic()
        try:
            with Job(kit.workers) as job:
                job.each(0, one, questions)
        except BudgetSpent:
            # What is under way is paid for.
            kit.workers.settle()
            raise
        finally:
            wall, total = time.monotonic() - began, sum(seconds.values()) or 1.0
            for stage, share in seconds.items():
                self.kept.took(stage, self.system.name, wall * share / total)

    def _begin(self, step: str, count: int) -> Callable[[str], None]:
        """What is told of each of so many pieces of work: '', or why it failed."""
        progress = self.watching.begin(self.system.name)
        progress.expect(step, count)

        def tell(trouble: str) -> None:
            if trouble:
                self.done.failed.append(trouble)
            progress.done(step, Usage())

        return tell
