"""Parts of a document as a reader sees them who has not read all of its text.

What reads whole parts, such as pictures and exports, restricts them here; what asks the database
gives its statements `$until`. Both follow the same rule: a node is shown once all that it rests on
was read, and an element that grows with the text as the read chunks have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any

from fabula.graph import TEXT, Edge, Node, Part
from fabula.graph.method import Graph
from fabula.graph.unread import IsUnread

NOT_OF_THE_TEXT = frozenset({"id", "by", "said", "predicate", "type", "kind"})
"""Properties that say nothing of the text, whatever words they have."""


def restrict_parts(
    parts: Mapping[str, Part],
    graphs: Mapping[str, Graph[Any]],
    end: int,
    is_unread: IsUnread,
) -> dict[str, Part]:
    """Return parts of a document without what rests on its text after a character.

    Args:
        parts: The parts by the names of their graphs, that of the text among them.
        graphs: The installed graphs by name, each after those that it rests on.
        end: How many characters were read.
        is_unread: Whether a text prints a name that was not read yet.
    """
    text = parts[TEXT]
    chunks = {node.id for node in text.nodes if node.sources and int(node.properties["end"]) <= end}
    restricted = {TEXT: _restrict(text, None, {}, chunks, {node.id for node in text.nodes})}
    known = {node.id for node in restricted[TEXT].nodes}
    for name in [*(name for name in graphs if name in parts), *(parts.keys() - graphs.keys())]:
        if name == TEXT:
            continue
        part = _restrict(parts[name], graphs.get(name), restricted, chunks, known)
        shown = tuple(node for node in part.nodes if not _prints(node, is_unread))
        ids = {node.id for node in shown}
        edges = [edge for edge in part.edges if edge.start in ids]
        own = {node.id for node in parts[name].nodes}
        edges = [edge for edge in edges if edge.end in ids or edge.end not in own]
        part = replace(part, nodes=shown, edges=tuple(edges))
        restricted[name] = part
        known |= {node.id for node in part.nodes}
    return restricted


def _restrict(
    part: Part,
    graph: Graph[Any] | None,
    below: Mapping[str, Part],
    chunks: Set[str],
    known: Set[str],
) -> Part:
    growing = {*graph.growing} if graph else set()
    inherits = {*graph.inherits} if graph else set()
    sources = {node.id: node.sources for node in part.nodes}
    for edge in part.edges:
        if edge.type in inherits and edge.end in sources:
            sources[edge.start] = (*sources[edge.start], *sources[edge.end])
    nodes = [
        node
        for node in part.nodes
        if chunks >= set(sources[node.id])
        or (node.label in growing and not chunks.isdisjoint(sources[node.id]))
    ]
    ids = {node.id for node in nodes} | known | chunks
    edges = [edge for edge in part.edges if edge.start in ids and edge.end in ids]
    shown = replace(part, nodes=tuple(nodes), edges=tuple(edges))
    if graph and graph.restrict:
        shown = graph.restrict(shown, below, chunks)
    elif growing:
        whole = {node.id for node in nodes if chunks >= set(node.sources)}
        shown = select_nodes(shown, lambda node: node.id in whole)
    return shown


def select_nodes(part: Part, keep: Callable[[Node], bool]) -> Part:
    """Return a part with some of its nodes, and the edges between these or to other parts."""
    own = {node.id for node in part.nodes}
    nodes = tuple(node for node in part.nodes if keep(node))
    gone = own - {node.id for node in nodes}
    edges = tuple(edge for edge in part.edges if edge.start not in gone and edge.end not in gone)
    return replace(part, nodes=nodes, edges=edges)


def edges_to_chunks(part: Part, type: str) -> dict[str, list[Edge]]:
    """Return the edges of a type by the nodes at which they begin."""
    edges: dict[str, list[Edge]] = {}
    for edge in part.edges:
        if edge.type == type:
            edges.setdefault(edge.start, []).append(edge)
    return edges


def _prints(node: Node, is_unread: IsUnread) -> bool:
    """Return whether a node prints a name that was not read; a chunk never does."""
    return any(
        isinstance(value, str) and is_unread(value)
        for name, value in node.properties.items()
        if name not in NOT_OF_THE_TEXT
    )
