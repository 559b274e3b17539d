"""Describe what a part is made from, and find the parts that are stale."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from fabula.errors import NotFound
from fabula.graph import TEXT, Record, differences, fingerprint
from fabula.graph.decisions import Decision, applicable_decisions
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.graph.method import Graph

CHUNKING = 1
"""The version of how a text is cut into chunks."""
Recipe = dict[str, Any]
"""Everything that a part is made from, as JSON holds it."""


def text_recipe(sha256: str, chunk_tokens: int, embedding_model: str) -> Recipe:
    """Return what a document's chunks are made from."""
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
    rests_on: Mapping[str, Any],
    *,
    offline: bool,
    decisions: Sequence[Decision] = (),
    layers: Mapping[str, str] | None = None,
) -> Recipe:
    """Return what a graph's part of a document or of a collection is made from.

    Args:
        graph: The graph.
        settings: Its settings that the result depends on.
        models: The models that it is made with.
        rests_on: What is below it: `document_base` or `collection_base`.
        offline: Whether no chat model is asked: prompts change nothing then.
        decisions: What people decided, as far as the part follows it.
        layers: The digests of the layers of annotations of the document, by name.
    """
    imported = {"annotations": dict(layers or {})} if graph.imports else {}
    made_from = {
        "graph": graph.name,
        "version": graph.version,
        "settings": dict(settings),
        "models": dict(models),
        # Without a model no prompt is sent, so that a changed one changes nothing.
        "prompts": "" if offline else graph.prompts_digest(),
        "rests_on": dict(rests_on),
    }
    decided = {"decisions": [decision.recipe for decision in decisions]} if decisions else {}
    return made_from | imported | decided


def decisions_by_graph(
    graphs: Iterable[Graph[Any]],
    decisions: Sequence[Decision],
    document: str,
    records: Mapping[str, Record],
) -> dict[str, list[Decision]]:
    """Return the decisions that each part of a document has to follow, by its graph's name.

    Args:
        graphs: The graphs.
        decisions: All decisions of the collection.
        document: The id of the document.
        records: What its parts are made from now, without those that are made anew anyway.
    """
    return {
        graph.name: applicable_decisions(
            (decision for decision in decisions if decision.graph == graph.follows),
            document,
            records.get(graph.name),
        )
        for graph in graphs
        if graph.follows
    }


