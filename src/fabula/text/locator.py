"""Where a place in a text is in an edition: its pages, its numbered lines, or its times."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

LocatorKind = Literal["page", "line", "speaker"]
_SHORT = {"page": ("p.", "pp."), "line": ("l.", "ll."), "speaker": ("", "")}
_NAMES: dict[str, LocatorKind] = {
    **dict.fromkeys(("p", "pp", "page", "pages", "pg", "s", "str", "seite", "strona"), "page"),
    **dict.fromkeys(("l", "ll", "line", "lines", "v", "vv", "verse", "verses"), "line"),
}
_MESSAGE_TIME = r"\d{1,4}(?:[./-]\d{1,4}){2} \d{1,2}(?::\d\d){1,2}(?: [AP]\.?M\.?)?"
_TIME = rf"(?:\d{{1,3}}(?::\d\d){{2}}|{_MESSAGE_TIME})"
_TRANSCRIPT_LINE = r"\d{1,5}:\d{1,3}"
_PLACES = re.compile(
    rf"(?:T\.\s*)?({_TIME}|{_TRANSCRIPT_LINE})(?:\s*[-–—]\s*({_TIME}|{_TRANSCRIPT_LINE}))?", re.I
)
"""Labels that say themselves what they are: times, and page and line of a transcript."""
_SECTIONS = re.compile(r"§\s*([\w.]+)(?:\s*[-–—]\s*§?\s*([\w.]+))?")
"""Labels of verses, sections and paragraphs, which are kept as lines are."""
_NAMED = re.compile(
    r"([a-z]{1,6})(?:\.\s*|\s+)(\w[\w.]{0,19}?)(?:\s*[-–—]\s*(\w[\w.]{0,19}))?", re.I
)


@dataclass(frozen=True, slots=True)
class Locator:
    """The top of a page, the beginning of a numbered line of verse, or the name of a speaker.

    Attributes:
        kind: What begins. A page may also be a time in a recording, or a line of a transcript, and
            a line a numbered verse, section or paragraph.
        label: The number as it is printed, as `113`, `xiv` or `340`; '' where no numbered line
            follows those before. Verse 14 of chapter 2 is `§2.14`. A time is `01:12:31`, page 45
            and line 12 of a transcript `45:12`.
        start: The offset in the text, in characters.
    """

    kind: LocatorKind
    label: str
    start: int


@dataclass(frozen=True, slots=True)
class LocatorLabels:
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
        # The days of messages are in any order: they are found as they are printed.
        if ":" in first and " " not in first:
            return self._find_times(_numbers(first), _numbers(last), length)
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

    def _find_times(
        self, first: tuple[int, ...], last: tuple[int, ...], length: int
    ) -> list[tuple[int, int]]:
        """The stretch of the text that two times are in, which need not begin anything."""
        times = [_numbers(label) for label in self.labels]
        begin, end = bisect_right(times, first) - 1, bisect_right(times, last)
        if begin < 0 or end <= begin:
            return []
        return [(self.starts[begin], [*self.starts, length][end])]


def _numbers(label: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", label)))


def labels_of(locators: Iterable[Locator], kind: LocatorKind) -> LocatorLabels:
    """Return the labels of one kind."""
    chosen = sorted((each.start, each.label) for each in locators if each.kind == kind)
    return LocatorLabels(tuple(start for start, _ in chosen), tuple(label for _, label in chosen))


def name_labels(kind: LocatorKind, labels: str) -> str:
    """Return labels as a citation has them: "p. 113", "ll. 340-352", "01:12:31" or "T. 45:12"."""
    if _SECTIONS.fullmatch(labels):
        return labels
    if _PLACES.fullmatch(labels):
        return labels if re.match(_TIME, labels, re.IGNORECASE) else f"T. {labels}"
    return f"{_SHORT[kind]['-' in labels]} {labels}" if labels else ""


def parse_labels(place: str) -> tuple[LocatorKind, str, str] | None:
    """Return what "p. 113" or "lines 340-352" names: the kind, the first and the last label."""
    if match := _PLACES.fullmatch(place.strip()):
        return "page", match[1], match[2] or match[1]
    if match := _SECTIONS.fullmatch(place.strip()):
        return "line", f"§{match[1]}", f"§{match[2] or match[1]}"
    match = _NAMED.fullmatch(place.strip())
    kind = _NAMES.get(match[1].casefold()) if match else None
    if match is None or kind is None:
        return None
    return kind, match[2], match[3] or match[2]


def number_lines(
    text: str, locators: Sequence[Locator], headings: Container[int] = ()
) -> tuple[Locator, ...]:
    """Return locators with each line of verse between two numbered ones, as far as they count.

    A book prints the number of every fifth or tenth line only. Between two numbers as many lines
    are numbered as lie between them, and so are the lines of a stanza before its first number and
    after its last. Where the text has more or fewer lines, only the printed numbers stand, and end
    with their own line. A line that begins at one of the `headings` is not counted.
    """

    def lines_between(start: int, end: int) -> list[int]:
        return [each for each in _line_starts(text, start, end) if each not in headings]

    lines = [each for each in locators if each.kind == "line" and each.label]
    numbered: list[Locator] = [each for each in locators if each.kind != "line"]
    for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        numbered.append(line)
        number = int(line.label) if line.label.isdecimal() else 0
        if before is None and number:
            stanza = text.rfind("\n\n", 0, line.start) + 2 if "\n\n" in text[: line.start] else 0
            firsts = [stanza, *lines_between(stanza, line.start)]
            numbered += [
                Locator("line", str(number - count), start)
                for count, start in enumerate(reversed(firsts), start=1)
                if start < line.start and number > count
            ]
        end = after.start if after else len(text)
        between = lines_between(line.start, end)
        gap = int(after.label) - number if after and after.label.isdecimal() and number else 0
        following: list[int] = []
        if gap and len(between) == gap - 1:
            following = between
        elif number and not after:
            stanza = text.find("\n\n", line.start)
            following = [start for start in between if stanza < 0 or start < stanza]
        numbered += [
            Locator("line", str(number + count), start)
            for count, start in enumerate(following, start=1)
        ]
        rest = between[len(following) :]
        is_section = line.label.startswith("§")
        if rest and not is_section and not (gap and len(between) < gap):
            numbered.append(Locator("line", "", rest[0]))
    return tuple(sorted(numbered, key=lambda each: each.start))


def _line_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines with text start after `start` and before `end`."""
    matches = re.finditer(r"(?<=\n)(?=[^\n])", text[start:end])
    return [start + match.start() for match in matches if match.start()]
