"""The method: entities that belong together, level by level, and a report of each community."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabula.errors import BadReply
from fabula.graph import Edge, Gap, Node
from fabula.graph.calls import Calls
from fabula.graph.method import Built, Known, Text, Work
from fabula.graphs.communities import ids
from fabula.graphs.communities.border import (
    CLAIMS,
    ENTITIES,
    Labels,
    call,
    chunks_of,
    claim_nodes,
    network_of,
    nodes_and_edges,
    places_of,
    read,
    read_bonds,
    read_members,
    read_printed,
    weigh,
)
from fabula.graphs.communities.claims import Claimer, attribute
from fabula.graphs.communities.contexts import Context, Renderer
from fabula.graphs.communities.facts import Tally, facts
from fabula.graphs.communities.knobs import Dividing, Knobs
from fabula.graphs.communities.leiden import find_communities, sum_weights
from fabula.graphs.communities.reports import Reporter
from fabula.graphs.communities.rules import Extracts, read_sentences
from fabula.graphs.communities.stand_ins import StandIns
from fabula.graphs.communities.values import (
    MODEL,
    RULES,
    Claim,
    Community,
    CommunityReport,
    Earlier,
    Network,
)
from fabula.graphs.entities.border import embedded
from fabula.graphs.entities.windows import ask_of_each, window_gap, windows
from fabula.models.roles import Models
from fabula.text.stems import stemmer_of

# What later calls depend on goes first.
CLAIM, WRITE = range(1, 3)
REPORTING = "reports"
"""The step in which reports are asked for, and in which there may be gaps."""


def build(text: Text, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The communities of a document's entities; it knows no database.

    Deterministic where the models are: the same entities and replies give the same graph. It starts
    from the communities that are `known`, and asks for no report again whose community reads the
    same. What no model gives is a gap. Raises ModelError.
    """
    labels = Labels()
    part = text.below[ENTITIES]
    earlier = read(known, text.chunks, labels)
    stand_ins = StandIns.expected(known.means, knobs.report_tokens)
    made = Making(models, work, earlier, stand_ins, labels)
    claims = claim(text, knobs, made) if knobs.claims and not models.offline else None
    places = places_of(text.chunks)
    network = network_of(read_members(part), read_bonds(part), places, claims or ())

    def extracts() -> Extracts:
        language = text.document.language
        sentences = read_sentences(text.chunks, language, read_printed(part))
        stems = (stemmer_of(language).content(chunk.text) for chunk in text.chunks)
        return Extracts(network, sentences, stems, models.static)

    communities = made.divide(network, knobs, text.document.id)
    nodes, edges = made.describe(network, communities, knobs, extracts)
    more, ties = claim_nodes(network)
    told = facts(
        communities,
        made.reports,
        None if claims is None else len(claims),
        made.tally,
        known.facts,
    )
    embedded_nodes = made.embed([*nodes, *more], known)
    return Built(tuple(embedded_nodes), (*edges, *ties), told, made.all_gaps())