def collection_decisions(graph: Graph[Any], decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions about whole collections that a collection's own graph follows."""
    return [
        decision
        for decision in decisions
        if decision.is_in_force and not decision.document and decision.graph == graph.follows
    ]


def document_base(graph: Graph[Any], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Return the fingerprints of all that a document's part is made from, by graph.

    `recipes` are those of the document's text and of its parts of other graphs.
    """
    return {name: fingerprint(recipes[name]) for name in _below(graph, recipes)}


def _below(graph: Graph[Any], names: Collection[str]) -> list[str]:
    """The names of all that a graph's part is made from, as far as there is such a part."""
    return [TEXT, *graph.rests_on, *(name for name in graph.uses if name in names)]


def complete_documents(
    graph: Graph[Any], entries: Iterable[Entry], collection_parts: Mapping[str, Record]
) -> tuple[Entry, ...]:
    """Return the documents that have everything a collection's own graph rests on, by id.

    Raises:
        NotFound: There is none, or the collection lacks another part of its own.
    """
    installed = graphs()
    of_documents = [name for name in graph.rests_on if installed[name].build]
    complete = [entry for entry in entries if entry.graphs.keys() >= set(of_documents)]
    lacking = [
        name
        for name in graph.rests_on
        if installed[name].build_collection and name not in collection_parts
    ]
    if lacking or not complete:
        first = (lacking or of_documents)[0]
        raise NotFound(
            f"{graph.name} is made from {', '.join(graph.rests_on)}, which nothing has yet: build "
            f"the graph {first!r} first.",
            advice=f"Run `fabula build {first}`.",
        )
    return tuple(sorted(complete, key=lambda entry: entry.id))


def collection_base(
    graph: Graph[Any], entries: Iterable[Entry], collection_parts: Mapping[str, Record]
) -> dict[str, dict[str, str]]:
    """Return when the parts were written that a collection's own part rests on or uses.

    They are by their graphs' names and, within, by documents' ids; '' for a part of the collection
    itself. Fingerprints would not do: edges to the nodes of a part are removed with it, even if it
    is replaced by an equal one.
    """
    base: dict[str, dict[str, str]] = {}
    documents = list(entries)
    for name in _all_below(graph):
        if name in collection_parts:
            base[name] = {"": collection_parts[name].updated_at}
        elif having := [entry for entry in documents if name in entry.graphs]:
            base[name] = {entry.id: entry.graphs[name].updated_at for entry in having}
    return base


def is_outdated(
    graph: Graph[Any], entries: Iterable[Entry], collection_parts: Mapping[str, Record]
) -> bool:
    """Return whether a part that a collection's own part rests on or uses was replaced since."""
    try:
        base = collection_base(
            graph, complete_documents(graph, entries, collection_parts), collection_parts
        )
    except NotFound:
        return True
    return collection_parts[graph.name].made_from.get("rests_on") != base


def find_stale(
    graphs: Sequence[Graph[Any]],
    entry: Entry | None,
    recipes: Mapping[str, Recipe],
    *,
    gaps: bool = True,
) -> list[str]:
    """Return the names of the parts that are missing, or would be made from something else now.

    If a part is stale, so is every part that rests on it or uses it.

    Args:
        graphs: The graphs, each after those that it rests on or uses.
        entry: The document as it is listed; None if it is new.
        recipes: What each part would be made from now, by its graph's name.
        gaps: Whether a part with gaps is stale, too.
    """
    parts = entry.graphs if entry else {}
    stale: list[str] = []
    bases = {graph.name: (TEXT, *_all_below(graph)) for graph in graphs}
    for name, base in ({TEXT: ()} | bases).items():
        is_made = name in parts and parts[name].fingerprint == fingerprint(recipes[name])
        # Graphs come after those below them: one pass finds all that follows from a stale part.
        is_whole = is_made and not (gaps and parts[name].gaps)
        if not is_whole or any(below in stale for below in base):
            stale.append(name)
    return stale


def differences_of(entry: Entry, recipes: Mapping[str, Recipe]) -> dict[str, list[str]]:
    """Return what differs in what each stale part is made from, by the names of graphs."""
    differing: dict[str, list[str]] = {}
    for name, made_from in recipes.items():
        was = entry.graphs.get(name)
        if was is not None and was.fingerprint != fingerprint(made_from):
            differing[name] = differences(was.made_from, made_from)
    return differing


def is_reusable(was: Recipe | Mapping[str, Any], now: Recipe) -> bool:
    """Return whether what is known of a part can be used for another, even of another text.

    It can if both are made in the same way, apart from the settings that their graph lists as
    `not_in_prompts`, from what people decided, and from what was imported: no question to a model
    depends on these.
    """
    graph = graphs().get(str(now["graph"]))
    unasked = graph.not_in_prompts if graph else frozenset()

    def method(recipe: Mapping[str, Any]) -> dict[str, Any]:
        settings = {k: v for k, v in recipe.get("settings", {}).items() if k not in unasked}
        # The prompts of unchanged stretches are the same whatever changed elsewhere in the text.
        left_out = ("text", "rests_on", "decisions", "annotations")
        same = {k: v for k, v in recipe.items() if k not in left_out}
        return same | {"settings": settings}

    return method(was) == method(now)


def with_bases(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> list[Graph[Any]]:
    """Return the graphs of these names and all that they rest on, each after its bases."""
    included = set(names)
    while more := {below for name in included for below in graphs[name].rests_on} - included:
        included |= more
    return [graph for name, graph in graphs.items() if name in included]


def with_dependents(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> set[str]:
    """Return these names and those of all graphs that rest on one of them."""
    included = set(names)
    for name, graph in graphs.items():
        if included.intersection(graph.rests_on):
            included.add(name)
    return included


def with_relatives(graphs: Mapping[str, Graph[Any]], names: Collection[str]) -> set[str]:
    """Return these names and those of all graphs below and above them, used ones included."""
    included = set(names)
    ties = [
        {name, below}
        for name, graph in graphs.items()
        for below in _all_below(graph)
        if below in graphs
    ]
    # In both directions and repeatedly: a graph above may use a third one beside this.
    while more := {name for tie in ties if included & tie for name in tie} - included:
        included |= more
    return included


def _all_below(graph: Graph[Any]) -> tuple[str, ...]:
    return (*graph.rests_on, *graph.uses)
