"""The discourse of graphs made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabula.graph import Part, Record
from fabula.graph.parts import chunks_of
from fabula.graphs.entities.ids import entity_id
from fabula_graphs.discourse import mapping as discourse_mapping
from fabula_graphs.discourse.values import Event, Link
from graphs import nodes


def small_discourse(parts: Sequence[Part]) -> Part:
    """The discourse of a small graph: Anna comes in its first chunk, hence its second one."""
    document = parts[0].owner.document
    chunks = chunks_of(replace(parts[0], nodes=tuple(nodes(parts, "Chunk"))))[:2]
    made, edges = discourse_mapping.nodes_and_edges(
        document,
        [Event(chunks[0].id, 0, {"who": "Anna", "predicate": "come", "where": "mill"})],
        [Link(chunks[0].id, chunks[1].id, "Contingency.Cause.Result", "implicit", "so")],
        chunks,
        str.lower,
        lambda sense: "arg1",
    )
    anna = entity_id(document, "anna")
    edges += discourse_mapping.ties_to_entities(
        made, lambda slot, text: [anna] if text == "Anna" else []
    )
    return Part(
        parts[0].owner._replace(graph="discourse"),
        tuple(made),
        tuple(edges),
        Record({"graph": "discourse", "rests_on": {"text": parts[0].record.fingerprint}}),
    )
