"""What a run says of itself in `run.json`: `json.dumps(dataclasses.asdict(Run(...)))`.

The runner writes it anew when a system is done, so that an unfinished run can be reported. With
`results.jsonl`, one Result a line, it's all that a report is made from. Keys that are not listed
here are let be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fabula.models.usage import Usage


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """A question of the run, less its words: what results are grouped and clustered by.

    `text` is the id of its text; `kind` and `is_hard` as in Question.
    """

    id: str
    text: str
    kind: str = ""
    is_hard: bool | None = None


@dataclass(frozen=True, slots=True)
class Data:
    """The data set: `sha256` by file name; `texts` counts them.

    `hard`: only questions of the hard subset; `subset` describes which texts were taken, with the
    published counts.
    """

    name: str
    texts: int
    sha256: Mapping[str, str]
    part: str = ""
    hard: bool = False
    subset: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage of a system took: wall-clock seconds, and by model what it was asked for."""

    seconds: float
    spent: Mapping[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """Where a system lies in a sweep: one curve per `series`, over the values of `setting`.

    `series` is the system's name in the suite. Values that are no numbers make no curve.
    """

    setting: str
    value: bool | float | str
    series: str


@dataclass(frozen=True, slots=True)
class System:
    """A system under test; its `name` is Result.system, and names no other system of the run.

    `settings` are all in effect, secrets left out; `models` by their use (chat, embedding, judge);
    `stages` by name: ingest, ask, score; one that was not run is left out. `nodes` are
    how many nodes of each kind its graph has over all texts.
    """

    name: str
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    stages: Mapping[str, Stage]
    swept: SweepPoint | None = None
    nodes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of the run, by the attributes of Metric; `highest` is None where it has no limit."""

    name: str
    lowest: float
    highest: float | None
    source: str
    blind: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a suite. `systems` and `metrics` in the suite's order: the first is the baseline.

    `offline`: answers and summaries are extracts of the text, no model wrote them. Times are ISO
    8601 with an offset; `finished` is None until all is done. `questions` are all that the run is
    about, asked already or not. `limits` are as they were given (--limit, --max-calls). `left_out`
    says by metric why it isn't measured; `filters` by system which passages alone it may find.
    """

    suite: str
    purpose: str
    ask: Literal["answer", "choose", "retrieve", "build"]
    command: str
    offline: bool
    started: str
    finished: str | None
    data: Data
    questions: tuple[RunQuestion, ...]
    systems: tuple[System, ...]
    metrics: tuple[Measure, ...]
    seeds: Mapping[str, int]
    versions: Mapping[str, str]
    limits: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
