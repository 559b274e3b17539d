"""Convert documents and what graphs built of them to parts, and back."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fabula.errors import FabulaError
from fabula.graph import (
    GAP,
    LACKS,
    REPLIES,
    RESERVED,
    TEXT,
    Edge,
    Gap,
    Node,
    Owner,
    Part,
    Record,
    kept_replies,
)
from fabula.graph.entries import Entry
from fabula.graph.gaps import gaps_of
from fabula.graph.method import BuildText, Built, Graph, Known, PartReader
from fabula.graph.recipes import Recipe
from fabula.graph.structure import TextStructure, structure_of
from fabula.models.usage import Usage
from fabula.text import ids
from fabula.text.document import Chunk, Document, empty_vector
from fabula.text.folding import fold_name


def text_part(
    document: Document, chunks: Sequence[Chunk], made_from: Recipe, usage: Mapping[str, Usage]
) -> Part:
    """Return the part of a document and the chunks that tile its text, chained in order."""
    source = PurePath(document.source)
    node = Node(
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
            "title_key": fold_name(document.title),
            "author_key": fold_name(document.author),
            "file_key": fold_name(source.name),
            "stem_key": fold_name(source.stem),
            **edition_properties(document),
        },
        sources=(),
    )
    edges = [Edge("FROM_DOCUMENT", chunk.id, document.id) for chunk in chunks]
    edges += [Edge("FIRST_CHUNK", document.id, chunk.id) for chunk in chunks[:1]]
    edges += [Edge("NEXT_CHUNK", chunk.id, after.id) for chunk, after in itertools.pairwise(chunks)]
    return Part(
        owner=Owner(document.collection, TEXT, document.id),
        nodes=(node, *map(_chunk_node, chunks)),
        edges=tuple(edges),
        record=Record(made_from, usage),
    )


def edition_properties(document: Document) -> dict[str, Any]:
    """Return those properties of a document's node that no graph is built from."""
    return {
        "published": document.published,
        "edition": document.edition,
        "reading": document.reading,
        "left_out": json.dumps(dict(document.left_out), ensure_ascii=False, sort_keys=True),
        "warnings": list(document.warnings),
        "appended": list(document.appended),
        **structure_of(document).properties(),
    }


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
    """Return the chunks of a text's part that was read back, in text order."""
    names = ("index", "section", "start", "end", "text", "tokens")
    chunks = []
    for node in part.nodes:
        place = {name: node.properties[name] for name in names}
        vector = empty_vector() if node.embedding is None else node.embedding
        chunks.append(Chunk(id=node.id, **place, embedding=vector))
    return tuple(sorted(chunks, key=lambda chunk: chunk.index))


def document_of(entry: Entry, chunks: Sequence[Chunk], structure: TextStructure) -> Document:
    """Return a document as it was when it was read, its text put together from its chunks."""
    return Document(
        id=entry.id,
        collection=entry.collection,
        source=entry.source,
        title=entry.title,
        author=entry.author,
        language=entry.language,
        text="".join(chunk.text for chunk in chunks),
        sections=structure.outline.sections,
        sha256=entry.sha256,
        published=entry.published,
        edition=entry.edition,
        locators=structure.locators,
        reading=entry.reading,
        left_out=entry.left_out,
        warnings=entry.warnings,
        appended=entry.appended,
        metadata=entry.stated,
    )


def part_of(
    graph: Graph[Any],
    of: BuildText | PartReader,
    built: Built,
    made_from: Recipe,
    usage: Mapping[str, Usage],
) -> Part:
    """Return what a graph built of a document or a collection as a part.

    Args:
        graph: The graph.
        of: What it was built of.
        built: What it built.
        made_from: The recipe of the part.
        usage: What each step asked of models.

    Raises:
        FabulaError: The graph breaks its own closed lists of labels and edges.
    """
    _refuse_unlisted(graph, built)
    if reserved := sorted(RESERVED & built.facts.keys()):
        raise _broken(graph, f"a fact called {reserved[0]!r}", ["any other name"])
    if isinstance(of, BuildText):
        owner = Owner(of.document.collection, graph.name, of.document.id)
        chunks = {chunk.id: chunk for chunk in of.chunks}
    else:
        owner, chunks = Owner(of.collection, graph.name), {}
    nodes, edges = list(built.nodes), list(built.edges)
    for gap in built.gaps:
        node = _gap_node(owner, gap, chunks)
        nodes.append(node)
        edges += [Edge(LACKS, node.id, id, {"weight": w}) for id, w in gap.rests_on.items()]
    if built.kept:
        # What is kept of a collection's own part rests on a chunk that the part itself rests on.
        ends = {chunk.id: chunk.end for chunk in chunks.values()} or dict.fromkeys(
            (id for node in built.nodes for id in node.sources), 0
        )
        nodes += kept_replies.make_nodes(owner, built.kept, [max(ends, key=ends.__getitem__)])
    record = Record(made_from, usage, built.facts, len(built.gaps))
    return Part(
        owner,
        tuple(nodes),
        tuple(edges),
        record,
        frozenset(graph.elements),
        frozenset(graph.growing),
        frozenset(graph.inherits),
    )


def piece_of(
    graph: Graph[Any], document: Document, nodes: Sequence[Node], edges: Sequence[Edge]
) -> Part:
    """Return some nodes and edges of a graph's part of a document that is still being made.

    Raises:
        FabulaError: The graph breaks its own closed lists of labels and edges.
    """
    _refuse_unlisted(graph, Built(tuple(nodes), tuple(edges)))
    return Part(
        Owner(document.collection, graph.name, document.id),
        tuple(nodes),
        tuple(edges),
        Record({}, {}),
        frozenset(graph.elements),
        frozenset(graph.growing),
        is_whole=False,
    )


def _gap_node(owner: Owner, gap: Gap, chunks: Mapping[str, Chunk]) -> Node:
    """The node of a gap, at the place of the chunks that it is about."""
    what = json.dumps(gap.properties, sort_keys=True)
    place: dict[str, Any] = {}
    # A gap of a collection's own part has no place in a text.
    if owner.document:
        below = [chunks[id] for id in gap.sources]
        place = {
            "section": min(below, key=lambda chunk: chunk.start).section,
            "start": min(chunk.start for chunk in below),
            "end": max(chunk.end for chunk in below),
        }
    common = {"name": f"gap in {gap.step}", "step": gap.step, "why": gap.why}
    id = ids.gap_id(owner.document, owner.graph, gap.step, what, list(gap.rests_on))
    return Node(id, GAP, {**gap.properties, **place, **common}, gap.sources)


def known_of(part: Part, chunks: tuple[Chunk, ...], means: Mapping[str, float]) -> Known:
    """Return what the next build of a graph's part knows; `chunks` are those that it rested on."""
    gaps = {node.id for node in part.nodes if node.label == GAP}
    return Known(
        chunks,
        tuple(node for node in part.nodes if node.label not in (GAP, REPLIES)),
        tuple(edge for edge in part.edges if edge.start not in gaps),
        part.record.facts,
        means,
        gaps_of(part),
        kept_replies.read_nodes(node for node in part.nodes if node.label == REPLIES),
    )


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
