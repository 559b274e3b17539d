"""What a part is made from, and which parts are stale."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from fabula.errors import NotFound
from fabula.graph import (
    TEXT,
    Record,
    differences,
    fingerprint,
)
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.graph.method import Graph

CHUNKING = 1
"""The version of how a text is cut into chunks."""
Recipe = dict[str, Any]
"""All that a part is made from, as JSON holds it."""


def text_recipe(sha256: str, chunk_tokens: int, embedding_model: str) -> Recipe:
    """What a document's chunks are made from."""
    return {
        "graph": TEXT,
        "version": CHUNKING,
        "text": sha256,
        "settings": {"chunk_tokens": chunk_tokens},
        "models": {"embedding_model": embedding_model},
    }


def recipe(
    graph: Graph[Any],
    settings: Mapping[str, Any],
    models: Mapping[str, Any],
    base: Mapping[str, Recipe],
    *,
    offline: bool,
) -> Recipe:
    """What a graph's part is made from; `base` are the recipes of what its document has.

    Where no chat model is asked, prompts change nothing.
    """
    return {
        "graph": graph.name,
        "version": graph.version,
        "settings": dict(settings),
        "models": dict(models),
        "prompts": "" if offline else graph.prompts_digest(),
        "rests_on": {name: fingerprint(base[name]) for name in _below(graph, base)},
    }


def _below(graph: Graph[Any], there: Collection[str]) -> list[str]:
    """The names of all that a graph's part is made from, of those that are `there`."""
    return [TEXT, *graph.rests_on, *(name for name in graph.uses if name in there)]


def settled_recipe(
    graph: Graph[Any],
    settings: Mapping[str, Any],
    models: Mapping[str, Any],
    base: Mapping[str, Mapping[str, str]],
    *,
    offline: bool,
) -> Recipe:
    """What a collection's own part is made from.

    `base` is when what it rests on or uses was written, as `settled_base` says.
    """
    return {
        "graph": graph.name,
        "version": graph.version,
        "settings": dict(settings),
        "models": dict(models),
        "prompts": "" if offline else graph.prompts_digest(),
        "rests_on": {name: dict(one) for name, one in base.items()},
    }


def resting(
    graph: Graph[Any], entries: Iterable[Entry], settled: Mapping[str, Record]
) -> tuple[Entry, ...]:
    """The documents that have all which a collection's own graph rests on, by their ids.

    Raises NotFound where there is none, or another part of its own is not there.
    """
    installed = graphs()
    of_documents = [name for name in graph.rests_on if installed[name].build]
    found = [entry for entry in entries if entry.graphs.keys() >= set(of_documents)]
    lacking = [name for name in graph.rests_on if installed[name].settle and name not in settled]
    if lacking or not found:
        first = (lacking or of_documents)[0]
        raise NotFound(
            f"{graph.name} is made from {', '.join(graph.rests_on)}, which nothing has yet: build "
            f"the graph {first!r} first.",
            advice=f"Run `fabula build {first}`.",
        )
    return tuple(sorted(found, key=lambda entry: entry.id))


def settled_base(
    graph: Graph[Any], entries: Iterable[Entry], settled: Mapping[str, Record]
) -> dict[str, dict[str, str]]:
    """When the parts were written that a collection's own one rests on or uses.

    By their graphs' names and, within, the documents' ids; '' for another of the collection itself.
    Fingerprints would not do: edges to what a part holds go with it, be it followed by the same.
    """
    base: dict[str, dict[str, str]] = {}
    documents = list(entries)
    for name in _all_below(graph):
        if name in settled:
            base[name] = {"": settled[name].updated_at}
        elif there := [entry for entry in documents if name in entry.graphs]:
            base[name] = {entry.id: entry.graphs[name].updated_at for entry in there}
    return base


def is_outdated(graph: Graph[Any], entries: Iterable[Entry], settled: Mapping[str, Record]) -> bool:
    """Whether what a collection's own part rests on or uses was written again since it was made."""
    try:
        base = settled_base(graph, resting(graph, entries, settled), settled)
    except NotFound:
        return True
    return settled[graph.name].made_from.get("rests_on") != base


def stale(
    graphs: Sequence[Graph[Any]],
    entry: Entry | None,
    recipes: Mapping[str, Recipe],
    *,
    gaps: bool = True,
) -> list[str]:
    """The names of those parts that are not there, or are made from something else than now.

    With `gaps` a part that has some is stale, too. With a part all that rests on it, or uses it, is
    stale. `graphs` come after those that they rest on or use.
    """
    there = entry.graphs if entry else {}
    found: list[str] = []
    for name, base in ((TEXT, ()), *((one.name, (TEXT, *_all_below(one))) for one in graphs)):
        is_made = name in there and there[name].fingerprint == fingerprint(recipes[name])
        is_whole = is_made and not (gaps and there[name].gaps)
        if not is_whole or any(below in found for below in base):
            found.append(name)
    return found


def differences_of(entry: Entry, recipes: Mapping[str, Recipe]) -> dict[str, list[str]]:
    """What each stale part of a document is made from otherwise now, by the names of graphs."""
    found: dict[str, list[str]] = {}
    for name, made_from in recipes.items():
        was = entry.graphs.get(name)
        if was is not None and was.fingerprint != fingerprint(made_from):
            found[name] = differences(was.made_from, made_from)
    return found


def alike(was: Recipe | Mapping[str, Any], now: Recipe) -> bool:
    """Whether what is known of a part holds for another, be it made from a different text.

    It does where both are made in the same way, but for settings on which no question to a model
    depends, as their graph says.
    """
    graph = graphs().get(str(now["graph"]))
    unasked = graph.unasked if graph else frozenset()

    def asked(recipe: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: one for name, one in recipe.items() if name not in ("text", "rests_on")}
        settings = dict(kept.get("settings", {}))
        return kept | {"settings": {k: one for k, one in settings.items() if k not in unasked}}

    return asked(was) == asked(now)


def with_bases(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> list[Graph[Any]]:
    """The graphs of these names and all that they rest on, each after its bases."""
    wanted = set(names)
    while more := {below for name in wanted for below in graphs[name].rests_on} - wanted:
        wanted |= more
    return [graph for name, graph in graphs.items() if name in wanted]


def with_dependents(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> set[str]:
    """These names and those of all graphs that rest on one of them: without it they can't be."""
    wanted = set(names)
    for name, graph in graphs.items():
        if wanted.intersection(graph.rests_on):
            wanted.add(name)
    return wanted


def with_relatives(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> set[str]:
    """These names, and those of all graphs that they rest on or use, or that do so with them."""
    wanted = set(names)
    ties = [
        {name, below}
        for name, graph in graphs.items()
        for below in _all_below(graph)
        if below in graphs
    ]
    while more := {name for tie in ties if wanted & tie for name in tie} - wanted:
        wanted |= more
    return wanted


def _all_below(graph: Graph[Any]) -> tuple[str, ...]:
    return (*graph.rests_on, *graph.uses)
