"""Who is whom across documents: entities in groups that only grow, and what was decided of each.

Groups are made by decisions on pairs: of a person, of a model, or of names. A group has one entity
of a document at most, but where a person wants more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.identities.likely import Alike, Named, is_called, may_be_one, score

NAMES, MODEL, PERSON = "names", "model", "person"
"""Who decided."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether two entities are one, who says so and why."""

    one: Named
    other: Named
    same: bool
    by: str
    why: str

    @property
    def score(self) -> float:
        """How alike their names are, from 0 to 1."""
        return score(self.one, self.other)


class Groups:
    """Each entity begins alone."""

    def __init__(self, everyone: Iterable[Named], decisions: Decisions) -> None:
        self._named = {one.id: one for one in everyone}
        self._root = {id: id for id in self._named}
        self._members = {id: [id] for id in self._named}
        self._apart: dict[str, set[str]] = defaultdict(set)
        self._kept_apart = {
            frozenset((one.id, other.id)): f"{first} = {second}"
            for first, second in decisions.keep_apart
            for one, other in self._called(first, second)
        }
        self.decided: list[Decision] = []
        for first, second in decisions.join:
            for one, other in self._called(first, second):
                self.decide(Decision(one, other, True, PERSON, f"{first} = {second}"))

    def groups(self) -> list[list[Named]]:
        """All groups, each with who is mentioned most first."""
        return [
            sorted((self._named[id] for id in ids), key=lambda one: (-one.mentions, one.id))
            for ids in self._members.values()
        ]

    def open_pairs(self, alike: Sequence[Alike]) -> Iterator[tuple[Alike, Named, Named]]:
        """Pairs to be decided next, no two of the same groups: the first of each that is alike
        with all others of it, or else the next.
        """
        told: set[frozenset[str]] = set()
        for one in alike:
            heads = {self._root[member.id]: member for member in reversed(one.members)}
            for root in sorted(heads, key=lambda root: one.members.index(heads[root])):
                new = [
                    other
                    for other in heads
                    if self._is_open(root, other) and frozenset((root, other)) not in told
                ]
                for other in new:
                    told.add(frozenset((root, other)))
                    yield one, heads[root], heads[other]
                if new:
                    break

    def decide(self, decision: Decision) -> None:
        """Take a decision; a person's, that keeps two apart, is stronger than any other."""
        one, other = self._root[decision.one.id], self._root[decision.other.id]
        if one == other:
            return
        if decision.same and (kept := self._kept(one, other)):
            decision = Decision(decision.one, decision.other, False, PERSON, kept)
        if decision.same and not (decision.by == PERSON or self._fits(one, other)):
            self._part(one, other)
            return
        self.decided.append(decision)
        if not decision.same:
            self._part(one, other)
            return
        into, gone = min(one, other), max(one, other)
        for id in self._members[gone]:
            self._root[id] = into
        self._members[into] += self._members.pop(gone)
        for another in self._apart.pop(gone, set()):
            self._apart[another].discard(gone)
            if another != into:
                self._part(another, into)

    def _part(self, one: str, other: str) -> None:
        self._apart[one].add(other)
        self._apart[other].add(one)

    def _is_open(self, one: str, other: str) -> bool:
        return one != other and other not in self._apart[one] and self._fits(one, other)

    def _fits(self, one: str, other: str) -> bool:
        ones, others = ([self._named[id] for id in self._members[it]] for it in (one, other))
        documents = {named.document for named in ones} & {named.document for named in others}
        return not documents and may_be_one(*ones, *others)

    def _kept(self, one: str, other: str) -> str:
        """The words in which a person keeps two groups apart; '' where nobody does."""
        if not self._kept_apart:
            return ""
        pairs = (frozenset((a, b)) for a in self._members[one] for b in self._members[other])
        return next((self._kept_apart[pair] for pair in pairs if pair in self._kept_apart), "")

    def _called(self, first: str, second: str) -> Iterator[tuple[Named, Named]]:
        """Whom a person means, in all documents that are not the same."""
        everyone = list(self._named.values())
        ones = [one for one in everyone if is_called(one, first)]
        others = [one for one in everyone if is_called(one, second)]
        for one in ones:
            for other in others:
                if one.document != other.document:
                    yield one, other
