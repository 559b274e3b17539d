"""Build the identities of a collection, by names, a model and a person's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabula.errors import BadReply
from fabula.graph import Gap
from fabula.graph.builds import Build
from fabula.graph.calls import Calls, batches
from fabula.graph.method import BuildWork, Built, Known, PartReader
from fabula.graphs.entities.correction_rules import MERGE, SPLIT
from fabula.graphs.entities.decided_pairs import read_decided_pairs
from fabula.graphs.entities.names import titled_key
from fabula.graphs.entities.pairs import PAIRS_A_CALL
from fabula.models.roles import ModelProfile
from fabula_graphs.identities.candidates import Candidates, find_candidates
from fabula_graphs.identities.confirm import STEP, Pair, ask_about
from fabula_graphs.identities.grouping import MODEL, NAMES, Groups, IdentityDecision
from fabula_graphs.identities.labels import ENTITIES
from fabula_graphs.identities.mapping import (
    Verdict,
    nodes_and_edges,
    part_ids,
    read_entities,
    read_members,
    read_verdicts,
)
from fabula_graphs.identities.options import Options

MAX_ROUNDS = 4
"""How often a model is asked about namesakes: whoever is none of so many persons stays alone."""

CandidatePair = tuple[Candidates, Pair]


def build_collection(
    reader: PartReader, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Find out which entities of the documents of a collection are one.

    Entities of equal names are one. With a model those of similar names are, too, and for both it
    is asked; offline, similar spelling alone is enough. A person's decisions come before both. What
    a model said of pairs whose texts did not change is used again. Where no model says anything of
    a pair, there is a gap, and names decide. The same replies give the same identities.

    Raises:
        ModelError: A model cannot be asked.
        SettingsError: A decision is not a pair of names.
    """
    entities = [
        entity
        for entry in reader.documents
        for entity in read_entities(reader.read(ENTITIES, entry.id), entry.title)
    ]
    decided = read_decided_pairs(options.keep_apart, options.join)
    decided = replace(
        decided,
        join=(*decided.join, *decided_pairs(reader, MERGE)),
        keep_apart=(*decided.keep_apart, *decided_pairs(reader, SPLIT)),
    )
    groups = Groups(entities, decided)
    candidates = find_candidates(entities, read_members(known))
    deciding = _Deciding(reader.collection, models, read_verdicts(known), work)
    for _ in range(1 if models.offline else MAX_ROUNDS):
        pairs = [(why, Pair(first, second)) for why, first, second in groups.open_pairs(candidates)]
        if models.offline:
            decisions = _decide_by_names(pairs)
        else:
            decisions = yield from deciding.decide(pairs)
        for decision in decisions:
            groups.decide(decision)
        if not pairs:
            break
    joined = groups.groups()
    nodes, edges = nodes_and_edges(reader.collection, joined, groups.decided, deciding.verdicts)
    facts = {
        "identities": sum(len(group) > 1 for group in joined),
        "told_apart": sum(not decision.same for decision in groups.decided),
        "documents": len(reader.documents),
        "asked": deciding.new_pairs,
    }
    return Built(tuple(nodes), tuple(edges), facts, tuple(deciding.gaps))


def decided_pairs(reader: PartReader, kind: str) -> list[tuple[str, str]]:
    """Return the pairs of names that people merged, or split, in all documents of the collection.

    A later decision on the same two names counts, and not an earlier one.
    """
    latest = {
        frozenset((titled_key(decision.names[0]), titled_key(name))): decision.number
        for decision in sorted(reader.decisions, key=lambda decision: decision.number)
        if decision.kind in (MERGE, SPLIT)
        for name in decision.names[1:]
    }
    return [
        (decision.names[0], name)
        for decision in reader.decisions
        if decision.kind == kind
        for name in decision.names[1:]
        if latest[frozenset((titled_key(decision.names[0]), titled_key(name)))] == decision.number
    ]


def _decide_by_names(pairs: Sequence[CandidatePair]) -> list[IdentityDecision]:
    return [
        IdentityDecision(pair.first, pair.second, True, NAMES, candidates.why)
        for candidates, pair in pairs
        if candidates.is_sure
    ]


@dataclass
class _Deciding:
    """Has a model decide on pairs.

    `previous` are the verdicts of the previous build by the digests of pairs, `verdicts` those that
    count in this one by the ids of the pairs' first entities; `new_pairs` counts pairs that a model
    is asked about.
    """

    collection: str
    models: ModelProfile
    previous: Mapping[str, tuple[bool, str]]
    work: BuildWork
    new_pairs: int = 0
    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)

    def decide(self, pairs: Sequence[CandidatePair]) -> Build[list[IdentityDecision]]:
        """Decide on each pair, in their order."""
        new = [pair for _, pair in pairs if pair.digest not in self.previous]
        replies = yield from self._ask_model(new)
        decisions = []
        for candidates, pair in pairs:
            verdict = self.previous.get(pair.digest) or replies[pair.digest]
            if verdict is None:
                # Names decide where no model does, and the next build asks again.
                same, by, why = candidates.is_sure, NAMES, candidates.why
            else:
                (same, why), by = verdict, MODEL
                self.verdicts.setdefault(pair.first.id, []).append((pair.digest, same, why))
            decisions.append(IdentityDecision(pair.first, pair.second, same, by, why))
        return decisions

    def _ask_model(self, pairs: Sequence[Pair]) -> Build[dict[str, tuple[bool, str] | None]]:
        """A model's verdict of each pair, by digests; None where it has none."""
        groups = batches(pairs, PAIRS_A_CALL)
        self.work.gaps.expect(len(groups))
        self.new_pairs += len(pairs)

        def ask(group: Sequence[Pair]) -> Build[Sequence[tuple[bool, str] | None]]:
            try:
                return (yield from ask_about(group, self.models.temperature))
            except BadReply as error:
                self.gaps.append(self._gap(self.work.gaps.accept(error), group))
                return [None] * len(group)

        replies = yield from Calls(self.models, self.work).each(STEP, ask, groups)
        return {
            pair.digest: verdict
            for group, verdicts in zip(groups, replies, strict=True)
            for pair, verdict in zip(group, verdicts, strict=True)
        }

    def _gap(self, why: str, pairs: Sequence[Pair]) -> Gap:
        """A gap for pairs; it is removed with any of the documents that they are of."""
        entities = [entity for pair in pairs for entity in (pair.first, pair.second)]
        sources = tuple(dict.fromkeys(entity.source for entity in entities))
        rests_on = dict.fromkeys((entity.id for entity in entities), 1.0)
        return Gap(STEP, why, sources, rests_on, {"of": part_ids(self.collection, entities)})
