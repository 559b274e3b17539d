"""Formats of an export that packages bring, beside Fabula's own JSONL and GraphML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from fabula.export.graph_xml import Written
from fabula.graph.installed import load

GROUP = "fabula.exports"
"""The group of entry points by which a package brings a format of `fabula export`."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that holds what is found in texts, and nothing of people, costs or the server.

    Attributes:
        about: What is written, for lists.
        write: Writes what a collection has of a document (its id, title or file; '' for all), as
            far as its reader has read (`Collection.place`), to a path; returns how much that is.
        suffix: The end of its files' names, by which it is chosen; '' if only its name chooses it.
        noun: What `Written.nodes` are called.
        media: The media type of its files.
    """

    about: str
    write: Callable[[Any, str, Path], Written]
    suffix: str = ""
    noun: str = "node"
    media: str = "application/octet-stream"


@cache
def export_formats() -> Mapping[str, ExportFormat]:
    """Return the formats of other packages by name.

    Raises:
        SettingsError: A package's format can't be loaded.
    """
    return {entry.name: load(entry) for entry in sorted(entry_points(group=GROUP))}


def find_export_format(file: Path, name: str = "") -> ExportFormat | None:
    """Return the format of a name, or with '' that of a file; None if no package brings it."""
    known = export_formats()
    if name:
        return known.get(name)
    suffixes = {format.suffix: format for format in known.values() if format.suffix}
    return suffixes.get(file.suffix.lower())
