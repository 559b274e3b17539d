"""Build the communities of all entities of a collection, as those of a document are built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from fabula.graph import TEXT, Edge, Node
from fabula.graph.builds import Build
from fabula.graph.extraction import ExtractionCalls
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildWork, Built, Known, PartReader
from fabula.graph.parts import chunks_of
from fabula.graphs.communities.build import CommunityBuilder
from fabula.graphs.communities.labels import ENTITIES, HAS_MEMBER, REPORTS
from fabula.graphs.communities.mapping import (
    make_network,
    read_communities,
    read_members,
    read_relations,
)
from fabula.graphs.communities.values import ChunkPlace
from fabula.models.roles import ModelProfile
from fabula_graphs.collection_communities.members import find_members, join_bonds, join_members
from fabula_graphs.collection_communities.options import IDENTITIES, LABELS, Options


@keep_replies
def build_collection(
    reader: PartReader, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Divide the entities of all documents of a collection into communities, with reports.

    Entities of several documents are one as `find_members` says. The division starts from the
    previous one, and no report is asked for again whose community reads the same. What no model
    gives is a gap.

    Raises:
        ModelError: A model cannot be asked.
    """
    parts = {entry.id: reader.read(ENTITIES, entry.id) for entry in reader.documents}
    identities = reader.read(IDENTITIES, "") if IDENTITIES in reader.own else None
    member_of = find_members(parts.values(), identities)
    # One text at a time: a collection of a thousand novels has some 450,000 chunks.
    chunk_ids = [
        chunk.id for entry in reader.documents for chunk in chunks_of(reader.read(TEXT, entry.id))
    ]
    network = make_network(
        join_members(chain.from_iterable(map(read_members, parts.values())), member_of),
        join_bonds(chain.from_iterable(map(read_relations, parts.values())), member_of),
        # Sections and characters of one document mean nothing in another: the order is enough.
        {id: ChunkPlace(order) for order, id in enumerate(chunk_ids)},
    )
    calls = ExtractionCalls(models, work)
    making = CommunityBuilder(calls, known, read_communities(known), LABELS)
    communities = making.divide(network, options, reader.collection)
    nodes, edges = yield from making.describe(network, communities, options)
    documents = {node.id: id for id, part in parts.items() for node in part.nodes}
    nodes = _with_parts(nodes, edges, documents, reader.collection)
    about = making.facts(communities)
    about["documents"] = len(reader.documents)
    entities_of = {
        community.id: [
            id for member in community.members for id in network.members[member].entity_ids
        ]
        for community in communities
    }
    # A gap of a community rests on its entities, so that it is removed with any of their documents.
    gaps = [
        replace(gap, rests_on=dict.fromkeys(sorted(entities_of[id]), 1.0))
        for gap in calls.gaps
        for id in gap.rests_on
    ]
    embedded = yield from making.embed(nodes)
    return Built(tuple(embedded), tuple(edges), about, tuple(gaps))


def _with_parts(
    nodes: Sequence[Node], edges: Sequence[Edge], documents: Mapping[str, str], collection: str
) -> list[Node]:
    """Nodes with the parts that they are made of; a report has those of its community."""
    community_of = {edge.start: edge.end for edge in edges if edge.type == REPORTS}
    parts_of: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.type == HAS_MEMBER:
            parts_of[edge.start].add(f"{collection}/{ENTITIES}/{documents[edge.end]}")
    return [
        replace(
            node,
            properties={
                **node.properties,
                "of": sorted(parts_of[community_of.get(node.id, node.id)]),
            },
        )
        for node in nodes
    ]
