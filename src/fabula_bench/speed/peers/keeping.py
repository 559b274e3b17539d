"""What the peers did, beside a run's own: `peers.json`, and their systems in `run.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabula.errors import FabulaError
from fabula_bench.log import PEER, RUN, Log, read_json, replace_file
from fabula_bench.report.about import Stage, System
from fabula_bench.speed.peers.asking import Cost
from fabula_bench.speed.peers.catalogue import Peer

FILE = "peers.json"


@dataclass(slots=True)
class Outcome:
    """How it went with one peer: of the questions `asked`, `answered` have a result now.

    `skipped` says why it stopped, before or amid its questions.
    """

    peer: Peer
    models: Mapping[str, str]
    questions: int
    answered: int = 0
    indexing: Cost = field(default_factory=Cost)
    failed: list[str] = field(default_factory=list)
    skipped: str = ""


def keep(folder: Path, outcomes: Iterable[Outcome], log: Log) -> None:
    """Writes peers.json, and puts the peers among the systems of run.json.

    Those of earlier runs into this folder stay. Raises FabulaError where there is no run.json.
    """
    entries = (read_json(folder / FILE) or {}) | {
        outcome.peer.name: _entry(outcome) for outcome in outcomes
    }
    _write(folder / FILE, entries)
    run = read_json(folder / RUN)
    if run is None:
        raise FabulaError(f"{folder} holds no run.")
    own = [system for system in run["systems"] if not system["name"].startswith(PEER)]
    peers = [asdict(_system(name, entry, log)) for name, entry in entries.items()]
    _write(folder / RUN, run | {"systems": own + peers})


def _entry(outcome: Outcome) -> dict[str, Any]:
    return {
        "title": outcome.peer.title,
        "package": f"{outcome.peer.package}=={outcome.peer.version}",
        "licence": outcome.peer.licence,
        "models": dict(outcome.models),
        "asked": outcome.questions,
        "answered": outcome.answered,
        "indexing": asdict(outcome.indexing),
        "failed": outcome.failed,
        "skipped": outcome.skipped,
    }


def _system(name: str, entry: Mapping[str, Any], log: Log) -> System:
    """A peer as a report shows it; one with results was not skipped, whatever came after them."""
    results = log.of(f"{PEER}{name}")
    asking = Cost()
    for result in results:
        asking.add(Cost(result.seconds, dict(result.spent)))
    stages = {
        "ingest": Stage(entry["indexing"]["seconds"], entry["indexing"]["spent"]),
        "ask": Stage(round(asking.seconds, 3), asking.spent),
    }
    return System(
        name=f"{PEER}{name}",
        settings={key: entry[key] for key in ("title", "package", "licence")},
        models=entry["models"],
        stages=stages if results else {},
        skipped="" if results else entry["skipped"] or "it answered no question",
    )


def _write(path: Path, value: Mapping[str, Any]) -> None:
    replace_file(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
