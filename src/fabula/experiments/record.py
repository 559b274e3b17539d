"""What a run says of itself, in `run.json`: all that it takes to run it again."""

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

from fabula.errors import FabulaError
from fabula.experiments.log import PEER, RUN, Log, read_json, replace_file
from fabula.experiments.metrics import Metric
from fabula.experiments.model import DataSet, Result
from fabula.experiments.plan import Tested, made_with, models, told
from fabula.experiments.report.about import Asked, Data, Measure, Run, Stage, Swept, System
from fabula.experiments.suite import Suite
from fabula.models.usage import Usage, sum_usage

PACKAGES = ("fabula", "neo4j", "numpy", "scikit-learn", "openai", "wordllama", "ragas")
SECRETS = frozenset({"api_key", "neo4j_password"})


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one folder, brought up to date and written as the run goes.

    `clock` are wall-clock seconds by stage and by graph or system, over all the runs into this
    folder; those of a run that was killed are lost. `graphs` is what each system's graph cost,
    whenever that was; `left_out` says why a metric is not measured; `peers` are the systems that
    others put into the folder.
    """

    folder: Path
    suite: Suite
    data: DataSet
    systems: Sequence[Tested]
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

    def took(self, stage: str, name: str, seconds: float) -> None:
        """Adds to the time that a stage took for a graph or a system."""
        kept = self.clock.setdefault(stage, {})
        kept[name] = kept.get(name, 0.0) + seconds

    def write(self, log: Log, finished: str | None = None) -> None:
        """Writes `run.json` as things stand; `finished` says when all was done."""
        run = Run(
            suite=self.suite.name,
            purpose=self.suite.purpose,
            ask=self.systems[0].ask,
            command=self.command,
            offline=self.systems[0].settings.offline,
            started=self.started,
            finished=finished,
            data=Data(self.data.name, len(self.data.texts), self.data.sha256),
            questions=tuple(
                Asked(question.id, question.text, question.kind, question.is_hard)
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
        own = {
            "identity": identity(self.suite, self.data, self.systems),
            "plan": self.suite.model_dump(mode="json"),
            "left_out": dict(self.left_out),
            "collections": {system.name: system.settings.collection for system in self.systems},
            "filters": {system.name: system.filters for system in self.systems if system.filters},
            "clock": self.clock,
            "graphs": {
                name: {model: usage.counts for model, usage in spent.items()}
                for name, spent in self.graphs.items()
            },
        }
        whole = asdict(run) | own
        whole["systems"] = [*whole["systems"], *self.peers]
        text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
        replace_file(self.folder / RUN, f"{text}\n")

    def _system(self, tested: Tested, results: Sequence[Result]) -> System:
        settings = tested.settings
        graph = settings.collection
        stages = {}
        if graph in self.graphs:
            stages["ingest"] = Stage(self._time("ingest", graph), self.graphs[graph])
        if results:
            asked = sum_usage(result.spent for result in results)
            scored = sum_usage(result.judged for result in results)
            stages["ask"] = Stage(self._time("ask", tested.name), asked)
            stages["score"] = Stage(self._time("score", tested.name), scored)
        sweep = self.suite.sweep
        swept = None
        if sweep and tested.value is not None:
            swept = Swept(sweep.setting, tested.value, tested.series)
        values = {name: value for name, value in told(settings).items() if name not in SECRETS}
        return System(
            name=tested.name,
            settings=values | {"base_url": _without_user(settings.base_url)},
            models=models(settings),
            stages=stages,
            swept=swept,
        )

    def _time(self, stage: str, name: str) -> float:
        return round(self.clock.get(stage, {}).get(name, 0.0), 3)


def opened(
    folder: Path,
    log: Log,
    suite: Suite,
    data: DataSet,
    systems: Sequence[Tested],
    metrics: Sequence[Metric],
    left_out: Mapping[str, str],
    command: str,
    limits: Mapping[str, Any],
) -> Record:
    """The record of a folder, gone on with where it has one.

    Raises FabulaError where the folder is another run's: of another version of Fabula, another
    suite, other data, or other settings of a system with results.
    """
    former = read_json(folder / RUN) or {}
    if not former and any(not result.system.startswith(PEER) for result in log.results):
        raise FabulaError(
            f"{folder} has results, but no {RUN} that says whose: name another folder with --out."
        )
    if former:
        _refuse_foreign(folder, former, identity(suite, data, systems), systems)
    return Record(
        folder=folder,
        suite=suite,
        data=data,
        systems=systems,
        metrics=metrics,
        left_out=left_out,
        command=command,
        limits=limits,
        started=former.get("started") or now(),
        finished=former.get("finished"),
        peers=[one for one in former.get("systems", []) if one["name"].startswith(PEER)],
        versions=_versions(),
        clock=former.get("clock", {}),
        graphs=_graphs(former),
    )


def _graphs(former: Mapping[str, Any]) -> dict[str, dict[str, Usage]]:
    """What each system's graph cost, by model, as a run before this one knew it."""
    return {
        name: {model: Usage(**usage) for model, usage in spent.items()}
        for name, spent in former.get("graphs", {}).items()
    }


