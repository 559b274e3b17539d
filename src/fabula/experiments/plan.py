"""What a run will do: the systems of a suite with all their settings, and the questions."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fabula.config.kit import Kit
from fabula.config.settings import Settings, names, paths, presets
from fabula.errors import FabulaError, SettingsError
from fabula.experiments.data import SMOKE, read
from fabula.experiments.metrics import judging
from fabula.experiments.model import DataSet, Question
from fabula.experiments.suite import METHOD, MODELS, RUNNING, Ask, Suite, SystemPart
from fabula.graph.installed import graph, graphs
from fabula.graph.recipes import with_bases
from fabula.models import prompts

DATA = "data"
"""The folder in which data sets are looked for, each in one of its name."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A system under test, its settings complete.

    `filters` are fields of a `Query`; `series` and `value` say where it lies in a sweep: the
    system that is varied, and the setting's value, None where there is no sweep. `fingerprint` is
    of all that its results depend on but the data.
    """

    name: str
    ask: Ask
    settings: Settings
    filters: Mapping[str, tuple[str, ...]]
    series: str
    value: bool | int | float | str | None
    fingerprint: str


def read_data(suite: Suite, folder: Path | None) -> DataSet:
    """The suite's data, its questions filtered as it says. Raises DataError, or FabulaError."""
    part = suite.data
    usual = Path(part.folder or Path(DATA, part.set))
    found = read(part.set, folder or (SMOKE / part.set if part.shipped else usual), part.part)
    hard = [question for question in found.questions if question.is_hard]
    questions = hard if part.hard else found.questions
    if not questions:
        what = "hard question: it doesn't say which are" if part.hard else "question"
        raise FabulaError(f"The data set {part.set}, {part.part}, has no {what}.")
    return replace(found, questions=tuple(questions))


def limited(data: DataSet, texts: int | None, questions: int | None, seed: int) -> DataSet:
    """At most so many texts, and questions spread evenly over them, all drawn by the seed.

    Fewer are always among more, so that a run can grow. The order stays the data set's.
    """
    draw = random.Random(seed)
    by_text: dict[str, list[Question]] = {}
    for question in data.questions:
        by_text.setdefault(question.text, []).append(question)
    for asked in by_text.values():
        draw.shuffle(asked)
    drawn = list(by_text)
    draw.shuffle(drawn)
    turns = _in_turn([by_text[text] for text in drawn[:texts]])
    kept = {turn.id for turn in turns[:questions]}
    left = tuple(question for question in data.questions if question.id in kept)
    used = {one.text for one in left}
    return replace(
        data, texts=tuple(text for text in data.texts if text.id in used), questions=left
    )


def _in_turn(lists: Sequence[Sequence[Question]]) -> list[Question]:
    """The first of each list, then the second of each, and so on."""
    longest = max(map(len, lists), default=0)
    return [one[turn] for turn in range(longest) for one in lists if turn < len(one)]


def planned(suite: Suite, data: DataSet, given: Mapping[str, Any]) -> list[Tested]:
    """The suite's systems, each value of a sweep one, in order.

    `given` are settings of the run and models, as flags give them; they win over the suite's
    models. A system's own settings come from its suite, its preset and the defaults alone, so that
    nothing in the environment changes what is measured. Without a chat model only contexts are
    asked for. Raises SettingsError.
    """
    return [
        _tested(suite, data, given, name, system, value)
        for name, system in suite.systems.items()
        for value in _values(suite, name)
    ]


def _values(suite: Suite, name: str) -> tuple[bool | int | float | str | None, ...]:
    sweep = suite.sweep
    return sweep.values if sweep and name in (sweep.systems or suite.systems) else (None,)


def _tested(
    suite: Suite,
    data: DataSet,
    given: Mapping[str, Any],
    series: str,
    system: SystemPart,
    value: bool | int | float | str | None,
) -> Tested:
    own = {**suite.settings, **system.settings}
    name = series
    if suite.sweep and value is not None:
        own[suite.sweep.setting] = value
        name = f"{series}, {suite.sweep.setting} {value}"
    try:
        settings = _settings(suite, given, system, own)
        wanted = [graph(name).name for name in settings.graphs]
    except SettingsError as error:
        raise SettingsError(f"Suite {suite.name}, system {name!r}: {error}") from error
    filters: dict[str, tuple[str, ...]] = {}
    if system.aspects:
        filters["aspects"] = ("", *system.aspects)
    if system.kinds:
        filters["kinds"] = system.kinds
    ask: Ask = "retrieve" if settings.offline else suite.ask
    # A graph of all texts is another with other texts; one of each text is the same for all suites.
    made_from = Kit(settings).recipes("", with_bases(graphs(), wanted))
    texts = [text.id for text in data.texts] if suite.data.scope == "collection" else []
    collection = f"bench-{data.name}-{_digest([made_from, texts, made_with()])[:8]}"
    result = {
        "ask": ask,
        "filters": filters,
        "settings": {name: value for name, value in told(settings).items() if name not in RUNNING},
        "made_from": made_from,
    }
    return Tested(
        name=name,
        ask=ask,
        settings=settings.model_copy(update={"collection": collection}),
        filters=filters,
        series=series,
        value=value,
        fingerprint=_digest(result),
    )


def _settings(
    suite: Suite, given: Mapping[str, Any], system: SystemPart, own: Mapping[str, Any]
) -> Settings:
    """The defaults, then the preset, then the system's own; models as `planned` says."""
    preset = presets()[system.preset]
    method = {name: names()[name].get_default() for name in METHOD}
    preset = {name: value for name, value in _whole(preset).items() if name in METHOD}
    flags = method | preset | _whole(own)
    return Settings.read(**{**flags, **suite.models, **given, "preset": system.preset})


def _whole(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their whole names; of two names for the same the later wins."""
    return {path: value for name, value in given.items() for path in paths(name)}


def made_with() -> dict[str, str]:
    """What results depend on beside settings and data: Fabula's version, and its prompts' texts."""
    of_graphs = [graph.prompts for graph in graphs().values() if graph.prompts]
    texts = {
        f"{folder.parent.name}/{file.name}": file.read_text(encoding="utf-8")
        for folder in (prompts.FOLDER, judging.FOLDER, *of_graphs)
        for file in folder.glob("*.txt")
    }
    return {"fabula": version("fabula"), "prompts": _digest(texts)}


def told(settings: Settings) -> dict[str, Any]:
    """All settings by their whole names, as JSON holds them; no password of an address."""
    values = settings.shown()
    tables = values.pop("tables")
    return values | {f"{table}.{name}": own[name] for table, own in tables.items() for name in own}


def models(settings: Settings) -> dict[str, str]:
    """The models of a system by setting, those that are used."""
    return {name: getattr(settings, name) for name in MODELS if getattr(settings, name)}


def _digest(value: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
