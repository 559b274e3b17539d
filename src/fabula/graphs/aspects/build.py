"""The method: a document's chunks become a tree of summaries for each aspect, and details."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from fabula.errors import BadReply
from fabula.graph.calls import Calls, batches
from fabula.graph.method import Built, Known, Text, Work
from fabula.graphs.aspects import ids
from fabula.graphs.aspects.border import edges_of, gaps_of, nodes_of, read
from fabula.graphs.aspects.cluster import Clustering, cluster
from fabula.graphs.aspects.detection import represent
from fabula.graphs.aspects.facts import facts
from fabula.graphs.aspects.former import Former
from fabula.graphs.aspects.knobs import Knobs
from fabula.graphs.aspects.sets import read_aspects
from fabula.graphs.aspects.stand_ins import StandIns
from fabula.graphs.aspects.tree import (
    Group,
    TreeNode,
    embeddings,
    grouped,
    grow,
    members_of,
    summary,
)
from fabula.graphs.aspects.values import (
    ASPECTS,
    DETAILS,
    SUMMARIES,
    Aspect,
    Detail,
    Missing,
    Summary,
)
from fabula.graphs.aspects.writer import Writer, make_writer
from fabula.models.roles import Models
from fabula.text import tokens
from fabula.text.document import Chunk

# What many later calls depend on goes first; details, on which nothing depends, fill the gaps.
DETECT, SUMMARISE, CONDENSE = range(1, 4)

Bare = TypeVar("Bare", Summary, Detail)


def build(text: Text, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The aspect graph of a document, whose chunks it rests on; it knows no database.

    The aspect-oriented extension of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059): soft clusters
    of chunks, the aspects clearest in each, one tree of summaries an aspect, and detail nodes.
    Deterministic where the models are. What an edit left alone of the graph that is `known`, made
    by the same models and knobs, is used again. What no model gives is a gap. Raises ModelError,
    and SettingsError for an aspect set that is none.
    """
    aspects = read_aspects(knobs.set)
    former = Former(read(known), text.chunks)
    writer = make_writer(text, knobs, models, StandIns.expected(known.means, knobs))
    calls = Calls(models, work)
    steps = _Steps(text.document.id, knobs, aspects, models, writer, former, work, calls)
    work.gaps.expect(len(text.chunks) if knobs.details else 0)
    condensed = work.job.start(steps.condense, text.chunks if knobs.details else ())
    clusters = steps.cluster(text.chunks) if knobs.levels else []
    summaries, assigned = steps.grow(clusters) if clusters else ([], [])
    details = condensed.result()
    return Built(
        nodes_of(text.chunks, summaries, details),
        edges_of(summaries, details),
        facts(knobs, aspects, summaries, details, assigned, former.changed, steps.missing),
        gaps_of(text.chunks, summaries, steps.missing),
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one document's build, and what they share."""

    document: str
    knobs: Knobs
    aspects: tuple[Aspect, ...]
    models: Models
    writer: Writer
    former: Former
    work: Work
    calls: Calls
    drafts: dict[str, str] = field(default_factory=dict)
    """Texts of summaries that detection wrote, by the summaries' ids."""
    missing: list[Missing] = field(default_factory=list)
    """What no model gave, until now."""

    def embed(self, passages: Sequence[Bare]) -> list[Bare]:
        """The same passages, all with embeddings, asked for in batches, side by side."""
        bare = [one.text.strip() for one in passages if not len(one.embedding)]
        vectors = self.calls.embed(bare, {})
        return [
            one if len(one.embedding) else replace(one, embedding=vectors[one.text.strip()])
            for one in passages
        ]

    def cluster(self, chunks: Sequence[Chunk]) -> list[Group]:
        """Soft clusters of chunks."""
        groups = self._divided("", 1, chunks)
        known = sum(self.former.aspects(group) is not None for group in groups)
        self.calls.save(ASPECTS, known)
        self.work.gaps.expect(len(groups) if len(self.aspects) > 1 else 0)
        return groups

    def grow(self, groups: Sequence[Group]) -> tuple[list[Summary], list[str]]:
        """The summaries of every aspect, and the names of those that had to be assigned.

        A tree grows as soon as its aspect's clusters are certain; none waits for another.
        """
        growing: list[Future[list[Summary]]] = []
        assigned: list[str] = []
        for aspect, holders, was_assigned in represent(
            self.aspects,
            # Extraction finds the same each time it is asked.
            0 if self.models.offline else self.knobs.detection_rounds,
            lambda aspects, number: self._detect(groups, aspects, number),
            lambda aspect: self._best_fit(groups, aspect),
        ):
            held = [groups[number] for number in holders]
            growing.append(
                self.work.job.start(
                    grow, aspect, held, self.knobs.levels, self._summarise, self._divide
                )
            )
            stays_assigned = aspect.name in self.former.assigned and all(
                self.former.aspects(group) for group in held
            )
            assigned += [aspect.name] * (was_assigned or stays_assigned)
        return [summary for tree in growing for summary in tree.result()], assigned

    def condense(self, chunks: Sequence[Chunk]) -> list[Detail]:
        """The detail nodes of every chunk, embedded."""
        size = 1 if self.models.offline else self.knobs.details_per_call
        new = batches([chunk for chunk in chunks if not self.former.has(chunk)], size)
        made = self.calls.each(CONDENSE, DETAILS, self._details, new)
        by_chunk = {
            chunk.id: told
            for batch, all_told in zip(new, made, strict=True)
            for chunk, told in zip(batch, all_told, strict=True)
        }
        self.calls.save(DETAILS, -(-(len(chunks) - len(by_chunk)) // size))
        details = [by_chunk.get(chunk.id) or self.former.details(chunk) for chunk in chunks]
        return self.embed([detail for one in details for detail in one])

    def _divide(self, aspect: Aspect, level: int, nodes: Sequence[TreeNode]) -> list[Group]:
        return self._divided(aspect.name, level, nodes)

    def _divided(self, aspect: str, level: int, nodes: Sequence[TreeNode]) -> list[Group]:
        """Clusters of nodes: as they were, as far as they did not change; else made now."""
        knobs = _clustering(self.knobs)

        def divide(nodes: Sequence[TreeNode]) -> list[Group]:
            counts = [node.tokens for node in nodes]
            return grouped(nodes, cluster(embeddings(nodes), counts, knobs))

        return self.former.groups(aspect, level, nodes, knobs, divide)

    def _detect(
        self, groups: Sequence[Group], aspects: Sequence[Aspect], number: int
    ) -> list[Collection[str]]:
        """The aspects clearest in each group; a known group has those that it was found to hold.

        Of one that could not be asked for them, nothing is told in any round.
        """
        names = {aspect.name for aspect in aspects}
        if len(self.aspects) == 1:
            # As in RAPTOR: there is nothing to choose, and every cluster is summarised.
            return [names] * len(groups)

        def detect(group: Group) -> Collection[str]:
            members = [node.id for node in group.nodes]
            text = "\n\n".join(node.text.strip() for node in group.nodes)
            try:
                found = self.writer.detect(text, aspects, number)
            except BadReply as error:
                if number:
                    # The group has what the first round found.
                    self.work.gaps.accept(error)
                else:
                    self._miss(ASPECTS, error, group)
                return ()
            for name, draft in found.items():
                self.drafts[ids.summary_id(self.document, name, 1, members)] = draft
            return found

        known = [
            set() if self._is_undetected(group) else self.former.aspects(group) for group in groups
        ]
        new = [group for group, held in zip(groups, known, strict=True) if held is None]
        found = iter(self.calls.each(DETECT, ASPECTS, detect, new))
        return [next(found) if held is None else held & names for held in known]

    def _best_fit(self, groups: Sequence[Group], aspect: Aspect) -> int | None:
        """The group whose mean embedding is nearest to the aspect's description.

        None where no group could be asked for its aspects: those wait until it can.
        """
        rows = [row for row, group in enumerate(groups) if not self._is_undetected(group)]
        if not rows:
            return None
        [wanted] = self.models.embedder.embed([aspect.description]).vectors
        centres = np.stack([embeddings(groups[row].nodes).mean(axis=0) for row in rows])
        return rows[int(np.argmax(centres @ wanted / np.linalg.norm(centres, axis=1)))]

    def _is_undetected(self, group: Group) -> bool:
        members = members_of(group)
        return any(one.step == ASPECTS and one.members == members for one in self.missing)

    def _summarise(self, aspect: Aspect, level: int, groups: Sequence[Group]) -> list[Summary]:
        def summarise(group: Group) -> Summary | None:
            try:
                text = self.writer.summarise([node.text.strip() for node in group.nodes], aspect)
            except BadReply as error:
                self._miss(SUMMARIES, error, group, aspect.name, level)
                return None
            return summary(self.document, aspect.name, level, group, text, tokens.count(text))

        self.work.gaps.expect(len(groups))
        told = [self._told(aspect, level, group) for group in groups]
        untold = [group for group, one in zip(groups, told, strict=True) if one is None]
        self.calls.save(SUMMARIES, sum(one is not None and len(one.embedding) > 0 for one in told))
        new = iter(self.calls.each(SUMMARISE, SUMMARIES, summarise, untold))
        made = [one or next(new) for one in told]
        return self.embed([one for one in made if one is not None])

    def _told(self, aspect: Aspect, level: int, group: Group) -> Summary | None:
        """The summary of a group, where the former graph has it or detection wrote it."""
        members = [node.id for node in group.nodes]
        identity = ids.summary_id(self.document, aspect.name, level, members)
        if known := self.former.summary(identity):
            placed = summary(self.document, aspect.name, level, group, known.text, known.tokens)
            return replace(placed, embedding=known.embedding)
        if draft := self.drafts.get(identity):
            return summary(self.document, aspect.name, level, group, draft, tokens.count(draft))
        return None

    def _details(self, chunks: Sequence[Chunk]) -> list[list[Detail]]:
        made: list[list[Detail]] = []
        told = self.writer.condense([chunk.text.strip() for chunk in chunks])
        for chunk, one in zip(chunks, told, strict=True):
            if isinstance(one, BadReply):
                self._miss(DETAILS, one, Group((chunk,), (1.0,)), level=0)
            made.append([] if isinstance(one, BadReply) else self._detailed(chunk, one))
        return made

    def _detailed(self, chunk: Chunk, texts: Sequence[str]) -> list[Detail]:
        return [
            Detail(
                id=ids.detail_id(chunk.id, ordinal),
                chunk=chunk.id,
                ordinal=ordinal,
                section=chunk.section,
                start=chunk.start,
                end=chunk.end,
                text=text,
                tokens=tokens.count(text),
            )
            for ordinal, text in enumerate(texts)
        ]

    def _miss(
        self, step: str, error: BadReply, group: Group, aspect: str = "", level: int = 1
    ) -> None:
        """Goes on without what a model did not give. Raises BadReply where too much is missing."""
        why = self.work.gaps.accept(error)
        self.missing.append(Missing(step, why, members_of(group), aspect, level))


def _clustering(knobs: Knobs) -> Clustering:
    return Clustering(
        size=knobs.cluster_size,
        tokens=knobs.cluster_tokens,
        count=knobs.cluster_count,
        reduction=knobs.cluster_reduction,
        dimensions=knobs.cluster_dimensions,
        membership=knobs.membership,
        variance_floor=knobs.variance_floor,
        seed=knobs.seed,
    )
