"""Write `run.json`: everything needed to repeat a run."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fabula.config.settings import SECRET
from fabula.errors import FabulaError
from fabula.models.usage import Usage, sum_usage
from fabula_bench.log import PEER, RUN, Log, read_json, replace_file
from fabula_bench.metrics import Metric
from fabula_bench.model import DataSet, Result
from fabula_bench.plan import TestedSystem, models, version_info
from fabula_bench.report.about import (
    Data,
    Measure,
    Run,
    RunQuestion,
    Stage,
    SweepPoint,
    System,
)
from fabula_bench.suite import Suite

PACKAGES = ("fabula", "neo4j", "numpy", "scikit-learn", "openai", "wordllama", "ragas")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The record of a folder of results, updated and written during the run.

    `clock` has wall-clock seconds by stage and by graph or system, over all runs into this folder;
    those of a run that was killed are lost. `graphs` is the usage of each system's graph, whenever
    it was built, and `nodes` how many nodes of each kind it has; `left_out` says why a metric is
    not measured; `peers` are systems that other programs added to the folder.
    """

    folder: Path
    suite: Suite
    data: DataSet
    systems: Sequence[TestedSystem]
    metrics: Sequence[Metric]
    left_out: Mapping[str, str]
    command: str
    limits: Mapping[str, Any]
    started: str
    finished: str | None
    peers: Sequence[Mapping[str, Any]]
    versions: dict[str, str]
    clock: dict[str, dict[str, float]] = field(default_factory=dict)
    graphs: dict[str, dict[str, Usage]] = field(default_factory=dict)
    nodes: dict[str, dict[str, int]] = field(default_factory=dict)

    def add_seconds(self, stage: str, name: str, seconds: float) -> None:
        """Add to the time of a stage for a graph or a system."""
        seconds_by_name = self.clock.setdefault(stage, {})
        seconds_by_name[name] = seconds_by_name.get(name, 0.0) + seconds

    def write(self, log: Log, finished: str | None = None) -> None:
        """Write `run.json` with the present state; `finished` is when the run was complete."""
        run = Run(
            suite=self.suite.name,
            purpose=self.suite.purpose,
            ask=self.systems[0].ask,
            command=self.command,
            offline=self.systems[0].settings.offline,
            started=self.started,
            finished=finished,
            data=Data(
                self.data.name,
                len(self.data.texts),
                self.data.sha256,
                part=self.suite.data.part,
                hard=self.suite.data.hard,
                subset=self.data.subset,
            ),
            questions=tuple(
                RunQuestion(question.id, question.text, question.kind, question.is_hard)
                for question in self.data.questions
            ),
            systems=tuple(self._system(system, log.of(system.name)) for system in self.systems),
            metrics=tuple(
                Measure(
                    metric.name, metric.lowest, _end(metric.highest), metric.source, metric.blind
                )
                for metric in self.metrics
            ),
            seeds={"questions": self.suite.seed} | _seeds(self.systems[0]),
            versions=self.versions,
            limits=self.limits,
        )
        details = {
            "identity": identity(self.suite, self.data, self.systems),
            "plan": self.suite.model_dump(mode="json"),
            "left_out": dict(self.left_out),
            "collections": {system.name: system.settings.collection for system in self.systems},
            "filters": {system.name: system.filters for system in self.systems if system.filters},
            "clock": self.clock,
            "nodes": self.nodes,
            "graphs": {
                name: {model: usage.counts for model, usage in spent.items()}
                for name, spent in self.graphs.items()
            },
        }
        content = asdict(run) | details
        content["systems"] = [*content["systems"], *self.peers]
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        replace_file(self.folder / RUN, f"{text}\n")

    def _system(self, tested: TestedSystem, results: Sequence[Result]) -> System:
        settings = tested.settings
        graph = settings.collection
        stages = {}
        if graph in self.graphs:
            stages["ingest"] = Stage(self._time("ingest", graph), self.graphs[graph])
        if results:
            ask_usage = sum_usage(result.spent for result in results)
            score_usage = sum_usage(result.judged for result in results)
            stages["ask"] = Stage(self._time("ask", tested.name), ask_usage)
            stages["score"] = Stage(self._time("score", tested.name), score_usage)
        sweep = self.suite.sweep
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


def open_record(
    folder: Path,
    log: Log,
    suite: Suite,
    data: DataSet,
    systems: Sequence[TestedSystem],
    metrics: Sequence[Metric],
    left_out: Mapping[str, str],
    command: str,
    limits: Mapping[str, Any],
) -> RunRecord:
    """Return the record of a folder, which continues an existing one.

    Raises:
        FabulaError: The folder belongs to another run: of another version of Fabula, another suite,
            other data, or other settings of a system with results.
    """
    previous = read_json(folder / RUN) or {}
    if not previous and any(not result.system.startswith(PEER) for result in log.results):
        raise FabulaError(
            f"{folder} has results, but no {RUN} that says whose: name another folder with --out."
        )
    if previous:
        _refuse_foreign(folder, previous, identity(suite, data, systems), systems)
    return RunRecord(
        folder=folder,
        suite=suite,
        data=data,
        systems=systems,
        metrics=metrics,
        left_out=left_out,
        command=command,
        limits=limits,
        started=previous.get("started") or now(),
        finished=previous.get("finished"),
        peers=[system for system in previous.get("systems", []) if system["name"].startswith(PEER)],
        versions=_versions(),
        clock=previous.get("clock", {}),
        graphs=_graphs(previous),
        nodes=previous.get("nodes", {}),
    )


def _graphs(previous: Mapping[str, Any]) -> dict[str, dict[str, Usage]]:
    """Return the usage of each system's graph, by model, from a previous record."""
    return {
        name: {model: Usage(**usage) for model, usage in spent.items()}
        for name, spent in previous.get("graphs", {}).items()
    }


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
    previous_version, made_by = (
        previous.get("versions", {}).get("fabula", "(unknown)"),
        "other prompts",
    )
    if previous_version != now["fabula"]:
        made_by = f"Fabula {previous_version}"
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


def _seeds(system: TestedSystem) -> dict[str, int]:
    """Return the seeds of a system's graphs by their full names."""
    return {
        name: value for name, value in system.settings.values().items() if name.endswith(".seed")
    }


def _end(highest: float) -> float | None:
    """Return None for infinity, which JSON lacks."""
    return None if math.isinf(highest) else highest


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
