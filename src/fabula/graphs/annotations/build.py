"""Build the graph of annotations: find each in the text, and tie it to the chunks of its words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from fabula.graph import Edge, Node
from fabula.graph.annotations import AnnotationLayer, PlacedAnnotation, place_annotations
from fabula.graph.builds import Build
from fabula.graph.calls import Calls
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graph.places import make_name
from fabula.graphs.annotations import ANNOTATION, FROM_CHUNK
from fabula.graphs.annotations.options import Options
from fabula.graphs.annotations.part_facts import count_facts
from fabula.models.roles import ModelProfile
from fabula.text import tokens
from fabula.text.document import Chunk
from fabula.text.ids import digest


def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the graph of annotations of a document; no chat model is asked.

    Those whose words stand nowhere in the text are left out and counted: they stay in their layer.
    """
    placed = {
        layer.name: place_annotations(text.document.text, layer)
        for layer in sorted(text.layers, key=lambda layer: layer.name)
    }
    nodes: list[Node] = []
    edges: list[Edge] = []
    starts = [chunk.start for chunk in text.chunks]
    for layer in text.layers:
        for item in placed[layer.name]:
            if item.anchor is None:
                continue
            node = _make_node(text, layer, item, starts)
            nodes.append(node)
            edges += [Edge(FROM_CHUNK, node.id, chunk) for chunk in node.sources]
    nodes = _count_tokens(nodes)
    noted = [node for node in nodes if node.properties["body"]] if options.embed_notes else []
    if noted:
        embedded = yield from Calls(models, work).embed_nodes(noted, known)
        by_id = {node.id: node for node in embedded}
        nodes = [by_id.get(node.id, node) for node in nodes]
    return Built(tuple(nodes), tuple(edges), count_facts(placed))


def _make_node(
    text: BuildText, layer: AnnotationLayer, item: PlacedAnnotation, starts: Sequence[int]
) -> Node:
    annotation, anchor = item
    assert anchor is not None
    printed = text.document.text[anchor.start : anchor.end]
    sources = _chunks_between(text.chunks, starts, anchor.start, anchor.end)
    about = ". ".join(filter(None, (annotation.label, annotation.body)))
    properties: dict[str, Any] = {
        "name": make_name(f"{about or annotation.kind}: {printed}"),
        # What is found by words: what was said of the words, and the words.
        "text": f"{about}: “{printed}”" if about else printed,
        "quote": printed,
        "layer": layer.name,
        "source": layer.record.source,
        "key": annotation.id,
        "tag": annotation.kind,
        "label": annotation.label,
        "body": annotation.body,
        "group": annotation.group,
        "creator": annotation.creator or layer.record.by,
        "created": annotation.created or layer.record.at,
        "found": anchor.how,
        "aspect": "",
        "level": 0,
        "section": sources[0].section,
        "start": anchor.start,
        "end": anchor.end,
    }
    id = digest(10, "annotation", text.document.id, layer.name, annotation.id)
    return Node(id, ANNOTATION, properties, tuple(chunk.id for chunk in sources))


def _chunks_between(
    chunks: Sequence[Chunk], starts: Sequence[int], start: int, end: int
) -> Sequence[Chunk]:
    """The chunks that hold any of some characters."""
    first = bisect_right(starts, start) - 1
    return chunks[first : bisect_right(starts, end - 1)]


def _count_tokens(nodes: Sequence[Node]) -> list[Node]:
    texts = [str(node.properties["text"]) for node in nodes]
    return [
        Node(node.id, node.label, {**node.properties, "tokens": count}, node.sources)
        for node, count in zip(nodes, tokens.count_all(texts), strict=True)
    ]