def identity(suite: Suite, data: DataSet, systems: Sequence[Tested]) -> dict[str, Any]:
    """What two runs into one folder must have in common; how many questions they ask is free."""
    return {
        "made_with": made_with(),
        "suite": suite.name,
        "data": {
            **suite.data.model_dump(include={"set", "part", "hard", "scope"}),
            "sha256": dict(data.sha256),
        },
        "metrics": list(suite.metrics),
        "seed": suite.seed,
        "systems": {system.name: system.fingerprint for system in systems},
    }


def _refuse_foreign(
    folder: Path, former: Mapping[str, Any], now: Mapping[str, Any], systems: Sequence[Tested]
) -> None:
    before = former.get("identity") or {}
    if before.get("made_with") != now["made_with"]:
        raise FabulaError(_other_version(folder, former, now["made_with"]))
    differs = [
        name for name in ("suite", "data", "metrics", "seed") if before.get(name) != now[name]
    ]
    if differs == [] and before["systems"].items() <= now["systems"].items():
        return
    if differs:
        what = f"{differs[0]} {before.get(differs[0])!r}, and this one {now[differs[0]]!r}"
    else:
        what = _difference(former, before["systems"], systems)
    raise FabulaError(
        f"{folder} holds another run, with {what}: name another folder with --out, or delete it."
    )


def _other_version(folder: Path, former: Mapping[str, Any], now: Mapping[str, str]) -> str:
    was, then = former.get("versions", {}).get("fabula", "(unknown)"), "other prompts"
    if was != now["fabula"]:
        then = f"Fabula {was}"
    return (
        f"{folder} was made with {then}, and this is Fabula {now['fabula']}: results of both can't "
        "be in one table. Name another folder with --out to begin anew, or go on with the version "
        f"that began it. `fabula bench report {folder}` reports what is there."
    )


def _difference(
    former: Mapping[str, Any], before: Mapping[str, str], systems: Sequence[Tested]
) -> str:
    """The first setting of the first system that was another."""
    now = {system.name: system for system in systems}
    for system in former.get("systems", []):
        name = system["name"]
        if name in before and name not in now:
            return f"a system {name!r} that this one hasn't"
        if name not in before or before[name] == now[name].fingerprint:
            continue
        settings = told(now[name].settings)
        for key, value in system["settings"].items():
            if key in settings and settings[key] != value and key not in ("collection", "base_url"):
                return f"{key} {value!r} for {name!r}, and this one {settings[key]!r}"
        return f"other filters or aspects for {name!r}"
    return "other systems"


def _seeds(system: Tested) -> dict[str, int]:
    """The seeds of what its graphs are made with, by their whole names."""
    return {name: value for name, value in told(system.settings).items() if name.endswith(".seed")}


def _end(highest: float) -> float | None:
    """JSON has no infinity."""
    return None if math.isinf(highest) else highest


def _versions() -> dict[str, str]:
    """Versions of what results depend on; the Neo4j server's is added once it is reached."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found["neo4j driver" if name == "neo4j" else name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _without_user(url: str | None) -> str | None:
    """An address without a name and password in it."""
    scheme, slashes, rest = (url or "").partition("://")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}" if url else None


def now() -> str:
    """The time, in UTC, as ISO 8601 has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
