"""Build communities: entities that belong together, level by level; a model reports on each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabula.graph import Edge, Gap, Node
from fabula.graph.builds import Build
from fabula.graph.extraction import ExtractionCalls
from fabula.graph.kept_replies import keep_replies
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.communities import ids
from fabula.graphs.communities.claims import ask_claims, attribute
from fabula.graphs.communities.contexts import ContextRenderer
from fabula.graphs.communities.labels import ENTITIES, Labels
from fabula.graphs.communities.leiden import find_communities, sum_weights
from fabula.graphs.communities.mapping import (
    chunk_places,
    claim_nodes,
    community_chunks,
    make_network,
    nodes_and_edges,
    read_communities,
    read_members,
    read_relations,
)
from fabula.graphs.communities.options import DivisionOptions, Options
from fabula.graphs.communities.part_facts import CommunityReplies, count_facts
from fabula.graphs.communities.reports import REPORTING, ask_report
from fabula.graphs.communities.values import Claim, Community, CommunityReport, MemberNetwork
from fabula.models.roles import ModelProfile

# What later calls depend on goes first.
CLAIM_PRIORITY, WRITE_PRIORITY = range(1, 3)


@keep_replies
def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the communities of a document's entities; this knows no database.

    Deterministic where the models are: the same entities and replies give the same graph. It starts
    from the communities that are known. What no model gives is a gap. Without a chat model there
    are no reports.

    Raises:
        ModelError: The model can't be asked.
    """
    labels = Labels()
    part = text.below[ENTITIES]
    calls = ExtractionCalls(models, work)
    builder = CommunityBuilder(calls, known, read_communities(known), labels)
    claims: Sequence[Claim] = ()
    if options.claims and not models.offline:
        claims = yield from find_claims(text, options, builder)
    network = make_network(
        read_members(part), read_relations(part), chunk_places(text.chunks), claims
    )
    communities = builder.divide(network, options, text.document.id)
    nodes, edges = yield from builder.describe(network, communities, options)
    more_nodes, more_edges = claim_nodes(network)
    embedded = yield from builder.embed([*nodes, *more_nodes])
    return Built(
        tuple(embedded),
        (*edges, *more_edges),
        builder.facts(communities),
        calls.gaps,
    )


@dataclass
class CommunityBuilder:
    """Makes communities of a network, be it a document's or a collection's.

    Attributes:
        calls: The calls of this build.
        known: What is known of the build before.
        previous: Its communities, from which the division starts.
        labels: Those of the nodes that are made.
        reports: Those that there are, by the ids of their communities.
        replies: What a model replied in this build.
    """

    calls: ExtractionCalls
    known: Known
    previous: Sequence[Community]
    labels: Labels
    reports: dict[str, CommunityReport] = field(default_factory=dict)
    replies: CommunityReplies = field(default_factory=CommunityReplies)

    def divide(
        self, network: MemberNetwork, options: DivisionOptions, owner: str
    ) -> list[Community]:
        """Return the communities of the network, starting from where they were before.

        Leiden takes members in the order of their names. They get numbers by their place in the
        text: ids come of the document's, and the same text under another path would be divided
        otherwise.
        """
        label_of = {
            member.id: f"{number:08}" for number, member in enumerate(network.members_in_order())
        }
        id_of = {label: id for id, label in label_of.items()}
        label_of_entity = {
            id: label_of[member.id]
            for member in network.members.values()
            for id in member.entity_ids
        }
        before = [
            replace(
                community,
                members=frozenset(
                    label_of_entity[id] for id in community.members if id in label_of_entity
                ),
            )
            for community in self.previous
        ]
        found = find_communities(
            sum_weights(
                (label_of[bond.source], label_of[bond.target], bond.weight)
                for bond in network.relations.values()
            ),
            options.max_cluster_size,
            [community for community in before if community.members],
            lambda level, labels: ids.community_id(
                owner, level, [id_of.get(label, label) for label in labels]
            ),
        )
        return [
            replace(community, members=frozenset(id_of[label] for label in community.members))
            for community in found
        ]

    def describe(
        self,
        network: MemberNetwork,
        communities: Sequence[Community],
        options: DivisionOptions,
    ) -> Build[tuple[list[Node], list[Edge]]]:
        """Return the nodes and edges of communities and, with a chat model, of their reports."""
        if not self.calls.models.offline:
            yield from self._write(network, communities, options)
        return nodes_and_edges(network, communities, self.reports, self.labels)

    def embed(self, nodes: Sequence[Node]) -> Build[list[Node]]:
        """Return the nodes, all but communities with embeddings."""
        bare = [node for node in nodes if node.label != self.labels.community]
        embedded = yield from self.calls.embed_nodes(bare, self.known)
        filled = {node.id: node for node in embedded}
        return [filled.get(node.id, node) for node in nodes]

    def facts(self, communities: Sequence[Community]) -> dict[str, Any]:
        """Return what is counted of the part."""
        return count_facts(communities, self.reports, self.replies)

    def _write(
        self, network: MemberNetwork, communities: Sequence[Community], options: DivisionOptions
    ) -> Build[None]:
        """Have a model report on each community, the finest first, as others may rest on them."""
        renderer = ContextRenderer(network, options.report_tokens_in)
        question = ask_report(options.report_tokens, self.known.means)
        children: dict[str, list[Community]] = defaultdict(list)
        for community in communities:
            children[community.parent].append(community)
        groups = [community for community in communities if len(community.members) > 1]
        self.calls.work.gaps.expect(len(groups))
        for level in sorted({community.level for community in groups}, reverse=True):
            contexts = {
                group: renderer.render(group, children[group.id], self.reports)
                for group in groups
                if group.level == level
            }
            answers = yield from self.calls.ask_each(
                question,
                [*contexts.values()],
                [_report_gap(network, group) for group in contexts],
                WRITE_PRIORITY,
            )
            for (group, context), answer in zip(contexts.items(), answers, strict=True):
                if answer:
                    self.replies.written.append(answer.every)
                    report = answer.every.records[0]
                    self.reports[group.id] = context.resolve(report, network)


def _report_gap(network: MemberNetwork, community: Community) -> Gap:
    """Return the gap that a missing report leaves, without the reason."""
    return Gap(REPORTING, "", community_chunks(network, community), {community.id: 1.0})


def find_claims(text: BuildText, options: Options, builder: CommunityBuilder) -> Build[list[Claim]]:
    """Return what is claimed in a document, window by window, as a model lists it."""
    cut = builder.calls.cut(text, options.window_tokens, builder.known)
    builder.calls.work.gaps.expect(len(cut))
    question = ask_claims(options.gleanings, builder.known.means)
    replies = yield from builder.calls.ask_windows(question, cut, CLAIM_PRIORITY)
    builder.replies.claimed = [
        attribute(window, answer.every, text.document.language) for window, answer in replies.usable
    ]
    return [claim for reply in builder.replies.claimed for claim in reply.records]