@dataclass
class Making:
    """The steps that make communities of a network, be it a document's or a collection's."""

    models: Models
    work: Work
    earlier: Earlier
    stand_ins: StandIns
    labels: Labels
    tally: Tally = field(default_factory=Tally)
    gaps: list[Gap] = field(default_factory=list)
    reports: dict[str, CommunityReport] = field(default_factory=dict)
    """Those that there are, by the ids of their communities."""

    @property
    def calls(self) -> Calls:
        """The calls of this build."""
        return Calls(self.models, self.work)

    def divide(self, network: Network, knobs: Dividing, owner: str) -> list[Community]:
        """The communities of the network, from where they were before."""
        standing = {id: one.id for one in network.members.values() for id in one.entities}
        before = [
            replace(one, members=frozenset(standing[id] for id in one.members if id in standing))
            for one in self.earlier.communities
        ]
        return find_communities(
            sum_weights((one.source, one.target, one.weight) for one in network.bonds.values()),
            knobs.max_cluster_size,
            [one for one in before if one.members],
            lambda level, members: ids.community_id(owner, level, sorted(members)),
        )

    def describe(
        self,
        network: Network,
        communities: Sequence[Community],
        knobs: Dividing,
        extracts: Callable[[], Extracts],
    ) -> tuple[list[Node], list[Edge]]:
        """Nodes and edges of communities and their reports; offline these are of `extracts`."""
        by = RULES if self.models.offline else MODEL
        if self.models.offline:
            self._quote(network, communities, extracts())
        else:
            self._write(network, communities, knobs)
        return nodes_and_edges(network, communities, self.reports, by, self.labels)

    def embed(self, nodes: Sequence[Node], known: Known) -> list[Node]:
        """The same nodes, with embeddings where they are found by them."""
        vectors = {embedded(one): one.embedding for one in known.nodes if one.embedding is not None}
        texts = [embedded(node) for node in nodes if node.label != self.labels.community]
        found = self.calls.embed(texts, vectors)
        return [
            node
            if node.label == self.labels.community
            else replace(node, embedding=found[embedded(node)])
            for node in nodes
        ]

    def all_gaps(self) -> tuple[Gap, ...]:
        """What no model gave, in an order that does not depend on the threads'."""
        return tuple(sorted(self.gaps, key=lambda gap: (gap.step, gap.sources, *gap.rests_on)))

    def _quote(
        self, network: Network, communities: Sequence[Community], extracts: Extracts
    ) -> None:
        weights = weigh(network, communities)
        for one in communities:
            if len(one.members) > 1:
                title = call(network, one)
                self.reports[one.id] = extracts.report(one.members, title, weights[one.id])

    def _write(self, network: Network, communities: Sequence[Community], knobs: Dividing) -> None:
        """Has a model report on each community, the finest first, as others may rest on them."""
        reporter = Reporter(
            self.models.chat("model", REPORTING),
            knobs.report_tokens,
            self.models.temperature,
            self.stand_ins,
        )
        renderer = Renderer(network, knobs.report_tokens_in)
        children: dict[str, list[Community]] = defaultdict(list)
        for one in communities:
            children[one.parent].append(one)
        self.work.gaps.expect(sum(len(one.members) > 1 for one in communities))
        for level in sorted({one.level for one in communities}, reverse=True):
            contexts = {
                one.id: renderer.render(one, children[one.id], self.reports)
                for one in communities
                if one.level == level and len(one.members) > 1
            }
            said = self._ask(reporter, contexts)
            for one in (one for one in communities if one.id in contexts):
                told = said[one.id]
                if isinstance(told, BadReply):
                    why = self.work.gaps.accept(told)
                    self.gaps.append(Gap(REPORTING, why, chunks_of(network, one), {one.id: 1.0}))
                else:
                    self.reports[one.id] = contexts[one.id].resolve(told, network)

    def _ask(
        self, reporter: Reporter, contexts: Mapping[str, Context]
    ) -> dict[str, CommunityReport | BadReply]:
        """What is reported of each, as it was before where that was written from the same."""
        known = self.earlier.reports
        kept = {id: known[one.said] for id, one in contexts.items() if one.said in known}
        new = [id for id in contexts if id not in kept]
        self.calls.save(REPORTING, len(kept))
        self.tally.kept += len(kept)

        def ask(id: str) -> tuple[CommunityReport, Mapping[str, int]] | BadReply:
            try:
                return reporter.report(contexts[id])
            except BadReply as error:
                return error

        found: dict[str, CommunityReport | BadReply] = {**kept}
        for id, said in zip(new, self.calls.each(WRITE, REPORTING, ask, new), strict=True):
            if isinstance(said, BadReply):
                found[id] = said
                continue
            report, dropped = said
            found[id] = report
            self.tally.written.append(report)
            self.tally.dropped.update(dropped)
        return found


def claim(text: Text, knobs: Knobs, made: Making) -> list[Claim]:
    """What is claimed in a document, chunk by chunk, as it is known or as a model lists it."""
    claimer = Claimer(
        made.models.chat("model", CLAIMS), knobs.gleanings, made.models.temperature, made.stand_ins
    )
    cut = windows(text.chunks, knobs.window_tokens, text.document.language)
    made.work.gaps.expect(len(cut))
    made.tally.windows = len(cut)
    asked = ask_of_each(
        cut,
        made.earlier.asked,
        claimer.ask,
        made.calls,
        priority=CLAIM,
        step=CLAIMS,
        saves=1 + knobs.gleanings,
    )
    found: list[Claim] = []
    for window, told in asked:
        if isinstance(told, tuple):
            said, missed = told
            if missed:
                made.gaps.append(window_gap(CLAIMS, missed, window, made.work.gaps))
            listed, dropped = attribute(window, said)
            made.tally.listed.append(len(listed))
            made.tally.claims += listed
            made.tally.dropped.update(dropped)
            found += listed
            continue
        if isinstance(told, Gap):
            made.gaps.append(told)
        # Of a gap, what was listed of its unchanged chunks before is better than nothing.
        for chunk in window.chunks:
            found += made.earlier.claims.get(chunk.id, ())
    return found
