"""Data sets of questions about texts, read from the files in which they are released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.errors import DataError
from fabula.experiments.data import graphragbench, narrativeqa, own, quality, squality
from fabula.experiments.data.files import Files, Release
from fabula.experiments.model import DataSet, Question, Text

__all__ = ["NAMES", "SMOKE", "parts", "read"]

SMOKE = Path(__file__).parents[1] / "smoke"
"""A few texts and questions of three data sets, each in a folder of its name."""


@dataclass(frozen=True, slots=True)
class _Set:
    """A data set: how it is released, its parts (none: any file's name is one), its reader."""

    release: Release
    parts: tuple[str, ...]
    read: Callable[[Files, str], tuple[list[Text], list[Question]]]


_SETS: Mapping[str, _Set] = {
    "quality": _Set(quality.RELEASE, quality.PARTS, quality.read),
    "narrativeqa": _Set(narrativeqa.RELEASE, narrativeqa.PARTS, narrativeqa.read),
    "squality": _Set(squality.RELEASE, squality.PARTS, squality.read),
    "graphrag-bench": _Set(graphragbench.RELEASE, graphragbench.PARTS, graphragbench.read),
    "own": _Set(own.RELEASE, (), own.read),
}
NAMES = tuple(_SETS)
"""The data sets that can be read."""


def parts(name: str) -> tuple[str, ...]:
    """The parts of a data set; none for one's own. DataError if there is no such data set."""
    return _set(name).parts


def read(name: str, folder: Path, part: str) -> DataSet:
    """A part of a data set, from the folder that holds its files as they are released.

    Of one's own data set, a part is a file: `PART.jsonl`. Questions have ids of their own: one
    that comes again gets a number. DataError, naming the file and the line, for what is missing
    or not in the format.
    """
    chosen = _set(name)
    if chosen.parts and part not in chosen.parts:
        known = ", ".join(chosen.parts)
        raise DataError(f"{chosen.release.name} has no part {part!r}; its parts are {known}.")
    files = Files(folder, chosen.release)
    texts, questions = chosen.read(files, part)
    return DataSet(name, tuple(texts), tuple(_apart(questions)), dict(files.sha256))


def _set(name: str) -> _Set:
    if name not in _SETS:
        raise DataError(f"There is no data set {name!r}; those known are {', '.join(NAMES)}.")
    return _SETS[name]


def _apart(questions: Iterable[Question]) -> Iterator[Question]:
    """The questions, the second of one id as ID-2, the third as ID-3."""
    seen: Counter[str] = Counter()
    for question in questions:
        seen[question.id] += 1
        count = seen[question.id]
        yield replace(question, id=f"{question.id}-{count}") if count > 1 else question
