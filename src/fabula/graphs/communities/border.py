"""Where entities come in as nodes, and communities, reports and claims go out as nodes and edges.

A `Community` has `level` (0 is the coarsest), `size`, `title`, `weight`, `chunks`, `by`, and the
place of its first chunk. A `Report` has `level`, `title`, `summary`, `text`, `findings` (JSON: a
list of `summary`, `explanation`, `refs`, and `chunks`, the most telling first), `importance`,
`why`, `said` and `by`. A `Claim` has `subject`, `object`, `type`, `status`, `from`, `to`,
`speaker`, `text` and `quotes`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabula.graph import Edge, Node, Part
from fabula.graph.method import Known
from fabula.graphs.communities import ids
from fabula.graphs.communities.values import (
    Bond,
    Claim,
    Community,
    CommunityReport,
    Earlier,
    Member,
    Network,
    Place,
    ReportFinding,
)
from fabula.graphs.entities.printed import plain
from fabula.text import tokens
from fabula.text.document import Chunk

ENTITIES, ENTITY, RELATION = "entities", "Entity", "Relation"
COMMUNITY, REPORT, CLAIM = "Community", "Report", "Claim"
HAS_MEMBER, PARENT_COMMUNITY = "HAS_MEMBER", "PARENT_COMMUNITY"
REPORTS, CITES = "REPORTS", "CITES"
FROM_CHUNK, SUBJECT, OBJECT = "FROM_CHUNK", "SUBJECT", "OBJECT"
CLAIMS = "claims"
"""The step in which claims are asked for, and in which there may be gaps."""
NAMED = 3
"""Members by whom a community is called that has no report."""


@dataclass(frozen=True, slots=True)
class Labels:
    """How a graph calls its nodes."""

    community: str = COMMUNITY
    report: str = REPORT


# In


def read_members(part: Part) -> list[Member]:
    """The entities of a document's part."""
    found = []
    for node in part.nodes:
        if node.label == ENTITY:
            told = node.properties
            names = dict(zip(told["names"], told["counts"], strict=True))
            who = (str(told["name"]), str(told["type"]), str(told["text"]))
            found.append(Member(node.id, *who, names, node.sources, (node.id,)))
    return found


