"""The graphs that are installed, found by their entry points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fabula.errors import SettingsError, did_you_mean
from fabula.graph import GAP, TEXT
from fabula.graph.method import Graph

GROUP = "fabula.graphs"
"""The group of entry points by which a package brings a graph, Fabula's own as any other."""
LABELS = (
    *("Chunk", "Collection", "Document", "Element", GAP, "Lock", "Part", "Passage", "Retired"),
    *("Schema", "Staged"),
)
"""What no graph may call its nodes: the core's own."""


@cache
def graphs() -> Mapping[str, Graph[Any]]:
    """The graphs that are installed, by name, each after those it rests on or uses.

    Raises SettingsError for two that can't stand side by side, or one that can't stand alone or
    be loaded.
    """
    found: dict[str, Graph[Any]] = {one.name: load(one) for one in entry_points(group=GROUP)}
    _refuse_unfit(found)
    ordered: dict[str, Graph[Any]] = {}

    def add(name: str) -> None:
        for below in (*found[name].rests_on, *found[name].uses):
            if below in found:
                add(below)
        ordered.setdefault(name, found[name])

    for name in sorted(found):
        add(name)
    return ordered


def load(entry: EntryPoint) -> Any:
    """What a package brings by an entry point. Raises SettingsError where it can't be loaded."""
    try:
        return entry.load()
    # It was not installed whole, or is of another version of Python or Fabula.
    except (ImportError, AttributeError, SyntaxError, TypeError) as error:
        package = entry.dist.name if entry.dist else entry.module
        raise SettingsError(
            f"The package {package} can't be loaded (entry point {entry.name} = {entry.value} of "
            f"{entry.group}: {error}). Install what it lacks, or another version of it, or remove "
            f"it: pip uninstall {package}."
        ) from error


def graph(name: str) -> Graph[Any]:
    """The graph of that name. Raises SettingsError for one that no package has."""
    known = graphs()
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, f"There are: {', '.join(known)}.")
    raise SettingsError(f"There is no graph {name!r}. {hint}")


def _refuse_unfit(found: Mapping[str, Graph[Any]]) -> None:
    """A label tells what a node is: were it two graphs', each would find the other's."""
    owners = dict.fromkeys(LABELS, "Fabula itself")
    for name, graph in sorted(found.items()):
        if graph.name != name or name == TEXT:
            raise SettingsError(f"A package brings the graph {graph.name!r} by the name {name!r}.")
        if missing := [below for below in graph.rests_on if below not in found]:
            raise SettingsError(
                f"The graph {name!r} rests on {missing[0]!r}, which no package has: install it, or "
                f"remove the package of {name!r}."
            )
        if (graph.build is None) == (graph.settle is None):
            raise SettingsError(f"The graph {name!r} has to have either `build` or `settle`.")
        below = [one for one in (*graph.rests_on, *graph.uses) if one in found]
        if graph.build and (own := [one for one in below if found[one].settle]):
            raise SettingsError(
                f"The graph {name!r}, a document's, rests on {own[0]!r}, which is a collection's."
            )
        for label in (*graph.passages, *graph.elements):
            if label in owners:
                raise SettingsError(
                    f"Nodes labelled {label!r} are made by {owners[label]} and by the graph "
                    f"{name!r}: remove the package of one."
                )
            owners[label] = f"the graph {name!r}"
