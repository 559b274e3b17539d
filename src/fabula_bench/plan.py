"""Plan a run: the systems of a suite with all their settings, and the questions."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fabula.ask.agent import PROMPTS as READING_PROMPTS
from fabula.config.recipes import make_recipes
from fabula.config.settings import Settings, presets, resolve_name, setting_fields
from fabula.errors import FabulaError, SettingsError
from fabula.graph.installed import graph, graphs
from fabula.graph.recipes import with_bases
from fabula.models import prompts
from fabula.models.batch_options import BatchOptions
from fabula.text.metadata import format_metadata
from fabula_bench.data import SMOKE, describe_subset, read
from fabula_bench.metrics import judging
from fabula_bench.model import BenchQuestion, DataSet
from fabula_bench.suite import METHOD, MODELS, RUNNING, Ask, Suite, SystemPart

DATA = "data"
"""The folder of the data sets; each is in a folder of its name."""


@dataclass(frozen=True, slots=True)
class TestedSystem:
    """A system under test with all its settings.

    `filters` are fields of a `Query`; in a sweep `series` is the system of the suite that is varied
    and `value` that of the setting; `fingerprint` is a hash of all that its results depend on but
    the data.
    """

    name: str
    ask: Ask
    settings: Settings
    filters: Mapping[str, str | tuple[str, ...]]
    series: str
    value: bool | int | float | str | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class BenchRun:
    """What to run, and the folder that the results are written into.

    `given` are settings of the run and models from flags; `data`, `texts` and `questions` take the
    place of the suite's folder and limits; `command` repeats the run; `batch` is how graphs ask
    models by batches.
    """

    suite: Suite
    folder: Path
    given: Mapping[str, Any]
    data: Path | None = None
    texts: int | None = None
    questions: int | None = None
    command: str = ""
    batch: BatchOptions | None = None


def read_data(suite: Suite, folder: Path | None) -> DataSet:
    """Read the data of a suite with the questions it selects; may raise FabulaError."""
    part = suite.data
    usual = Path(part.folder or Path(DATA, part.set))
    files = folder or (SMOKE / part.set if part.shipped else usual)
    data = read(part.set, files, part.part, part.only)
    hard = [question for question in data.questions if question.is_hard]
    questions = [
        question
        for question in (hard if part.hard else data.questions)
        if (question.triples if suite.ask == "build" else question.question)
    ]
    if not questions:
        what = "hard question: it doesn't say which are" if part.hard else "question"
        where = f" of {part.only}" if part.only else ""
        raise FabulaError(f"The data set {part.set}, {part.part}, has no {what}{where}.")
    if part.by:
        values = {text.id: format_metadata(text.metadata.get(part.by, "")) for text in data.texts}
        questions = [replace(each, kind=values.get(each.text, "")) for each in questions]
    data = replace(data, questions=tuple(questions))
    if not part.only:
        return data
    return replace(data, subset=describe_subset(data, part.part, hard=part.hard))


def read_limited_data(bench: BenchRun) -> DataSet:
    """Read the data of a run with its limits of texts and questions; may raise FabulaError."""
    limits, whole = bench.suite.limits, read_data(bench.suite, bench.data)
    texts = bench.texts or limits.texts
    data = limit_questions(whole, texts, bench.questions or limits.questions, bench.suite.seed)
    if bench.suite.data.scope == "collection" and texts is None:
        # Each question is asked over all texts, those included that none is about.
        return replace(data, texts=whole.texts)
    return data


def limit_questions(data: DataSet, texts: int | None, questions: int | None, seed: int) -> DataSet:
    """Draw at most a number of texts, and questions that are spread evenly over them.

    Texts that are relevant to a question are taken, too, beside the one that it is about. A smaller
    draw is always part of a larger one with the same seed, so that a run can grow. The order of the
    data set stays.
    """
    draw = random.Random(seed)
    by_text: dict[str, list[BenchQuestion]] = {}
    for question in data.questions:
        by_text.setdefault(question.text, []).append(question)
    for questions_of_text in by_text.values():
        draw.shuffle(questions_of_text)
    drawn = list(by_text)
    draw.shuffle(drawn)
    turns = _interleave([by_text[text] for text in drawn[:texts]])
    chosen = {turn.id for turn in turns[:questions]}
    limited = tuple(question for question in data.questions if question.id in chosen)
    used = {text for question in limited for text in (question.text, *question.relevant)}
    return replace(
        data, texts=tuple(text for text in data.texts if text.id in used), questions=limited
    )


def _interleave(lists: Sequence[Sequence[BenchQuestion]]) -> list[BenchQuestion]:
    """Return the first of each list, then the second of each, and so on."""
    longest = max(map(len, lists), default=0)
    return [
        questions[position]
        for position in range(longest)
        for questions in lists
        if position < len(questions)
    ]


def plan_systems(suite: Suite, data: DataSet, overrides: Mapping[str, Any]) -> list[TestedSystem]:
    """Return the systems of a suite in order; each value of a sweep is a system.

    The settings of a system come only from its suite, its preset and the defaults, so that nothing
    in the environment changes what is measured. `overrides` are settings of the run and models from
    flags, which are stronger than the suite's models. Without a chat model only contexts are asked
    for.

    Raises:
        SettingsError: A setting or a graph does not exist.
    """
    return [
        _plan_system(suite, data, overrides, name, system, value)
        for name, system in suite.systems.items()
        for value in _values(suite, name)
    ]


def _values(suite: Suite, name: str) -> tuple[bool | int | float | str | None, ...]:
    sweep = suite.sweep
    return sweep.values if sweep and name in (sweep.systems or suite.systems) else (None,)


def _plan_system(
    suite: Suite,
    data: DataSet,
    overrides: Mapping[str, Any],
    series: str,
    system: SystemPart,
    value: bool | int | float | str | None,
) -> TestedSystem:
    own_settings = {**_common_settings(suite, system), **system.settings}
    name = series
    if suite.sweep and value is not None:
        own_settings |= dict.fromkeys(suite.sweep.axis, value)
        name = f"{series}, {suite.sweep.label} {value}"
    try:
        settings = _settings(suite, overrides, system, own_settings)
        graph_names = [graph(name).name for name in settings.graphs]
    except SettingsError as error:
        raise SettingsError(f"Suite {suite.name}, system {name!r}: {error}") from error
    filters: dict[str, str | tuple[str, ...]] = {"where": system.where} if system.where else {}
    if system.aspects:
        filters["aspects"] = ("", *system.aspects)
    if system.kinds:
        filters["kinds"] = system.kinds
    # Graphs can be compared without a model, too: rules build them.
    ask: Ask = "retrieve" if settings.offline and suite.ask != "build" else suite.ask
    # A graph over all texts depends on which they are; graphs of single texts are shared by suites.
    made_from = make_recipes(settings, "", with_bases(graphs(), graph_names))
    texts = [text.id for text in data.texts] if suite.data.scope == "collection" else []
    collection = f"bench-{data.name}-{_digest([made_from, texts, version_info()])[:8]}"
    result = {
        "ask": ask,
        "filters": filters,
        "settings": {
            name: value for name, value in settings.values().items() if name not in RUNNING
        },
        "made_from": made_from,
    }
    return TestedSystem(
        name=name,
        ask=ask,
        settings=settings.model_copy(update={"collection": collection}),
        filters=filters,
        series=series,
        value=value,
        fingerprint=_digest(result),
    )


def _common_settings(suite: Suite, system: SystemPart) -> dict[str, Any]:
    """Return the settings of all systems as they hold for one."""
    common = dict(suite.settings)
    # Even to a preset that names none: a baseline with the graphs of the other systems would search
    # their summaries and details, too.
    if "graphs" in presets()[system.preset]:
        common.pop("graphs", None)
    return common


def _settings(
    suite: Suite, overrides: Mapping[str, Any], system: SystemPart, own_settings: Mapping[str, Any]
) -> Settings:
    """Combine the defaults, the preset and the system's own settings; see `plan_systems`."""
    preset = presets()[system.preset]
    method = {name: setting_fields()[name].get_default() for name in METHOD}
    preset = {name: value for name, value in _full_names(preset).items() if name in METHOD}
    flags = method | preset | _full_names(own_settings)
    return Settings.read(**{**flags, **suite.models, **overrides, "preset": system.preset})


def _full_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their full names; the later of two names for one setting wins."""
    return {resolve_name(name): value for name, value in values.items()}


def version_info() -> dict[str, str]:
    """Return Fabula's version and a hash of all prompts, on which results depend too."""
    of_graphs = [graph.prompts for graph in graphs().values() if graph.prompts]
    texts = {
        f"{folder.parent.name}/{file.name}": file.read_text(encoding="utf-8")
        for folder in (prompts.FOLDER, judging.FOLDER, READING_PROMPTS, *of_graphs)
        for file in folder.glob("*.txt")
    }
    return {"fabula": version("fabula"), "prompts": _digest(texts)}


def models(settings: Settings) -> dict[str, str]:
    """Return the models that a system uses, by the name of the setting."""
    return {name: getattr(settings, name) for name in MODELS if getattr(settings, name)}


def _digest(value: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
