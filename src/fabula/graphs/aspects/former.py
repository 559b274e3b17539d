"""What an earlier build of a document made, and what of it can be used again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from fabula.graphs.aspects.cluster import Clustering
from fabula.graphs.aspects.repair import repair
from fabula.graphs.aspects.tree import Group, TreeNode
from fabula.graphs.aspects.values import DETAILS, Detail, Earlier, Missing, Summary
from fabula.text.document import Chunk

MOST_CHANGED = 0.1
"""Share of chunks; once more have changed, clusters are made again."""


class Former:
    """A document's former graph, looked up by what its parts were made from.

    Ids are made from content, so what has the same id says the same. `changed` counts the chunks
    that have changed since the clusters were made; 0 where they are to be made now. What was
    missing keeps its place: a cluster without its summary, or without its aspects, is a cluster.
    """

    def __init__(self, earlier: Earlier, chunks: Sequence[Chunk]) -> None:
        self._chunks = {chunk.id: chunk for chunk in earlier.chunks}
        self._summaries = {summary.id: summary for summary in earlier.summaries}
        self._details: dict[str, list[Detail]] = defaultdict(list)
        for detail in earlier.details:
            self._details[detail.chunk].append(detail)
        self._bare = {
            chunk.id for one in earlier.missing if one.step == DETAILS for chunk in one.members
        }
        self._clusters: list[Summary | Missing] = [*earlier.summaries]
        self._clusters += [one for one in earlier.missing if one.step != DETAILS]
        self._aspects: dict[frozenset[str], set[str]] = defaultdict(set)
        for one in self._clusters:
            if one.level == 1 and one.aspect:
                self._aspects[frozenset(member.id for member in one.members)].add(one.aspect)
        self.assigned = frozenset(earlier.assigned)
        now = {chunk.id for chunk in chunks}
        gone, come = len(self._chunks.keys() - now), len(now - self._chunks.keys())
        changed = earlier.changed + max(gone, come)
        self._is_kept = bool(earlier.chunks) and changed <= MOST_CHANGED * len(chunks)
        self.changed = changed if self._is_kept else 0

    def has(self, chunk: Chunk) -> bool:
        """Whether the chunk was there before, and its details were had."""
        return chunk.id in self._chunks and chunk.id not in self._bare

    def details(self, chunk: Chunk) -> list[Detail]:
        """The details of a chunk that was there before, placed where it is now."""
        return [
            replace(detail, section=chunk.section, start=chunk.start, end=chunk.end)
            for detail in self._details[chunk.id]
        ]

    def summary(self, id: str) -> Summary | None:
        """The summary of that id."""
        return self._summaries.get(id)

    def aspects(self, group: Group) -> set[str] | None:
        """The aspects that a cluster was found to hold; None for a cluster that is new."""
        return self._aspects.get(frozenset(node.id for node in group.nodes))

    def groups(
        self,
        aspect: str,
        level: int,
        nodes: Sequence[TreeNode],
        knobs: Clustering,
        divide: Callable[[Sequence[TreeNode]], list[Group]],
    ) -> list[Group]:
        """The clusters of `nodes`, which a level of summaries is to be made of.

        Repaired where there were some, as long as few chunks have changed; else made by `divide`.
        At level 1 they are of chunks, and all aspects share them.
        """
        if not self._is_kept or len(nodes) < 2:
            return divide(nodes)
        below = [one for one in self._clusters if one.level < level and one.aspect == aspect]
        merged = {member.id for one in below for member in one.members}
        there = {one.id for one in below if isinstance(one, Summary)}
        before = there - merged if level > 1 else self._chunks.keys()
        former = {
            frozenset(member.id for member in one.members): {
                member.id: member.weight for member in one.members
            }
            for one in self._clusters
            if one.level == level and (level == 1 or one.aspect == aspect)
        }
        return repair(list(former.values()), before, nodes, knobs, divide)
