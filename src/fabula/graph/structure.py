"""The structure of a text as its document's node has it: sections, printed pages and lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabula.text.document import Document, Section
from fabula.text.locator import Labels, Locator, LocatorKind, labels_of
from fabula.text.sections import TextOutline, outline, span_of_sections

SECTIONS = ("section_starts", "section_titles", "section_levels", "section_depths")
LABELS = ("page_starts", "page_labels", "line_starts", "line_labels")
STRUCTURE = (*SECTIONS, *LABELS)
"""The properties of a document's node: lists of equal length for sections, pages and lines."""


@dataclass(frozen=True)
class TextStructure:
    """Where the sections, the printed pages and the numbered lines of a text begin.

    Attributes:
        outline: The sections as a tree.
        pages: The printed pages.
        lines: The numbered lines of verse.

    """

    outline: TextOutline = field(default_factory=TextOutline)
    pages: Labels = field(default_factory=Labels)
    lines: Labels = field(default_factory=Labels)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The path of each section."""
        return self.outline.paths

    @property
    def locators(self) -> tuple[Locator, ...]:
        """The pages and lines in text order."""
        kinds: tuple[tuple[LocatorKind, Labels], ...] = (("page", self.pages), ("line", self.lines))
        locators = [
            Locator(kind, label, start)
            for kind, labels in kinds
            for start, label in zip(labels.starts, labels.labels, strict=True)
        ]
        return tuple(sorted(locators, key=lambda locator: locator.start))

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
        }


def name_sections(
    ranges: Sequence[tuple[int, int, str]], rows: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the new names of the sections of nodes, by the ids of those whose name changes.

    Args:
        ranges: The sections of the text: start, end and path, as `section_ranges` returns them.
        rows: The nodes: `id`, `section`, and of the first and the last chunk that they rest on
            where they start (`first`, `last`) and their `first_section` and `last_section`.

    """
    starts = [start for start, *_ in ranges]

    def path_at(start: int) -> str:
        return ranges[max(bisect_right(starts, start) - 1, 0)][2] if ranges else ""

    names: dict[str, str] = {}
    for row in rows:
        name = row["section"]
        if name == row["first_section"]:
            name = path_at(row["first"])
        elif name == span_of_sections(row["first_section"], row["last_section"]):
            name = span_of_sections(path_at(row["first"]), path_at(row["last"]))
        if name != row["section"]:
            names[row["id"]] = name
    return names


def structure_of(document: Document) -> TextStructure:
    """Return the structure of a document that was read from a file."""
    return TextStructure(
        outline(document.sections, document.title),
        labels_of(document.locators, "page"),
        labels_of(document.locators, "line"),
    )


def read_structure(properties: Mapping[str, Sequence[Any] | None]) -> TextStructure:
    """Return the structure that the properties of a document's node have."""

    def read(name: str) -> tuple[Any, ...]:
        return tuple(properties.get(name) or ())

    sections = map(Section, read("section_titles"), read("section_starts"), read("section_levels"))
    return TextStructure(
        TextOutline(tuple(sections), read("section_depths")),
        Labels(read("page_starts"), read("page_labels")),
        Labels(read("line_starts"), read("line_labels")),
    )
