"""The method: communities of all entities of a collection, as those of one document are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabula.graph import TEXT, Edge, Node
from fabula.graph.method import Built, Known, Reader, Work
from fabula.graph.parts import chunks_of
from fabula.graphs.collection_communities.joined import find_members, join_bonds, join_members
from fabula.graphs.collection_communities.knobs import Knobs
from fabula.graphs.communities.border import (
    ENTITIES,
    HAS_MEMBER,
    REPORTS,
    Labels,
    network_of,
    read,
    read_bonds,
    read_members,
    read_printed,
)
from fabula.graphs.communities.build import Making
from fabula.graphs.communities.facts import facts
from fabula.graphs.communities.rules import Extracts, read_sentences
from fabula.graphs.communities.stand_ins import StandIns
from fabula.graphs.communities.values import Place
from fabula.models.roles import Models
from fabula.text.stems import stemmer_of

IDENTITIES = "identities"
LABELS = Labels("CollectionCommunity", "CollectionReport")


def settle(reader: Reader, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The communities of a collection's entities, over all documents.

    Entities of equal keys are one, and those that identities join, where these are there; those
    that they tell apart are not. It starts from what is `known`, and asks for no report again whose
    community reads the same. What no model gives is a gap. Raises ModelError.
    """
    parts = {entry.id: reader.read(ENTITIES, entry.id) for entry in reader.documents}
    chunks = {entry.id: chunks_of(reader.read(TEXT, entry.id)) for entry in reader.documents}
    identities = reader.read(IDENTITIES, "") if IDENTITIES in reader.own else None
    member_of = find_members(parts.values(), identities)
    # Where something is in a text says nothing of several.
    ids = [chunk.id for some in chunks.values() for chunk in some]
    network = network_of(
        join_members((one for part in parts.values() for one in read_members(part)), member_of),
        join_bonds((one for part in parts.values() for one in read_bonds(part)), member_of),
        {id: Place(order) for order, id in enumerate(ids)},
    )
    stand_ins = StandIns.expected(known.means, knobs.report_tokens)
    made = Making(models, work, read(known, (), LABELS), stand_ins, LABELS)

    def extracts() -> Extracts:
        sentences = []
        stems = []
        for entry in reader.documents:
            printed = {
                chunk: [(place, member_of[id]) for place, id in named]
                for chunk, named in read_printed(parts[entry.id]).items()
            }
            sentences += read_sentences(chunks[entry.id], entry.language, printed)
            stemmer = stemmer_of(entry.language)
            stems += [stemmer.content(chunk.text) for chunk in chunks[entry.id]]
        return Extracts(network, sentences, stems, models.static)

    communities = made.divide(network, knobs, reader.collection)
    nodes, edges = made.describe(network, communities, knobs, extracts)
    documents = {node.id: id for id, part in parts.items() for node in part.nodes}
    nodes = _of_documents(nodes, edges, documents, reader.collection)
    told = facts(communities, made.reports, None, made.tally, known.facts)
    told["documents"] = len(reader.documents)
    entities = {
        one.id: [id for who in one.members for id in network.members[who].entities]
        for one in communities
    }
    # Tied to what is a document's, a gap goes with that.
    gaps = [
        replace(gap, rests_on=dict.fromkeys(sorted(entities[id]), 1.0))
        for gap in made.all_gaps()
        for id in gap.rests_on
    ]
    return Built(tuple(made.embed(nodes, known)), tuple(edges), told, tuple(gaps))


def _of_documents(
    nodes: Sequence[Node], edges: Sequence[Edge], documents: Mapping[str, str], collection: str
) -> list[Node]:
    """The nodes with what they tell of: a report tells of all its community's documents."""
    community = {edge.start: edge.end for edge in edges if edge.type == REPORTS}
    of: dict[str, set[str]] = {}
    for edge in edges:
        if edge.type == HAS_MEMBER:
            part = f"{collection}/{ENTITIES}/{documents[edge.end]}"
            of.setdefault(edge.start, set()).add(part)
    return [
        replace(
            node,
            properties={**node.properties, "of": sorted(of[community.get(node.id, node.id)])},
        )
        for node in nodes
    ]