def read_bonds(part: Part) -> list[Bond]:
    """Its relations. What no model judged the strength of weighs as many chunks as say it."""
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in part.edges:
        if edge.type in ("SOURCE", "TARGET"):
            ends[edge.start][edge.type] = edge.end
    return [
        Bond(
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


def read_printed(part: Part) -> dict[str, list[tuple[int, str]]]:
    """Where entities are named in the document's text, and their ids, by chunks."""
    entities = {node.id for node in part.nodes if node.label == ENTITY}
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for edge in part.edges:
        if edge.type == FROM_CHUNK and edge.start in entities:
            found[edge.end] += [(start, edge.start) for start in edge.properties["starts"]]
    return found


def network_of(
    members: Iterable[Member],
    bonds: Iterable[Bond],
    places: Mapping[str, Place],
    claims: Iterable[Claim] = (),
) -> Network:
    """All that is told of members and bonds, and of whom the claims are."""
    by_id = {one.id: one for one in sorted(members, key=lambda one: one.id)}
    called: dict[str, tuple[int, str]] = {}
    for one in by_id.values():
        for name, count in one.names.items():
            called[plain(name)] = min(called.get(plain(name), (1, "")), (-count, one.id))
    meant = {name: (id,) for name, (_, id) in called.items() if id}
    told = [
        replace(
            one,
            subjects=meant.get(plain(one.subject), ()),
            objects=meant.get(plain(one.object), ()),
        )
        for one in claims
    ]
    return Network(
        by_id,
        {one.id: one for one in sorted(bonds, key=lambda one: one.id)},
        places,
        tuple(sorted(told, key=lambda one: (places[one.chunk].order, one.id))),
    )


def places_of(chunks: Sequence[Chunk]) -> dict[str, Place]:
    """Where the chunks of a document are."""
    return {
        one.id: Place(order, one.section, one.start, one.end) for order, one in enumerate(chunks)
    }


# Out


def nodes_and_edges(
    network: Network,
    communities: Sequence[Community],
    reports: Mapping[str, CommunityReport],
    by: str,
    labels: Labels,
) -> tuple[list[Node], list[Edge]]:
    """Communities, and the reports that there are of them, by their ids; bare of embeddings."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    weights = weigh(network, communities)
    for one in communities:
        report = reports.get(one.id)
        title = report.title if report else call(network, one)
        chunks = chunks_of(network, one)
        told: dict[str, Any] = {
            "name": title,
            "title": title,
            "level": one.level,
            "size": len(one.members),
            "weight": weights[one.id],
            "chunks": len(chunks),
            "by": by,
        }
        nodes.append(Node(one.id, labels.community, told | _place(network, chunks), chunks))
        entities = sorted(id for who in one.members for id in network.members[who].entities)
        edges += [Edge(HAS_MEMBER, one.id, id) for id in entities]
        if one.parent:
            edges.append(Edge(PARENT_COMMUNITY, one.id, one.parent))
        if report:
            node = _report(network, one, report, labels.report)
            nodes.append(node)
            edges.append(Edge(REPORTS, node.id, one.id))
            cited = sorted({id for finding in report.findings for id in finding.cites})
            edges += [Edge(CITES, node.id, id) for id in cited]
    return nodes, edges


def claim_nodes(network: Network) -> tuple[list[Node], list[Edge]]:
    """Claims, bare of embeddings, tied to their chunks and to those they are about."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for one in network.claims:
        told: dict[str, Any] = {
            "subject": one.subject,
            "object": one.object,
            "type": one.type,
            "status": one.status,
            "from": one.since,
            "to": one.until,
            "speaker": one.speaker,
            "text": one.text,
            "tokens": tokens.count(one.text),
            "quotes": list(one.quotes),
            "level": 0,
        }
        nodes.append(Node(one.id, CLAIM, told | _place(network, (one.chunk,)), (one.chunk,)))
        edges.append(Edge(FROM_CHUNK, one.id, one.chunk))
        edges += [Edge(SUBJECT, one.id, id) for id in one.subjects]
        edges += [Edge(OBJECT, one.id, id) for id in one.objects]
    return nodes, edges


def chunks_of(network: Network, community: Community) -> tuple[str, ...]:
    """The chunks that mention its members, in text order."""
    return network.in_order(id for who in community.members for id in network.members[who].chunks)


def weigh(network: Network, communities: Sequence[Community]) -> dict[str, float]:
    """In how many chunks a community is, over the largest such number of its level."""
    counts = {one.id: len(chunks_of(network, one)) for one in communities}
    most: Counter[int] = Counter()
    for one in communities:
        most[one.level] = max(most[one.level], counts[one.id])
    return {one.id: counts[one.id] / most[one.level] for one in communities}


def call(network: Network, community: Community) -> str:
    """The names of its members with most bonds within it."""
    degrees: Counter[str] = Counter(dict.fromkeys(community.members, 0))
    for bond in network.within(community.members):
        degrees.update((bond.source, bond.target))
    most = sorted(degrees, key=lambda who: (-degrees[who], -len(network.members[who].chunks), who))
    return ", ".join(network.members[who].name for who in most[:NAMED])


def _report(network: Network, community: Community, report: CommunityReport, label: str) -> Node:
    rests_on = {id for finding in report.findings for id in finding.chunks}
    sources = network.in_order(rests_on) or chunks_of(network, community)
    findings = [
        {
            "summary": one.summary,
            "explanation": one.explanation,
            "chunks": list(one.chunks),
            "refs": list(one.refs),
        }
        for one in report.findings
    ]
    told: dict[str, Any] = {
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
        "said": report.said,
        "by": report.by,
    }
    return Node(ids.report_id(community.id), label, told | _place(network, sources), sources)


def _place(network: Network, chunks: Sequence[str]) -> dict[str, Any]:
    first = network.places[chunks[0]]
    place = {"section": first.section, "start": first.start, "end": first.end}
    return {"aspect": "", **place}


# Back


def read(known: Known, chunks: Iterable[Chunk], labels: Labels) -> Earlier:
    """What is known of a build before, by the ids of entities."""
    told = {node.id: node.properties for node in known.nodes}
    members: dict[str, set[str]] = defaultdict(set)
    parents: dict[str, str] = {}
    for edge in known.edges:
        if edge.type == HAS_MEMBER:
            members[edge.start].add(edge.end)
        elif edge.type == PARENT_COMMUNITY:
            parents[edge.start] = edge.end
    communities = [
        Community(id, told[id]["level"], parents.get(id, ""), frozenset(some))
        for id, some in sorted(members.items())
    ]
    reports = {
        node.properties["said"]: _read_report(node.properties)
        for node in known.nodes
        if node.label == labels.report
    }
    now = {chunk.id for chunk in chunks}
    claims: dict[str, list[Claim]] = defaultdict(list)
    for node in known.nodes:
        if node.label == CLAIM and node.sources[0] in now:
            claims[node.sources[0]].append(_read_claim(node))
    return Earlier(
        tuple(communities),
        reports,
        {id: tuple(some) for id, some in claims.items()},
        known.answered(CLAIMS) if known.facts.get("claimed") else frozenset(),
    )


def _read_report(told: Mapping[str, Any]) -> CommunityReport:
    findings = tuple(
        ReportFinding(one["summary"], one["explanation"], tuple(one["refs"]))
        for one in json.loads(told["findings"])
    )
    return CommunityReport(
        told["title"],
        told["summary"],
        findings,
        told["importance"],
        told["why"],
        told["by"],
        told["said"],
    )


def _read_claim(node: Node) -> Claim:
    told = node.properties
    return Claim(
        node.id,
        node.sources[0],
        *(told["subject"], told["object"], told["type"], told["status"]),
        *(told["from"], told["to"], told["speaker"], told["text"]),
        quotes=tuple(told["quotes"]),
    )
