"""Write `run.json`: everything needed to repeat a run."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fabula.config.settings import SECRET
from fabula.errors import FabulaError
from fabula.models.usage import Usage, sum_usage
from fabula_bench.log import RUN, Log, read_json, replace_file
from fabula_bench.model import DataSet
from fabula_bench.plan import BenchRun, TestedSystem, models, version_info
from fabula_bench.report.about import Data, Measure, Run, RunQuestion, Stage, SweepPoint, System
from fabula_bench.scoring import RunMetrics
from fabula_bench.suite import Suite

PACKAGES = ("fabula", "neo4j", "numpy", "scikit-learn", "openai", "wordllama", "ragas")


class RunRecord:
    """The record of a folder of results, updated and written during the run.

    A record that the folder has already is continued.

    Attributes:
        versions: Of packages; that of the Neo4j server is added during the run.
        clock: Wall-clock seconds by stage and by graph or system, over all runs into this folder;
            those of a run that was killed are lost.
        graphs: The usage of each system's graph, whenever it was built.
        nodes: How many nodes of each kind each graph has.
        finished: When the run was complete.

    Raises:
        FabulaError: The folder belongs to another run: of another version of Fabula, another suite,
            other data, or other settings of a system with results.
    """

    def __init__(
        self,
        bench: BenchRun,
        log: Log,
        data: DataSet,
        systems: Sequence[TestedSystem],
        metrics: RunMetrics,
    ) -> None:
        self.bench, self.log, self.data, self.systems = bench, log, data, systems
        self._metrics, folder = metrics, bench.folder
        previous = read_json(folder / RUN) or {}
        if not previous and log.results:
            raise FabulaError(
                f"{folder} has results, but no {RUN} that says whose: name another folder with "
                "--out."
            )
        self._identity = identity(bench.suite, data, systems)
        if previous:
            _refuse_foreign(folder, previous, self._identity, systems)
        self._started = previous.get("started") or now()
        self.finished: str | None = previous.get("finished")
        self.versions = _versions()
        self.clock: dict[str, dict[str, float]] = previous.get("clock", {})
        self.graphs = {
            name: {model: Usage(**usage) for model, usage in spent.items()}
            for name, spent in previous.get("graphs", {}).items()
        }
        self.nodes: dict[str, dict[str, int]] = previous.get("nodes", {})

    def add_seconds(self, stage: str, name: str, seconds: float) -> None:
        """Add to the time of a stage for a graph or a system."""
        seconds_by_name = self.clock.setdefault(stage, {})
        seconds_by_name[name] = seconds_by_name.get(name, 0.0) + seconds

    def write(self, finished: str | None = None) -> None:
        """Write `run.json` with the present state; `finished` is when the run was complete."""
        suite, first = self.bench.suite, self.systems[0]
        run = Run(
            suite=suite.name,
            purpose=suite.purpose,
            ask=first.ask,
            command=self.bench.command,
            offline=first.settings.offline,
            started=self._started,
            finished=finished,
            data=Data(
                self.data.name,
                len(self.data.texts),
                self.data.sha256,
                part=suite.data.part,
                hard=suite.data.hard,
                subset=self.data.subset,
            ),
            questions=tuple(
                RunQuestion(question.id, question.text, question.kind, question.is_hard)
                for question in self.data.questions
            ),
            systems=tuple(map(self.describe, self.systems)),
            metrics=tuple(
                Measure(
                    metric.name,
                    metric.lowest,
                    # JSON lacks infinity.
                    None if math.isinf(metric.highest) else metric.highest,
                    metric.source,
                    metric.blind,
                )
                for metric in self._metrics.metrics
            ),
            seeds={"questions": suite.seed}
            | {
                name: seed
                for name, seed in first.settings.values().items()
                if name.endswith(".seed")
            },
            versions=self.versions,
            limits={
                "max_calls": self.bench.given.get("max_calls"),
                "max_tokens": self.bench.given.get("max_tokens"),
                "texts": self.bench.texts,
                "questions": self.bench.questions,
            },
            left_out=dict(self._metrics.left_out),
            filters={system.name: system.filters for system in self.systems if system.filters},
        )
        details = {
            "identity": self._identity,
            "plan": suite.model_dump(mode="json"),
            "collections": {system.name: system.settings.collection for system in self.systems},
            "clock": self.clock,
            "nodes": self.nodes,
            "graphs": {
                name: {model: usage.counts for model, usage in spent.items()}
                for name, spent in self.graphs.items()
            },
        }
        content = asdict(run) | details
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        replace_file(self.bench.folder / RUN, f"{text}\n")

    def describe(self, tested: TestedSystem) -> System:
        """Return a system with its stages, as the record has it."""
        settings, results = tested.settings, self.log.of(tested.name)
        graph = settings.collection
        stages = {}
        if graph in self.graphs:
            stages["ingest"] = Stage(self._time("ingest", graph), self.graphs[graph])
        if results:
            ask_usage = sum_usage(result.spent for result in results)
            score_usage = sum_usage(result.judged for result in results)
            stages["ask"] = Stage(self._time("ask", tested.name), ask_usage)
            stages["score"] = Stage(self._time("score", tested.name), score_usage)
        sweep = self.bench.suite.sweep
        swept = None
        if sweep and tested.value is not None:
            swept = SweepPoint(sweep.label, tested.value, tested.series)
        values = {name: value for name, value in settings.values().items() if name not in SECRET}
        return System(
            name=tested.name,
            settings=values,
            models=models(settings),
            stages=stages,
            swept=swept,
            nodes=self.nodes.get(graph, {}),
        )

    def _time(self, stage: str, name: str) -> float:
        return round(self.clock.get(stage, {}).get(name, 0.0), 3)


def identity(suite: Suite, data: DataSet, systems: Sequence[TestedSystem]) -> dict[str, Any]:
    """Return what runs into one folder must have in common; the number of questions may differ."""
    return {
        "made_with": version_info(),
        "suite": suite.name,
        "data": {
            **suite.data.model_dump(include={"set", "part", "hard", "only", "scope"}),
            "sha256": dict(data.sha256),
        },
        "metrics": list(suite.metrics),
        "seed": suite.seed,
        "systems": {system.name: system.fingerprint for system in systems},
    }


def _refuse_foreign(
    folder: Path,
    previous: Mapping[str, Any],
    now: Mapping[str, Any],
    systems: Sequence[TestedSystem],
) -> None:
    before = previous.get("identity") or {}
    if before.get("made_with") != now["made_with"]:
        raise FabulaError(_other_version(folder, previous, now["made_with"]))
    differs = [
        name for name in ("suite", "data", "metrics", "seed") if before.get(name) != now[name]
    ]
    if differs == [] and before["systems"].items() <= now["systems"].items():
        return
    if differs:
        what = f"{differs[0]} {before.get(differs[0])!r}, and this one {now[differs[0]]!r}"
    else:
        what = _difference(previous, before["systems"], systems)
    raise FabulaError(
        f"{folder} contains another run, with {what}: name another folder with --out, or delete it."
    )


def _other_version(folder: Path, previous: Mapping[str, Any], now: Mapping[str, str]) -> str:
    before = previous.get("versions", {}).get("fabula", "(unknown)")
    made_by = "other prompts" if before == now["fabula"] else f"Fabula {before}"
    return (
        f"{folder} was made with {made_by}, and this is Fabula {now['fabula']}: results of "
        "both can't be in one table. Name another folder with --out, or continue with the version "
        f"that began it. `fabula bench report {folder}` reports the existing results."
    )


def _difference(
    previous: Mapping[str, Any], before: Mapping[str, str], systems: Sequence[TestedSystem]
) -> str:
    """Return the first setting that differs, in words."""
    now = {system.name: system for system in systems}
    for system in previous.get("systems", []):
        name = system["name"]
        if name in before and name not in now:
            return f"a system {name!r} that this one hasn't"
        if name not in before or before[name] == now[name].fingerprint:
            continue
        settings = now[name].settings.values()
        for key, value in system["settings"].items():
            if key in settings and settings[key] != value and key not in ("collection", "base_url"):
                return f"{key} {value!r} for {name!r}, and this one {settings[key]!r}"
        return f"other filters or aspects for {name!r}"
    return "other systems"


def _versions() -> dict[str, str]:
    """Return the versions of packages; that of the Neo4j server is added during the run."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions["neo4j driver" if name == "neo4j" else name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def now() -> str:
    """Return the time in UTC, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
