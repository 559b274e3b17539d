"""Data sets of questions about texts, read from the files in which they are released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.errors import DataError
from fabula_bench.data import beir, graphragbench, narrativeqa, own, quality, squality
from fabula_bench.data.files import Files, Release
from fabula_bench.data.subsets import Only, PublishedCounts, compare_counts
from fabula_bench.model import BenchQuestion, DataSet, Text

__all__ = ["ALL_PARTS", "NAMES", "SMOKE", "describe_subset", "has_part", "read", "usual_part"]

ALL_PARTS = "all"
"""Stands for all parts of a data set, joined by JOIN."""
JOIN = "+"
SMOKE = Path(__file__).parents[1] / "smoke"
"""A few texts and questions of three data sets, each in a folder of its name."""


@dataclass(frozen=True, slots=True)
class _Set:
    """A data set: how it is released, its parts (none: any file's name is one), its reader.

    `usual` is the part that is read where none is named; `whole` are the parts that together are
    all texts. A set with `gutenberg` says which of its texts are Project Gutenberg's.
    """

    release: Release
    parts: tuple[str, ...]
    read: Callable[..., tuple[list[Text], list[BenchQuestion]]]
    usual: str = ""
    whole: tuple[str, ...] = ()
    gutenberg: PublishedCounts | None = None


_SETS: Mapping[str, _Set] = {
    "quality": _Set(
        quality.RELEASE, quality.PARTS, quality.read, "dev", quality.PARTS, quality.GUTENBERG
    ),
    "narrativeqa": _Set(
        narrativeqa.RELEASE,
        narrativeqa.PARTS,
        narrativeqa.read,
        "test",
        narrativeqa.STORIES,
        narrativeqa.GUTENBERG,
    ),
    "squality": _Set(squality.RELEASE, squality.PARTS, squality.read, "dev", squality.PARTS),
    "graphrag-bench": _Set(
        graphragbench.RELEASE, graphragbench.PARTS, graphragbench.read, "novel", graphragbench.PARTS
    ),
    "beir": _Set(beir.RELEASE, beir.PARTS, beir.read, "test", beir.PARTS),
    "own": _Set(own.RELEASE, (), own.read),
}
NAMES = tuple(_SETS)
"""The data sets that can be read."""


def usual_part(name: str) -> str:
    """Return the part of a data set that is usually reported; '' for your own."""
    return _set(name).usual


def has_part(name: str, part: str) -> bool:
    """Return whether a data set has a part, or all of several that are joined by '+'."""
    chosen = _set(name)
    return not chosen.parts or set(_split(chosen, part)) <= {*chosen.parts}


def read(name: str, folder: Path, part: str, only: Only = "") -> DataSet:
    """Read a part of a data set from the folder that has its files as they are released.

    Several parts are joined by '+', as in `train+dev`, and `all` stands for all of them. In your
    own data set a part is a file: `PART.jsonl`. Each question has an id of its own: a repeated id
    gets a number. Raises DataError, naming the file and the line, for what is missing or not in the
    format, and for a subset that the data set does not mark.
    """
    chosen = _set(name)
    if not has_part(name, part):
        known = ", ".join((*chosen.parts, ALL_PARTS))
        raise DataError(
            f"{chosen.release.name} has no part {part!r}; its parts are {known}, and several are "
            f"joined by {JOIN!r}."
        )
    if only and not chosen.gutenberg:
        marked = ", ".join(set for set, other in _SETS.items() if other.gutenberg)
        raise DataError(
            f"{chosen.release.name} doesn't say which texts are Project Gutenberg's. Data sets "
            f"that say so: {marked}."
        )
    files = Files(folder, chosen.release)
    texts: dict[str, Text] = {}
    questions: list[BenchQuestion] = []
    for each in _split(chosen, part):
        more, asked = chosen.read(files, each, only) if only else chosen.read(files, each)
        texts |= {text.id: text for text in more}
        questions += asked
    return DataSet(name, tuple(texts.values()), tuple(_apart(questions)), dict(files.sha256))


def describe_subset(data: DataSet, part: str, *, hard: bool) -> str:
    """Describe Project Gutenberg's texts of a data set beside the counts that were published."""
    chosen = _set(data.name)
    if not chosen.gutenberg:
        return ""
    read_parts, whole = (
        JOIN.join(sorted(_split(chosen, parts), key=chosen.parts.index))
        for parts in (part, ALL_PARTS)
    )
    return compare_counts(data, chosen.gutenberg, read_parts, whole, hard=hard)


def _split(chosen: _Set, part: str) -> tuple[str, ...]:
    """Return the parts that a part stands for; in your own data set any name is one part."""
    if not chosen.parts:
        return (part,)
    return chosen.whole if part == ALL_PARTS else tuple(dict.fromkeys(part.split(JOIN)))


def _set(name: str) -> _Set:
    if name not in _SETS:
        raise DataError(f"There is no data set {name!r}; those known are {', '.join(NAMES)}.")
    return _SETS[name]


def _apart(questions: Iterable[BenchQuestion]) -> Iterator[BenchQuestion]:
    """Return the questions; the second with the same id becomes ID-2, the third ID-3."""
    seen: Counter[str] = Counter()
    for question in questions:
        seen[question.id] += 1
        count = seen[question.id]
        yield replace(question, id=f"{question.id}-{count}") if count > 1 else question
