"""From a document to the parts of its graphs: what is stale, what each is made from, what it is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fabula.errors import FabulaError, NotFound
from fabula.graph import (
    GAP,
    LACKS,
    RESERVED,
    TEXT,
    Edge,
    Gap,
    Node,
    Owner,
    Part,
    Record,
    differences,
    fingerprint,
)
from fabula.graph.entries import Entry
from fabula.graph.method import Built, Graph, Known, Reader, Text, graphs
from fabula.models.usage import Usage
from fabula.text import ids
from fabula.text.document import Chunk, Document, Section, not_embedded

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
        raise NotFound(
            f"{graph.name} is made from {', '.join(graph.rests_on)}, which nothing has yet: run "
            f"`fabula build {(lacking or of_documents)[0]}` first."
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


def text_part(
    document: Document, chunks: Sequence[Chunk], made_from: Recipe, usage: Mapping[str, Usage]
) -> Part:
    """A document and the chunks that tile its text, chained in order."""
    source = PurePath(document.source)
    described = Node(
        id=document.id,
        label="Document",
        properties={
            "name": document.title,
            "title": document.title,
            "author": document.author,
            "language": document.language,
            "source": document.source,
            "sha256": document.sha256,
            "tokens": sum(chunk.tokens for chunk in chunks),
            "title_key": document.title.casefold(),
            "file_key": source.name.casefold(),
            "stem_key": source.stem.casefold(),
        },
        sources=(),
    )
    edges = [Edge("FROM_DOCUMENT", chunk.id, document.id) for chunk in chunks]
    edges += [Edge("FIRST_CHUNK", document.id, chunk.id) for chunk in chunks[:1]]
    edges += [Edge("NEXT_CHUNK", one.id, after.id) for one, after in itertools.pairwise(chunks)]
    return Part(
        owner=Owner(document.collection, TEXT, document.id),
        nodes=(described, *map(_chunk_node, chunks)),
        edges=tuple(edges),
        record=Record(made_from, usage),
    )


def _chunk_node(chunk: Chunk) -> Node:
    return Node(
        id=chunk.id,
        label="Chunk",
        properties={
            "aspect": "",
            "level": 0,
            "index": chunk.index,
            "section": chunk.section,
            "start": chunk.start,
            "end": chunk.end,
            "text": chunk.text,
            "tokens": chunk.tokens,
        },
        sources=(chunk.id,),
        embedding=chunk.embedding,
    )


def chunks_of(part: Part) -> tuple[Chunk, ...]:
    """The chunks of a text's part as it was read back, in text order."""
    names = ("index", "section", "start", "end", "text", "tokens")
    chunks = []
    for node in part.nodes:
        place = {name: node.properties[name] for name in names}
        vector = not_embedded() if node.embedding is None else node.embedding
        chunks.append(Chunk(id=node.id, **place, embedding=vector))
    return tuple(sorted(chunks, key=lambda chunk: chunk.index))


def document_of(entry: Entry, chunks: Sequence[Chunk]) -> Document:
    """A document as it was when it came in, its text put together from its chunks.

    The graph holds no sections but their titles, at each chunk. Of two neighbours of one title, as
    two letters that are both headed "Letter", the second begins where a chunk begins with the
    heading on a line of its own; where the text itself has no heading, they are one section.
    """
    sections: list[Section] = []
    before = ""
    for chunk in chunks:
        if chunk.section and (chunk.section != before or _begins_with(chunk.section, chunk.text)):
            sections.append(Section(chunk.section, chunk.start))
        before = chunk.section
    return Document(
        id=entry.id,
        collection=entry.collection,
        source=entry.source,
        title=entry.title,
        author=entry.author,
        language=entry.language,
        text="".join(chunk.text for chunk in chunks),
        sections=tuple(sections),
        sha256=entry.sha256,
    )


def _begins_with(heading: str, text: str) -> bool:
    """Whether a text begins with a heading, which stands in a paragraph of its own."""
    return text.strip().partition("\n\n")[0].split() == heading.split()


