"""Map entities to a network, and communities, reports and claims to nodes and edges and back.

Properties of the nodes in Neo4j:

- `Community`: `level` (0 is the coarsest), `size`, `title`, `weight`, `chunks`, and the place of
  its first chunk.
- `Report`: `level`, `title`, `summary`, `text`, `findings` (JSON: a list of `summary`,
  `explanation`, `refs` and `chunks`, the chunks with the strongest evidence first), `importance`
  and `why`.
- `Claim`: `subject`, `object`, `type`, `status`, `from`, `to`, `speaker`, `text` and `quotes`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.graph import Edge, Node, Part
from fabula.graph.method import Known
from fabula.graph.places import place_text
from fabula.graphs.communities import ids
from fabula.graphs.communities.labels import (
    CITES,
    CLAIM,
    ENTITY,
    FROM_CHUNK,
    HAS_MEMBER,
    OBJECT,
    PARENT_COMMUNITY,
    RELATION,
    REPORTS,
    SUBJECT,
    Labels,
)
from fabula.graphs.communities.values import (
    ChunkPlace,
    Claim,
    Community,
    CommunityReport,
    Member,
    MemberNetwork,
    MemberRelation,
)
from fabula.graphs.entities.printed_forms import printed_key
from fabula.text.document import Chunk

MAX_NAMES_IN_TITLE = 3
"""How many members' names make up the title of a community without a report."""


# From the entities' nodes to a network


def read_members(part: Part) -> list[Member]:
    """Return the entities in a document's part of the graph `entities`."""
    members = []
    for node in part.nodes:
        if node.label == ENTITY:
            properties = node.properties
            names = dict(zip(properties["names"], properties["counts"], strict=True))
            members.append(
                Member(
                    node.id,
                    str(properties["name"]),
                    str(properties["type"]),
                    str(properties["text"]),
                    names,
                    node.sources,
                    (node.id,),
                )
            )
    return members


def read_relations(part: Part) -> list[MemberRelation]:
    """Return the relations in a document's part of the graph `entities`.

    A relation whose strength no model has rated weighs as much as the number of its chunks.
    """
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in part.edges:
        if edge.type in ("SOURCE", "TARGET"):
            ends[edge.start][edge.type] = edge.end
    return [
        MemberRelation(
            node.id,
            ends[node.id]["SOURCE"],
            ends[node.id]["TARGET"],
            str(node.properties["text"]),
            float(node.properties["strength"] or node.properties["count"]),
            node.sources,
            (node.id,),
        )
        for node in part.nodes
        if node.label == RELATION
    ]


def make_network(
    members: Iterable[Member],
    relations: Iterable[MemberRelation],
    places: Mapping[str, ChunkPlace],
    claims: Iterable[Claim] = (),
) -> MemberNetwork:
    """Return the network of members and their relations, with each claim linked to its members.

    A claim's subject or object is linked to the member that is printed most often under that name;
    of equal ones, the smaller id.

    Args:
        members: The nodes of the network.
        relations: The relations between them.
        places: The place of each chunk that a member, relation or claim names.
        claims: Claims that are not linked yet.
    """
    by_id = {member.id: member for member in sorted(members, key=lambda member: member.id)}
    most_printed: dict[str, tuple[int, str]] = {}
    for member in by_id.values():
        for name, count in member.names.items():
            key = printed_key(name)
            most_printed[key] = min(most_printed.get(key, (1, "")), (-count, member.id))
    ids_by_name = {name: (id,) for name, (_, id) in most_printed.items() if id}
    linked = [
        replace(
            claim,
            subjects=ids_by_name.get(printed_key(claim.subject), ()),
            objects=ids_by_name.get(printed_key(claim.object), ()),
        )
        for claim in claims
    ]
    return MemberNetwork(
        by_id,
        {relation.id: relation for relation in sorted(relations, key=lambda relation: relation.id)},
        places,
        tuple(sorted(linked, key=lambda claim: (places[claim.chunk].order, claim.id))),
    )


def chunk_places(chunks: Sequence[Chunk]) -> dict[str, ChunkPlace]:
    """Return the places of a document's chunks by their ids."""
    return {
        chunk.id: ChunkPlace(order, chunk.section, chunk.start, chunk.end)
        for order, chunk in enumerate(chunks)
    }


# From communities to nodes and edges


