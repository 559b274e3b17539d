"""The method: entities of different documents that are one, by their names, a model and persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.errors import BadReply
from fabula.graph import Gap
from fabula.graph.method import Built, Known, Reader, Work
from fabula.graphs.entities.decisions import read_decisions
from fabula.graphs.identities.border import (
    ENTITIES,
    Verdict,
    members_of,
    nodes_and_edges,
    parts_of,
    read_entities,
    verdicts_of,
)
from fabula.graphs.identities.grouping import MODEL, NAMES, Decision, Groups
from fabula.graphs.identities.judge import PAIRS_A_CALL, Judge, Pair
from fabula.graphs.identities.knobs import Knobs
from fabula.graphs.identities.likely import Alike, Named, find_alike
from fabula.models.roles import Models

STEP = "identities"
MOST_ROUNDS = 4
"""Times that what is left of namesakes is asked about: who is none of so many, stays alone."""

Asked = tuple[Alike, Pair]


def settle(reader: Reader, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """Who is whom in the documents of a collection.

    Entities of equal names are one, and with a model likely ones of other names, if it says so of
    both; offline those whose spelling says so. What a person decides wins. What is `known` of pairs
    of which the same is told is used again; what no model says is a gap, and then names decide.
    Deterministic where the models are. Raises ModelError, and SettingsError for decisions that are
    none.
    """
    everyone = [
        one
        for entry in reader.documents
        for one in read_entities(reader.read(ENTITIES, entry.id), entry.title)
    ]
    groups = Groups(everyone, read_decisions(knobs.keep_apart, knobs.join))
    alike = find_alike(everyone, members_of(known))
    asking = _Asking(reader.collection, models, verdicts_of(known), work)
    rounds = 1 if models.offline else MOST_ROUNDS
    for _ in range(rounds):
        pairs = [(why, Pair(one, other)) for why, one, other in groups.open_pairs(alike)]
        decide = _by_names if models.offline else asking.decide
        for decision in decide(pairs):
            groups.decide(decision)
        if not pairs:
            break
    found = groups.groups()
    nodes, edges = nodes_and_edges(reader.collection, found, groups.decided, asking.said)
    facts = {
        "identities": sum(len(group) > 1 for group in found),
        "told_apart": sum(not one.same for one in groups.decided),
        "documents": len(reader.documents),
        "asked": asking.asked,
    }
    return Built(tuple(nodes), tuple(edges), facts, tuple(asking.gaps))


def _by_names(pairs: Sequence[Asked]) -> list[Decision]:
    return [
        Decision(pair.one, pair.other, True, NAMES, alike.why)
        for alike, pair in pairs
        if alike.is_sure
    ]


@dataclass
class _Asking:
    """Has a model decide; `verdicts` are what it said before, `said` what it says of this build.

    The latter by the ids of the first of each pair.
    """

    collection: str
    models: Models
    verdicts: Mapping[str, tuple[bool, str]]
    work: Work
    asked: int = 0
    said: dict[str, list[Verdict]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)

    def decide(self, pairs: Sequence[Asked]) -> list[Decision]:
        """A decision on each pair, in their order."""
        new = [pair for _, pair in pairs if pair.digest not in self.verdicts]
        said = self._ask(new)
        found = []
        for alike, pair in pairs:
            verdict = self.verdicts.get(pair.digest) or said[pair.digest]
            if verdict is None:
                # By names, as nobody else says anything; and it is asked again.
                found.append(Decision(pair.one, pair.other, alike.is_sure, NAMES, alike.why))
                continue
            same, why = verdict
            self.said.setdefault(pair.one.id, []).append((pair.digest, same, why))
            found.append(Decision(pair.one, pair.other, same, MODEL, why))
        return found

    def _ask(self, pairs: Sequence[Pair]) -> dict[str, tuple[bool, str] | None]:
        """What the model says of each, by digests; None where it says nothing."""
        judge = Judge(self.models.chat("model", STEP), self.models.temperature)
        batches = [
            pairs[start : start + PAIRS_A_CALL] for start in range(0, len(pairs), PAIRS_A_CALL)
        ]
        self.work.gaps.expect(len(batches))
        self.work.progress.expect(STEP, len(batches))
        self.asked += len(pairs)

        def ask(batch: Sequence[Pair]) -> Sequence[tuple[bool, str] | None]:
            said: Sequence[tuple[bool, str] | None]
            try:
                said = judge.ask(batch)
            except BadReply as error:
                self.gaps.append(self._gap(self.work.gaps.accept(error), batch))
                said = [None] * len(batch)
            self.work.progress.done(STEP, self.models.meter.total())
            return said

        replies = self.work.job.each(0, ask, batches)
        return {
            pair.digest: verdict
            for batch, verdicts in zip(batches, replies, strict=True)
            for pair, verdict in zip(batch, verdicts, strict=True)
        }

    def _gap(self, why: str, pairs: Sequence[Pair]) -> Gap:
        """Pairs of which nothing is said; it goes with any of the documents that it tells of."""
        named: list[Named] = [one for pair in pairs for one in (pair.one, pair.other)]
        sources = tuple(dict.fromkeys(one.source for one in named))
        told = {"of": parts_of(self.collection, named)}
        return Gap(STEP, why, sources, dict.fromkeys((one.id for one in named), 1.0), told)
