"""The structure of a text as its document's node has it: sections, printed pages and lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabula.text.document import Document, Section
from fabula.text.locator import Locator, LocatorKind, LocatorLabels, labels_of
from fabula.text.metadata import Metadata, from_pairs
from fabula.text.sections import TextOutline, outline, span_of_sections


@dataclass(frozen=True)
class TextStructure:
    """Where the sections, the printed pages and the numbered lines of a text begin.

    Attributes:
        outline: The sections as a tree.
        pages: The printed pages.
        lines: The numbered lines of verse.
        speakers: Where the names are of those who speak below them, if the file says so.
        metadata: The fields of the document, which are shown where a place of it is.
    """

    outline: TextOutline = field(default_factory=TextOutline)
    pages: LocatorLabels = field(default_factory=LocatorLabels)
    lines: LocatorLabels = field(default_factory=LocatorLabels)
    speakers: LocatorLabels = field(default_factory=LocatorLabels)
    metadata: Metadata = field(default_factory=dict)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The path of each section."""
        return self.outline.paths

    def section_at(self, character: int) -> str:
        """Return the path of the section that a character is in; '' before the first heading."""
        starts = [section.start for section in self.outline.sections]
        number = bisect_right(starts, character) - 1
        return self.paths[number] if number >= 0 else ""

    @property
    def locators(self) -> tuple[Locator, ...]:
        """The pages, lines and speakers in text order."""
        kinds: tuple[tuple[LocatorKind, LocatorLabels], ...] = (
            ("page", self.pages),
            ("line", self.lines),
            ("speaker", self.speakers),
        )
        locators = [
            Locator(kind, label, start)
            for kind, labels in kinds
            for start, label in zip(labels.starts, labels.labels, strict=True)
        ]
        return tuple(sorted(locators, key=lambda locator: locator.start))

    def up_to(self, until: int) -> TextStructure:
        """Return the structure of the text up to a character: what begins before it."""
        sections = self.outline.sections
        count = sum(section.start < until for section in sections)
        pages, lines, speakers = (
            LocatorLabels(labels.starts[:number], labels.labels[:number])
            for labels in (self.pages, self.lines, self.speakers)
            for number in [sum(start < until for start in labels.starts)]
        )
        read = TextOutline(tuple(sections[:count]), tuple(self.outline.depths[:count]))
        return TextStructure(read, pages, lines, speakers, self.metadata)

    def properties(self) -> dict[str, list[Any]]:
        """Return the structure as properties of a document's node."""
        sections = self.outline.sections
        return {
            "section_starts": [section.start for section in sections],
            "section_titles": [section.title for section in sections],
            "section_levels": [section.level for section in sections],
            "section_depths": list(self.outline.depths),
            "page_starts": list(self.pages.starts),
            "page_labels": list(self.pages.labels),
            "line_starts": list(self.lines.starts),
            "line_labels": list(self.lines.labels),
            "speaker_starts": list(self.speakers.starts),
        }


def name_sections(
    name: Callable[[int, int], str], rows: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the new names of the sections of nodes, by the ids of those whose name changes.

    Args:
        name: Names the section of a chunk by its start and end, as `section_namer` returns it.
        rows: The nodes: `id`, `kind`, `section`, the start and the end of the first and the last
            chunk that they rest on (`first`, `last`), and the `first_section`.
    """
    names: dict[str, str] = {}
    for row in rows:
        section = row["section"]
        if row["kind"] == "summary":
            section = span_of_sections(name(*row["first"]), name(*row["last"]))
        elif section == row["first_section"]:
            section = name(*row["first"])
        if section != row["section"]:
            names[row["id"]] = section
    return names


def structure_of(document: Document) -> TextStructure:
    """Return the structure of a document that was read from a file."""
    return TextStructure(
        outline(document.sections, document.title),
        labels_of(document.locators, "page"),
        labels_of(document.locators, "line"),
        labels_of(document.locators, "speaker"),
    )


def read_structure(properties: Mapping[str, Sequence[Any] | None]) -> TextStructure:
    """Return the structure that the properties of a document's node have."""

    def read(name: str) -> tuple[Any, ...]:
        return tuple(properties.get(name) or ())

    sections = map(Section, read("section_titles"), read("section_starts"), read("section_levels"))
    return TextStructure(
        TextOutline(tuple(sections), read("section_depths")),
        LocatorLabels(read("page_starts"), read("page_labels")),
        LocatorLabels(read("line_starts"), read("line_labels")),
        LocatorLabels(speakers := read("speaker_starts"), ("1",) * len(speakers)),
        from_pairs(read("metadata")),
    )
