"""Where a place in a text is in a printed edition: its pages, and its numbered lines of verse."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

LocatorKind = Literal["page", "line"]
_SHORT = {"page": ("p.", "pp."), "line": ("l.", "ll.")}
_NAMES: dict[str, LocatorKind] = {
    **dict.fromkeys(("p", "pp", "page", "pages", "pg", "s", "str", "seite", "strona"), "page"),
    **dict.fromkeys(("l", "ll", "line", "lines", "v", "vv", "verse", "verses"), "line"),
}
_NAMED = re.compile(
    r"([a-z]{1,6})(?:\.\s*|\s+)(\w[\w.]{0,19}?)(?:\s*[-–—]\s*(\w[\w.]{0,19}))?", re.I
)


@dataclass(frozen=True, slots=True)
class Locator:
    """The top of a printed page, or the beginning of a numbered line of verse.

    Attributes:
        kind: What is numbered.
        label: The number as it is printed, as `113`, `xiv` or `340`; '' where no numbered line
            follows those before.
        start: The offset in the text, in characters.

    """

    kind: LocatorKind
    label: str
    start: int


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one kind of locators, and where each begins, in text order."""

    starts: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    def range(self, spans: Iterable[tuple[int, int]]) -> str:
        """Return the labels of stretches of the text, as `113` or `113-114`; '' for none."""
        found: list[str] = []
        for start, end in spans:
            first = max(bisect_right(self.starts, start) - 1, 0)
            last = max(bisect_left(self.starts, end), first + 1)
            found += [
                label
                for label, at in zip(self.labels[first:last], self.starts[first:last], strict=True)
                if label and at < max(end, start + 1)
            ]
        if not found:
            return ""
        return found[0] if found[0] == found[-1] else f"{found[0]}-{found[-1]}"

    def find(self, first: str, last: str, length: int) -> list[tuple[int, int]]:
        """Return the stretches of the text from a label to another one, which may be the same.

        Args:
            first: The label that the stretch begins with; case does not matter.
            last: The label that it ends with.
            length: The end of the text.

        """
        labels = [label.casefold() for label in self.labels]
        ends = [*self.starts[1:], length]
        spans: list[tuple[int, int]] = []
        for number, label in enumerate(labels):
            if label != first.casefold():
                continue
            try:
                end = ends[labels.index(last.casefold(), number)]
            except ValueError:
                continue
            spans.append((self.starts[number], end))
        return spans


def labels_of(locators: Iterable[Locator], kind: LocatorKind) -> Labels:
    """Return the labels of one kind."""
    chosen = sorted((each.start, each.label) for each in locators if each.kind == kind)
    return Labels(tuple(start for start, _ in chosen), tuple(label for _, label in chosen))


def name_labels(kind: LocatorKind, labels: str) -> str:
    """Return labels as a citation has them: "p. 113", "pp. 113-114" or "ll. 340-352"."""
    return f"{_SHORT[kind]['-' in labels]} {labels}" if labels else ""


def parse_labels(place: str) -> tuple[LocatorKind, str, str] | None:
    """Return what "p. 113" or "lines 340-352" names: the kind, the first and the last label."""
    match = _NAMED.fullmatch(place.strip())
    kind = _NAMES.get(match[1].casefold()) if match else None
    if match is None or kind is None:
        return None
    return kind, match[2], match[3] or match[2]


def number_lines(text: str, locators: Sequence[Locator]) -> tuple[Locator, ...]:
    """Return locators with each line of verse between two numbered ones, as far as they count.

    A book prints the number of every fifth or tenth line only. Between two numbers as many lines
    are numbered as lie between them; where the text has more or fewer, only the printed numbers
    stand, and end with their own line.
    """
    lines = [each for each in locators if each.kind == "line" and each.label]
    numbered: list[Locator] = [each for each in locators if each.kind != "line"]
    for line, after in pairwise([*lines, None]):
        assert line is not None
        numbered.append(line)
        end = after.start if after else len(text)
        starts = [
            match.start() for match in re.finditer(r"(?<=\n)(?=[^\n])", text[line.start : end])
        ]
        gap = 0
        if after and line.label.isdecimal() and after.label.isdecimal():
            gap = int(after.label) - int(line.label)
        between = [line.start + start for start in starts if line.start + start < end]
        if gap and len(between) == gap - 1:
            numbered += [
                Locator("line", str(int(line.label) + count), start)
                for count, start in enumerate(between, start=1)
            ]
        elif between and not (gap and len(between) < gap):
            numbered.append(Locator("line", "", between[0]))
    return tuple(sorted(numbered, key=lambda each: each.start))
