"""Groups of entities that are one and the same; they are joined by decisions on pairs.

A decision is made by a person, a model or names. A group has one entity of each document at most,
unless a person wants more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.names import titled_key
from fabula_graphs.identities.candidates import (
    Candidates,
    ComparedEntity,
    is_called,
    may_be_one,
    score,
)

NAMES, MODEL, PERSON = "names", "model", "person"
"""Who made a decision."""


@dataclass(frozen=True, slots=True)
class IdentityDecision:
    """Whether two entities are one, who decided it and why."""

    first: ComparedEntity
    second: ComparedEntity
    same: bool
    by: str
    why: str

    @property
    def score(self) -> float:
        """How alike their names are, from 0 to 1."""
        return score(self.first, self.second)


def _is_named(entity: ComparedEntity, name: str) -> bool:
    return titled_key(entity.name) == titled_key(name)


class Groups:
    """Entities in groups; each begins alone, and decisions join them or keep them apart.

    A group is known by its root, the smallest id of its entities when it was joined.
    """

    def __init__(self, entities: Iterable[ComparedEntity], decisions: DecidedPairs) -> None:
        """Put each entity in a group of its own, and follow a person's decisions."""
        self._entities = {entity.id: entity for entity in entities}
        self._root = {id: id for id in self._entities}
        self._members = {id: [id] for id in self._entities}
        self._apart: dict[str, set[str]] = defaultdict(set)
        self._kept_apart_by_person = {
            frozenset((first.id, second.id)): f"{first_name} = {second_name}"
            for first_name, second_name in decisions.keep_apart
            for first, second in self._pairs_called(first_name, second_name)
            # Where names differ, who is called by one of them is not meant by the other, though
            # it may be a name of theirs, too.
            if titled_key(first_name) == titled_key(second_name)
            or not (_is_named(first, second_name) or _is_named(second, first_name))
        }
        self.decided: list[IdentityDecision] = []
        for first_name, second_name in decisions.join:
            for first, second in self._pairs_called(first_name, second_name):
                why = f"{first_name} = {second_name}"
                self.decide(IdentityDecision(first, second, True, PERSON, why))

    def groups(self) -> list[list[ComparedEntity]]:
        """Return all groups; in each the entity with most mentions is first."""
        return [
            sorted(
                (self._entities[id] for id in ids), key=lambda entity: (-entity.mentions, entity.id)
            )
            for ids in self._members.values()
        ]

    def open_pairs(
        self, candidates: Sequence[Candidates]
    ) -> Iterator[tuple[Candidates, ComparedEntity, ComparedEntity]]:
        """Yield the pairs that are to be decided next, no two of the same groups.

        Of each set of candidates the first is paired with all others that are open to it; where
        none is, the next one is.
        """
        paired: set[frozenset[str]] = set()
        for group in candidates:
            heads = {self._root[member.id]: member for member in reversed(group.members)}
            for root in sorted(heads, key=lambda root: group.members.index(heads[root])):
                new = [
                    other
                    for other in heads
                    if self._is_open(root, other) and frozenset((root, other)) not in paired
                ]
                for other in new:
                    paired.add(frozenset((root, other)))
                    yield group, heads[root], heads[other]
                if new:
                    break

    def decide(self, decision: IdentityDecision) -> None:
        """Follow a decision; where a person keeps the two groups apart, that counts instead."""
        first, second = self._root[decision.first.id], self._root[decision.second.id]
        if first == second:
            return
        if decision.same and (why := self._why_kept_apart(first, second)):
            decision = IdentityDecision(decision.first, decision.second, False, PERSON, why)
        if decision.same and not (decision.by == PERSON or self._fits(first, second)):
            self._keep_apart(first, second)
            return
        self.decided.append(decision)
        if not decision.same:
            self._keep_apart(first, second)
            return
        root, gone = min(first, second), max(first, second)
        for id in self._members[gone]:
            self._root[id] = root
        self._members[root] += self._members.pop(gone)
        for other in self._apart.pop(gone, set()):
            self._apart[other].discard(gone)
            if other != root:
                self._keep_apart(other, root)

    def _keep_apart(self, first: str, second: str) -> None:
        self._apart[first].add(second)
        self._apart[second].add(first)

    def _is_open(self, first: str, second: str) -> bool:
        return first != second and second not in self._apart[first] and self._fits(first, second)

    def _fits(self, first: str, second: str) -> bool:
        group, other_group = (
            [self._entities[id] for id in self._members[root]] for root in (first, second)
        )
        documents = {entity.document for entity in group}
        is_in_both = any(entity.document in documents for entity in other_group)
        return not is_in_both and may_be_one(*group, *other_group)

    def _why_kept_apart(self, first: str, second: str) -> str:
        """The words in which a person keeps two groups apart; '' where nobody does."""
        if not self._kept_apart_by_person:
            return ""
        pairs = (frozenset((a, b)) for a in self._members[first] for b in self._members[second])
        whys = (self._kept_apart_by_person.get(pair, "") for pair in pairs)
        return next(filter(None, whys), "")

    def _pairs_called(
        self, first_name: str, second_name: str
    ) -> Iterator[tuple[ComparedEntity, ComparedEntity]]:
        """Whom a person means by two names, in each two documents."""
        entities = list(self._entities.values())
        second_called = [entity for entity in entities if is_called(entity, second_name)]
        for first in entities:
            if is_called(first, first_name):
                for second in second_called:
                    if first.document != second.document:
                        yield first, second