def nodes_and_edges(
    network: MemberNetwork,
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    labels: Labels,
) -> tuple[list[Node], list[Edge]]:
    """Return the nodes and edges of communities and their reports, without embeddings.

    Args:
        network: The network that was divided into the communities.
        communities: The communities of all levels.
        reports: The reports by their communities' ids; a community may have none.
        labels: The labels of the nodes.
    """
    nodes: list[Node] = []
    edges: list[Edge] = []
    weights = community_weights(network, communities)
    for community in communities:
        report = reports.get(community.id)
        title = report.title if report else make_title(network, community)
        chunks = community_chunks(network, community)
        properties: dict[str, Any] = {
            "name": title,
            "title": title,
            "level": community.level,
            "size": len(community.members),
            "weight": weights[community.id],
            "chunks": len(chunks),
        }
        properties |= _place(network, chunks)
        nodes.append(Node(community.id, labels.community, properties, chunks))
        entities = sorted(
            id for member in community.members for id in network.members[member].entity_ids
        )
        edges += [Edge(HAS_MEMBER, community.id, id) for id in entities]
        if community.parent:
            edges.append(Edge(PARENT_COMMUNITY, community.id, community.parent))
        if report:
            node = _report_node(network, community, report, labels.report)
            nodes.append(node)
            edges.append(Edge(REPORTS, node.id, community.id))
            cited = sorted({id for finding in report.findings for id in finding.cites})
            edges += [Edge(CITES, node.id, id) for id in cited]
    return nodes, edges


def claim_nodes(network: MemberNetwork) -> tuple[list[Node], list[Edge]]:
    """Return nodes of claims, without embeddings, and edges to their chunks and members."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for claim in network.claims:
        properties: dict[str, Any] = {
            "subject": claim.subject,
            "object": claim.object,
            "type": claim.type,
            "status": claim.status,
            "from": claim.since,
            "to": claim.until,
            "speaker": claim.speaker,
            "quotes": list(claim.quotes),
            **place_text(claim.text, network.places[claim.chunk]),
        }
        nodes.append(Node(claim.id, CLAIM, properties, (claim.chunk,)))
        edges.append(Edge(FROM_CHUNK, claim.id, claim.chunk))
        edges += [Edge(SUBJECT, claim.id, id) for id in claim.subjects]
        edges += [Edge(OBJECT, claim.id, id) for id in claim.objects]
    return nodes, edges


def community_chunks(network: MemberNetwork, community: Community) -> tuple[str, ...]:
    """Return the ids of the chunks that mention a community's members, in text order."""
    return network.in_order(
        chunk for member in community.members for chunk in network.members[member].chunks
    )


def community_weights(network: MemberNetwork, communities: Sequence[Community]) -> dict[str, float]:
    """Return the weights of communities by their ids.

    A community's weight is the number of chunks that mention its members, divided by the largest
    such number on the same level: above 0, at most 1.
    """
    counts = {community.id: len(community_chunks(network, community)) for community in communities}
    largest: Counter[int] = Counter()
    for community in communities:
        largest[community.level] = max(largest[community.level], counts[community.id])
    return {
        community.id: counts[community.id] / largest[community.level] for community in communities
    }


def make_title(network: MemberNetwork, community: Community) -> str:
    """Return a title for a community: the names of its members with most relations inside it."""
    degrees: Counter[str] = Counter(dict.fromkeys(community.members, 0))
    for relation in network.relations_within(community.members):
        degrees.update((relation.source, relation.target))
    ranked = sorted(degrees, key=lambda id: (-degrees[id], -len(network.members[id].chunks), id))
    return ", ".join(network.members[id].name for id in ranked[:MAX_NAMES_IN_TITLE])


def _report_node(
    network: MemberNetwork, community: Community, report: CommunityReport, label: str
) -> Node:
    evidence = {id for finding in report.findings for id in finding.chunks}
    sources = network.in_order(evidence) or community_chunks(network, community)
    findings = [
        {
            "summary": finding.summary,
            "explanation": finding.explanation,
            "chunks": list(finding.chunks),
            "refs": list(finding.refs),
        }
        for finding in report.findings
    ]
    properties: dict[str, Any] = {
        "name": report.title,
        "level": community.level,
        "title": report.title,
        "summary": report.summary,
        "text": report.text,
        "tokens": report.tokens,
        "embedded_text": f"{report.title}. {report.text}",
        "findings": json.dumps(findings, ensure_ascii=False),
        "importance": report.importance,
        "why": report.why,
    }
    properties |= _place(network, sources)
    return Node(ids.report_id(community.id), label, properties, sources)


def _place(network: MemberNetwork, chunks: Sequence[str]) -> dict[str, Any]:
    """Return the properties that place a node at its first chunk."""
    first = network.places[chunks[0]]
    return {"aspect": "", "section": first.section, "start": first.start, "end": first.end}


# From nodes and edges back to communities


def read_communities(known: Known) -> list[Community]:
    """Return the communities that the previous build made, as sets of entities' ids."""
    levels = {node.id: node.properties["level"] for node in known.nodes}
    members: dict[str, set[str]] = defaultdict(set)
    parents: dict[str, str] = {}
    for edge in known.edges:
        if edge.type == HAS_MEMBER:
            members[edge.start].add(edge.end)
        elif edge.type == PARENT_COMMUNITY:
            parents[edge.start] = edge.end
    return [
        Community(id, levels[id], parents.get(id, ""), frozenset(entities))
        for id, entities in sorted(members.items())
    ]