def part_of(
    graph: Graph[Any],
    of: Text | Reader,
    built: Built,
    made_from: Recipe,
    usage: Mapping[str, Usage],
) -> Part:
    """What a graph built of a document or of a collection, as its part.

    Raises FabulaError where it breaks its own closed lists.
    """
    _refuse_unlisted(graph, built)
    if taken := sorted(RESERVED & built.facts.keys()):
        raise _broken(graph, f"a fact called {taken[0]!r}", ["any other name"])
    if isinstance(of, Text):
        owner = Owner(of.document.collection, graph.name, of.document.id)
        chunks = {chunk.id: chunk for chunk in of.chunks}
    else:
        owner, chunks = Owner(of.collection, graph.name), {}
    nodes, edges = list(built.nodes), list(built.edges)
    for gap in built.gaps:
        node = _gap_node(owner, gap, chunks)
        nodes.append(node)
        edges += [Edge(LACKS, node.id, id, {"weight": one}) for id, one in gap.rests_on.items()]
    record = Record(made_from, usage, built.facts, len(built.gaps))
    return Part(owner, tuple(nodes), tuple(edges), record, frozenset(graph.elements))


def _gap_node(owner: Owner, gap: Gap, chunks: Mapping[str, Chunk]) -> Node:
    """What stands for a gap, placed where the chunks are that it is about.

    One of a whole collection is in no place of a text.
    """
    what = json.dumps(gap.properties, sort_keys=True)
    place: dict[str, Any] = {}
    if owner.document:
        below = [chunks[id] for id in gap.sources]
        place = {
            "section": min(below, key=lambda chunk: chunk.start).section,
            "start": min(chunk.start for chunk in below),
            "end": max(chunk.end for chunk in below),
        }
    told = {"name": f"gap in {gap.step}", "step": gap.step, "why": gap.why}
    id = ids.gap_id(owner.document, owner.graph, gap.step, what, list(gap.rests_on))
    return Node(id, GAP, {**gap.properties, **place, **told}, gap.sources)


def known_of(part: Part, chunks: tuple[Chunk, ...], means: Mapping[str, float]) -> Known:
    """What a graph's part was, for its next build; `chunks` are those that it rested on."""
    gaps = {node.id for node in part.nodes if node.label == GAP}
    return Known(
        chunks,
        tuple(node for node in part.nodes if node.id not in gaps),
        tuple(edge for edge in part.edges if edge.start not in gaps),
        part.record.facts,
        means,
        gaps_of(part),
    )


def gaps_of(part: Part) -> tuple[Gap, ...]:
    """The gaps of a part, in text order."""
    rests_on: dict[str, dict[str, float]] = {}
    for edge in part.edges:
        if edge.type == LACKS:
            rests_on.setdefault(edge.start, {})[edge.end] = edge.properties["weight"]
    nodes = [node for node in part.nodes if node.label == GAP]
    place = ("start", "end")
    nodes.sort(key=lambda node: (*(node.properties.get(one, 0) for one in place), node.id))
    return tuple(
        make_gap(node.properties, node.sources, rests_on.get(node.id, {})) for node in nodes
    )


def make_gap(
    properties: Mapping[str, Any], sources: Sequence[str], rests_on: Mapping[str, float]
) -> Gap:
    """A gap out of the properties of the node that stands for it."""
    own = {name: one for name, one in properties.items() if name not in ("name", "step", "why")}
    return Gap(properties["step"], properties["why"], tuple(sources), rests_on, own)


def _refuse_unlisted(graph: Graph[Any], built: Built) -> None:
    for node in built.nodes:
        # An element may have an embedding, and a passage has one.
        bare = node.embedding is None
        listed = graph.elements if bare else (*graph.passages, *graph.elements)
        if node.label not in listed:
            without = " without an embedding" if bare else ""
            raise _broken(graph, f"a node labelled {node.label!r}{without}", listed)
    for edge in built.edges:
        if edge.type not in graph.edges:
            raise _broken(graph, f"an edge {edge.type!r}", graph.edges)


def _broken(graph: Graph[Any], what: str, listed: Iterable[str]) -> FabulaError:
    return FabulaError(
        f"The graph {graph.name!r} built {what}, which is not on its list "
        f"({', '.join(listed) or 'empty'}): that is a fault of the package that brings it."
    )
