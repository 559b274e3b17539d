"""The previous aspect graph of a document, and what of it can be used again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from fabula.graphs.aspects.cluster import ClusterOptions
from fabula.graphs.aspects.repair import repair
from fabula.graphs.aspects.tree import NodeGroup, TreeNode
from fabula.graphs.aspects.values import DETAILS, Detail, MissingReply, StoredAspects, Summary
from fabula.text.document import Chunk

MAX_CHANGED = 0.1
"""The share of changed chunks above which clusters are made again."""


class PreviousAspects:
    """A document's previous graph, looked up by what its parts were made from.

    Ids are digests of content, so equal ids mean equal content. A cluster whose summary or aspects
    are missing is still a cluster: it keeps its members.
    """

    def __init__(self, stored: StoredAspects, chunks: Sequence[Chunk]) -> None:
        """Compare the stored graph with the document's chunks now."""
        self._chunks = {chunk.id: chunk for chunk in stored.chunks}
        self._summaries = {summary.id: summary for summary in stored.summaries}
        self._details: dict[str, list[Detail]] = defaultdict(list)
        for detail in stored.details:
            self._details[detail.chunk].append(detail)
        self._without_details = {
            chunk.id
            for missing in stored.missing
            if missing.step == DETAILS
            for chunk in missing.members
        }
        self._clusters: list[Summary | MissingReply] = [*stored.summaries]
        self._clusters += [missing for missing in stored.missing if missing.step != DETAILS]
        self._aspects: dict[frozenset[str], set[str]] = defaultdict(set)
        for cluster in self._clusters:
            if cluster.level == 1 and cluster.aspect:
                members = frozenset(member.id for member in cluster.members)
                self._aspects[members].add(cluster.aspect)
        self.assigned = frozenset(stored.assigned)
        """The names of the aspects that had to be assigned to a cluster."""
        kept = [number for number, chunk in enumerate(chunks) if chunk.id in self._chunks]
        end = kept[-1] + 1 if kept else len(chunks)
        self._old_end = chunks[end].start if end < len(chunks) else math.inf
        """Where the text begins that a document was continued with; its chunks are all new."""
        removed = len(self._chunks.keys() - {chunk.id for chunk in chunks})
        added = end - len(kept)
        changed = stored.changed + max(removed, added)
        self._keeps_clusters = bool(stored.chunks) and changed <= MAX_CHANGED * len(chunks)
        self.changed = changed if self._keeps_clusters else 0
        """How many chunks have changed since the clusters were made; 0 if they are made now."""
        self.rounds = stored.rounds if self._keeps_clusters else 0
        """How often the clusters that are kept were asked for aspects."""
        self.missed = stored.missed if self._keeps_clusters else ()
        """Which aspects they lacked after which round."""

    def has_details(self, chunk: Chunk) -> bool:
        """Tell whether the chunk was there before, and its details were not missing."""
        return chunk.id in self._chunks and chunk.id not in self._without_details

    def details(self, chunk: Chunk) -> list[Detail]:
        """Return the details of a chunk that was there before, with its place now."""
        return [
            replace(detail, section=chunk.section, start=chunk.start, end=chunk.end)
            for detail in self._details[chunk.id]
        ]

    def summary(self, id: str) -> Summary | None:
        """Return the summary of that id, if there was one."""
        return self._summaries.get(id)

    def aspects(self, group: NodeGroup) -> set[str] | None:
        """Return the aspects that a cluster was found to have; None for a new cluster."""
        return self._aspects.get(frozenset(node.id for node in group.nodes))

    def groups(
        self,
        aspect: str,
        level: int,
        nodes: Sequence[TreeNode],
        options: ClusterOptions,
        divide: Callable[[Sequence[TreeNode]], list[NodeGroup]],
    ) -> list[NodeGroup]:
        """Return the clusters of nodes that a level of summaries is made from.

        The previous clusters are repaired if only few chunks have changed; otherwise `divide` makes
        new ones. Text after the old end is no change: its passages become clusters of their own
        where there are enough for one. Fewer chunks join the clusters that they fit, and fewer
        summaries wait for those of later text, so that each is merged once as a serial grows.

        Args:
            aspect: The tree's aspect; '' on level 1, whose clusters all aspects share.
            level: The level of the summaries to make, from 1.
            nodes: The nodes to cluster: all chunks, or the summaries of the levels below.
            options: How to cluster.
            divide: Makes clusters of nodes, without regard to previous ones.
        """
        if not self._keeps_clusters or len(nodes) < 2:
            return divide(nodes)
        below = [
            cluster
            for cluster in self._clusters
            if cluster.level < level and cluster.aspect == aspect
        ]
        merged = {member.id for cluster in below for member in cluster.members}
        summaries = {cluster.id for cluster in below if isinstance(cluster, Summary)}
        previous_nodes = summaries - merged if level > 1 else self._chunks.keys()
        # By their members: on level 1 a cluster has a summary for each of its aspects.
        previous = {
            frozenset(member.id for member in cluster.members): {
                member.id: member.weight for member in cluster.members
            }
            for cluster in self._clusters
            if cluster.level == level and (level == 1 or cluster.aspect == aspect)
        }
        mend = partial(repair, [*previous.values()], previous_nodes, options=options, divide=divide)
        new = [node for node in nodes if node.start >= self._old_end]
        if not new:
            return mend(nodes)
        if level > 1:
            unmerged = set(previous_nodes).difference(*previous)
            new += [node for node in nodes if node.id in unmerged]
        # A cluster that chunks join is asked for again, and so is all that was merged from it: from
        # half the size on it is cheaper to add one. Summaries can wait.
        fewest = options.size / 2 if level == 1 else options.size
        own = divide(sorted(new, key=_place)) if len(new) >= fewest else []
        if level == 1 and not own:
            return mend(nodes)
        apart = {node.id for node in new}
        old = [node for node in nodes if node.id not in apart]
        return [*(mend(old) if previous else ()), *own]


def _place(node: TreeNode) -> tuple[int, int]:
    return node.start, node.end
