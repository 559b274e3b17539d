"""Find the installed graphs by their entry points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fabula.errors import SettingsError, did_you_mean
from fabula.graph import GAP, REPLIES, TEXT
from fabula.graph.method import Graph
from fabula.graph.queries import read_statement_file
from fabula.models.offline.guide import NEEDS_MODEL
from fabula.packages import describe_missing

GROUP = "fabula.graphs"
"""The group of entry points by which a package brings a graph, Fabula's own as any other."""
LABELS = (
    *(
        "AnnotationSlice",
        "Chunk",
        "Collection",
        "Decision",
        "Document",
        "Element",
        GAP,
        "Lock",
        "Part",
        "Passage",
        REPLIES,
    ),
    *("Retired", "Schema", "Staged"),
)
"""Labels of the core, which no graph may give to its nodes."""


@cache
def graphs() -> Mapping[str, Graph[Any]]:
    """Return the installed graphs by name, each after those that it rests on or uses.

    Raises:
        SettingsError: A graph can't be loaded, lacks a graph that it rests on, or has the name or
            a label of another.
    """
    loaded: dict[str, Graph[Any]] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in loaded:
            raise SettingsError(
                f"There are two graphs named {entry.name!r}, one of them from {entry.value}: "
                "remove the package of one."
            )
        loaded[entry.name] = load(entry)
    _refuse_unfit(loaded)
    ordered: dict[str, Graph[Any]] = {}

    def add(name: str) -> None:
        for below in (*loaded[name].rests_on, *loaded[name].uses):
            if below in loaded:
                add(below)
        ordered.setdefault(name, loaded[name])

    for name in sorted(loaded):
        add(name)
    return ordered


def load(entry: EntryPoint) -> Any:
    """Return what a package brings by an entry point.

    Raises:
        SettingsError: It can't be loaded.
    """
    try:
        return entry.load()
    # The package is incomplete, or made for another version of Python or Fabula.
    except (ImportError, AttributeError, SyntaxError, TypeError) as error:
        package = entry.dist.name if entry.dist else entry.module
        raise SettingsError(
            f"The package {package} can't be loaded (entry point {entry.name} = {entry.value} of "
            f"{entry.group}: {error}). Install what it lacks, or another version of it, or remove "
            f"it: pip uninstall {package}."
        ) from error


def graph(name: str) -> Graph[Any]:
    """Return the graph of that name.

    Raises:
        SettingsError: No package brings one of that name.
    """
    known = graphs()
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, f"There are: {', '.join(known)}.")
    raise SettingsError(f"There is no graph {name!r}. {hint} {describe_missing()}".strip())


def graphs_upon(name: str) -> tuple[str, ...]:
    """Return the names of the installed graphs that rest on a graph."""
    return tuple(graph.name for graph in graphs().values() if name in graph.rests_on)


def refuse_without_model(names: Iterable[str]) -> None:
    """Raise SettingsError if one of these graphs can't be built, as there is no chat model."""
    for name in names:
        if graph(name).needs_model:
            raise SettingsError(
                NEEDS_MODEL.format(f"The graph {name!r}"),
                advice=f"Without a model leave it out, or remove it: `fabula drop {name}`.",
            )


def parent_statements() -> list[str]:
    """Return the statements by which graphs find the passages above others."""
    return _statements("find_parents.cypher")


def brief_statements() -> list[str]:
    """Return the statements by which graphs find what whole documents are about."""
    return _statements("find_brief.cypher")


def _statements(file: str) -> list[str]:
    """Return the statements of this name, of all graphs that have it."""
    return [
        read_statement_file(graph.cypher / file)
        for graph in graphs().values()
        if graph.cypher and (graph.cypher / file).is_file()
    ]


def _refuse_unfit(loaded: Mapping[str, Graph[Any]]) -> None:
    """Raise SettingsError for graphs that can't work together."""
    owners = dict.fromkeys(LABELS, "Fabula itself")
    for name, graph in sorted(loaded.items()):
        if graph.name != name or name == TEXT:
            raise SettingsError(f"A package brings the graph {graph.name!r} by the name {name!r}.")
        if missing := [below for below in graph.rests_on if below not in loaded]:
            raise SettingsError(
                f"The graph {name!r} rests on {missing[0]!r}, which no package has: install it, or "
                f"remove the package of {name!r}."
            )
        if (graph.build is None) == (graph.build_collection is None):
            raise SettingsError(
                f"The graph {name!r} has to have either `build` or `build_collection`."
            )
        below = [other for other in (*graph.rests_on, *graph.uses) if other in loaded]
        if graph.build and (own := [other for other in below if loaded[other].build_collection]):
            raise SettingsError(
                f"The graph {name!r}, a document's, rests on {own[0]!r}, which is a collection's."
            )
        # A label says what a node is: two that share one would find each other's nodes.
        for label in (*graph.passages, *graph.elements):
            if label in owners:
                raise SettingsError(
                    f"Nodes labelled {label!r} are made by {owners[label]} and by the graph "
                    f"{name!r}: remove the package of one."
                )
            owners[label] = f"the graph {name!r}"
