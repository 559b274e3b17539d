"""The build: a document's chunks become a tree of summaries for each aspect, and details."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from fabula.errors import BadReply
from fabula.graph.builds import Build, Start, embed_batch
from fabula.graph.calls import Calls, EmbeddingStream, batches
from fabula.graph.gaps import Missing
from fabula.graph.method import BuildText, BuildWork, Built, Known
from fabula.graphs.aspects import ids
from fabula.graphs.aspects.cluster import ClusterOptions, check_reduction, cluster
from fabula.graphs.aspects.detection import Attempt, Detect, Rounds, assign_clusters, repeat_all
from fabula.graphs.aspects.labels import MODEL, RULES
from fabula.graphs.aspects.make_writer import make_writer
from fabula.graphs.aspects.mapping import (
    AspectPieces,
    make_edges,
    make_gaps,
    make_nodes,
    read_stored,
)
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.part_facts import count_facts
from fabula.graphs.aspects.placeholders import AspectPlaceholders
from fabula.graphs.aspects.previous import PreviousAspects
from fabula.graphs.aspects.sets import chosen_aspects
from fabula.graphs.aspects.tree import (
    NodeGroup,
    TreeNode,
    embeddings,
    group_nodes,
    grow_trees,
    make_members,
    make_summary,
)
from fabula.graphs.aspects.values import (
    ASPECTS,
    DETAILS,
    SUMMARIES,
    Aspect,
    ClusterMember,
    Detail,
    Grown,
    MissingReply,
    Summary,
)
from fabula.graphs.aspects.writer import Writer
from fabula.models.roles import ModelProfile
from fabula.text import tokens
from fabula.text.document import Chunk, Vector

Embedded = TypeVar("Embedded", Summary, Detail)


def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Build the aspect graph of a document.

    An extension of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), whose one tree of general
    summaries becomes a tree for each narrative aspect: chunks are clustered softly (section 3),
    a model chooses the aspects that are clearest in each cluster, each aspect grows a tree of
    summaries aimed at it alone, and each chunk gets detail nodes.

    The result is the same for the same replies of models. Whatever an edit left unchanged is reused
    from the previous graph; what no model gives is left out as a gap.

    Args:
        text: The document and its embedded chunks.
        options: The options of the graph.
        models: The models to ask; offline, the text itself is quoted.
        known: The previous graph, made by the same models and options.
        work: Workers for calls, progress, and the limit of gaps.

    Raises:
        ModelError: An endpoint fails, or too many replies cannot be used.
        SettingsError: The aspect set does not exist or is malformed.
    """
    aspect_set = chosen_aspects(options)
    aspects = aspect_set.aspects
    previous = PreviousAspects(read_stored(known), text.chunks)
    placeholders = AspectPlaceholders.expect(known.means, options)
    check_reduction(options.cluster_reduction)
    writer = make_writer(text, aspect_set, options, models, placeholders)
    calls = Calls(models, work)
    by = RULES if models.offline else MODEL
    pieces = AspectPieces(text.chunks, by, work.pieces)
    id = text.document.id
    steps = _Steps(id, options, aspects, models, writer, previous, work, calls, pieces)
    work.gaps.expect(len(text.chunks) if options.details else 0)
    # Details depend on chunks alone, so they are written while the trees grow.
    details_build = yield Start(steps.condense(text.chunks if options.details else ()))
    yield []
    clusters = steps.cluster(text.chunks) if options.levels else []
    grown = Grown(changed=previous.changed)
    if clusters:
        grown = yield from steps.grow(clusters, text.chunks)
    [details] = yield [details_build]
    missing = [*steps.undetected, *steps.missing]
    return Built(
        make_nodes(text.chunks, grown.summaries, details, by),
        make_edges(grown.summaries, details),
        count_facts(options, aspects, grown, details, previous, missing),
        make_gaps(text.chunks, grown.summaries, _in_order(missing)),
    )


def _in_order(missing: Sequence[MissingReply]) -> list[MissingReply]:
    """Return missing replies in an order that does not depend on threads."""
    return sorted(
        missing,
        key=lambda each: (each.step, each.level, each.aspect, [one.id for one in each.members]),
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one document's build, and what they share."""

    document: str
    options: Options
    aspects: tuple[Aspect, ...]
    models: ModelProfile
    writer: Writer
    previous: PreviousAspects
    work: BuildWork
    calls: Calls
    pieces: AspectPieces
    drafts: dict[str, str] = field(default_factory=dict)
    """Texts of summaries that detection wrote, by the summaries' ids."""
    missing: list[MissingReply] = field(default_factory=list)
    """What no model gave so far, apart from `undetected`."""
    undetected: list[MissingReply] = field(default_factory=list)
    """The clusters of chunks whose aspects no model gave."""

    def embed(self, passages: Sequence[Embedded]) -> Build[list[Embedded]]:
        """Return the same passages, all with embeddings; those without are embedded in batches."""
        texts = [passage.text.strip() for passage in passages if not len(passage.embedding)]
        vectors = yield from self.calls.embed(texts, {})
        return [
            passage
            if len(passage.embedding)
            else replace(passage, embedding=vectors[passage.text.strip()])
            for passage in passages
        ]

    def cluster(self, chunks: Sequence[Chunk]) -> list[NodeGroup]:
        """Return soft clusters of chunks, and count the calls that known clusters save."""
        groups = self._divide("", 1, chunks)
        known = sum(self.previous.aspects(group) is not None for group in groups)
        self.work.saved[ASPECTS] += known
        self.work.gaps.expect(len(groups) if len(self.aspects) > 1 else 0)
        return groups

    def grow(self, groups: Sequence[NodeGroup], chunks: Sequence[Chunk]) -> Build[Grown]:
        """Return the summaries of every aspect, and what was found out about aspects on the way.

        No tree grows before the clusters of all aspects are certain.

        Args:
            groups: The clusters of chunks.
            chunks: The chunks, to cluster them again.
        """
        if self.options.repeat == "all" and len(self.aspects) > 1:
            return (yield from self._grow_from_best_attempt(groups, chunks))
        # Without a model, asking again would find the same.
        rounds = 0 if self.models.offline else self.options.detection_rounds
        return (
            yield from self._grow(
                groups, rounds, lambda aspects, number: self._detect(groups, aspects, number)
            )
        )

    def _grow_from_best_attempt(
        self, groups: Sequence[NodeGroup], chunks: Sequence[Chunk]
    ) -> Build[Grown]:
        """Repeat clustering and detection while an aspect is missing, and grow the trees then."""
        undetected: dict[int, list[MissingReply]] = {}

        def attempt(number: int) -> Build[Attempt[NodeGroup] | None]:
            tried = self._cluster_again(chunks, number) if number else groups
            if number and self.models.offline and _members(tried) == _members(groups):
                return None
            if number:
                self.work.gaps.expect(len(tried))
            self.undetected.clear()
            detected = yield from self._detect(tried, self.aspects, number, is_known=not number)
            undetected[number] = list(self.undetected)
            return Attempt(tried, detected)

        log = Rounds()
        number, best = yield from repeat_all(
            self.aspects, self.options.detection_rounds, attempt, log
        )
        self.undetected[:] = undetected[number]

        def detect(*_: object) -> Build[Sequence[Collection[str]]]:
            yield from ()
            return best.detected

        grown = yield from self._grow(best.groups, 0, detect)
        changed = 0 if number else grown.changed
        return replace(grown, changed=changed, rounds=log.count, missed=tuple(log.missing))

    def _cluster_again(self, chunks: Sequence[Chunk], number: int) -> list[NodeGroup]:
        """Return clusters of chunks by another seed; those by PCA come out the same again."""
        options = _cluster_options(self.options)
        counts = [chunk.tokens for chunk in chunks]
        again = replace(options, seed=options.seed + number)
        return group_nodes(chunks, cluster(embeddings(chunks), counts, again))

    def _grow(self, groups: Sequence[NodeGroup], rounds: int, detect: Detect) -> Build[Grown]:
        """Grow the trees of aspects, whose clusters `detect` finds in 1 + `rounds` rounds."""
        log = Rounds()

        def best_fit(aspect: Aspect) -> Build[int | None]:
            return self._best_fit(groups, aspect)

        found = yield from assign_clusters(self.aspects, rounds, detect, best_fit, log)
        clusters = {aspect: [groups[row] for row in rows] for aspect, rows, _ in found}
        assigned = [
            aspect.name
            for aspect, _, was_assigned in found
            if was_assigned or self._stays_assigned(aspect, clusters[aspect])
        ]
        summaries = yield from grow_trees(
            clusters,
            self.options.levels,
            self._summarise,
            lambda aspect, level, nodes: self._divide(aspect.name, level, nodes),
        )
        return Grown(
            tuple(summaries),
            tuple(assigned),
            self.previous.changed,
            log.count,
            tuple(log.missing),
        )

    def _stays_assigned(self, aspect: Aspect, groups: Sequence[NodeGroup]) -> bool:
        """Return whether an aspect has only clusters of the last graph, where it was assigned."""
        known = map(self.previous.aspects, groups)
        return aspect.name in self.previous.assigned and all(known)

    def condense(self, chunks: Sequence[Chunk]) -> Build[list[Detail]]:
        """Return the details of all chunks; they are embedded and passed on as they come."""
        size = 1 if self.models.offline else self.options.details_per_call
        new = batches([chunk for chunk in chunks if not self.previous.has_details(chunk)], size)
        replies = yield from self.calls.start_each(DETAILS, self._condense_batch, new)
        reply_of = {batch[0].id: (batch, reply) for batch, reply in zip(new, replies, strict=True)}
        embedding = EmbeddingStream(self.models)
        by_chunk: dict[str, list[Detail]] = {}
        done: list[Detail] = []
        waiting: deque[Detail] = deque()

        def pass_on() -> None:
            """Take the embedded details off the beginning of those that wait."""
            ready = []
            while waiting and (detail := _with_vector(waiting[0], embedding.vectors)):
                ready.append(detail)
                waiting.popleft()
            done.extend(ready)
            self.pieces.add(details=ready)

        for chunk in chunks:
            if chunk.id in reply_of:
                # A batch begins with this chunk, so all chunks before it have their details.
                batch, reply = reply_of[chunk.id]
                [[batch_details]] = yield [reply]
                by_chunk |= {each.id: d for each, d in zip(batch, batch_details, strict=True)}
            details = by_chunk.get(chunk.id) or self.previous.details(chunk)
            waiting.extend(details)
            bare = [detail.text.strip() for detail in details if not len(detail.embedding)]
            yield from embedding.add(bare)
            if embedding.collect():
                pass_on()
        # Calls saved are rounded up, as batches are.
        self.work.saved[DETAILS] += -(-(len(chunks) - len(by_chunk)) // size)
        yield from embedding.finish()
        pass_on()
        return done

    def _divide(self, aspect: str, level: int, nodes: Sequence[TreeNode]) -> list[NodeGroup]:
        """Return clusters of nodes, unchanged where their members are."""
        cluster_options = _cluster_options(self.options)

        def divide(nodes: Sequence[TreeNode]) -> list[NodeGroup]:
            counts = [node.tokens for node in nodes]
            return group_nodes(nodes, cluster(embeddings(nodes), counts, cluster_options))

        return self.previous.groups(aspect, level, nodes, cluster_options, divide)

    def _detect(
        self,
        groups: Sequence[NodeGroup],
        aspects: Sequence[Aspect],
        round_number: int,
        *,
        is_known: bool = True,
    ) -> Build[Sequence[Collection[str]]]:
        """Return each group's clearest aspects; if `is_known`, those of the last graph stay."""
        names = {aspect.name for aspect in aspects}
        if len(self.aspects) == 1:
            # As in RAPTOR: there is nothing to choose, and every cluster is summarised.
            return [names] * len(groups)

        def detect(group: NodeGroup) -> Build[Collection[str]]:
            members = [node.id for node in group.nodes]
            text = "\n\n".join(node.text.strip() for node in group.nodes)
            detected = yield from self.work.gaps.attempt(
                self.writer.detect, text, aspects, round_number
            )
            if isinstance(detected, Missing):
                # In later rounds the group keeps what the first round found.
                if not (round_number and is_known):
                    self._add_missing(ASPECTS, detected, group)
                return ()
            for name, draft in detected.items():
                self.drafts[ids.summary_id(self.document, name, 1, members)] = draft
            return detected

        known: list[set[str] | None] = [None] * len(groups)
        if is_known:
            # A group whose reply was not usable has none in any round.
            known = [
                set() if self._is_undetected(group) else self.previous.aspects(group)
                for group in groups
            ]
        new = [
            group for group, names_before in zip(groups, known, strict=True) if names_before is None
        ]
        results = iter((yield from self.calls.each(ASPECTS, detect, new)))
        return [
            next(results) if names_before is None else names_before & names
            for names_before in known
        ]

    def _best_fit(self, groups: Sequence[NodeGroup], aspect: Aspect) -> Build[int | None]:
        """Return the group whose mean embedding is nearest to the description, as its number."""
        rows = [row for row, group in enumerate(groups) if not self._is_undetected(group)]
        # No group could be asked for its aspects: those wait until one can.
        if not rows:
            return None
        # As a passage: a question's prefix is no part of what a graph is made from.
        [description] = yield from embed_batch([aspect.description])
        centres = np.stack([embeddings(groups[row].nodes).mean(axis=0) for row in rows])
        cosines = centres @ description / np.linalg.norm(centres, axis=1)
        return rows[int(np.argmax(cosines))]

    def _is_undetected(self, group: NodeGroup) -> bool:
        members = make_members(group)
        return any(missing.members == members for missing in self.undetected)

    def _summarise(
        self, level: int, groups: Mapping[Aspect, Sequence[NodeGroup]]
    ) -> Build[list[Summary]]:
        """Return the embedded summaries of aspects' groups, without those that no model gave."""

        def summarise(aspect: Aspect, group: NodeGroup) -> Build[Summary | None]:
            texts = [node.text.strip() for node in group.nodes]
            text = yield from self.work.gaps.attempt(self.writer.summarise, texts, aspect)
            if isinstance(text, Missing):
                self._add_missing(SUMMARIES, text, group, aspect.name, level)
                return None
            count = tokens.count(text)
            return make_summary(self.document, aspect.name, level, group, text, count)

        wanted = [(aspect, group) for aspect, own in groups.items() for group in own]
        self.work.gaps.expect(len(wanted))
        known = [self._known_summary(aspect, level, group) for aspect, group in wanted]
        new = [each for each, summary in zip(wanted, known, strict=True) if summary is None]
        # A draft of detection has no embedding yet, and saves no call.
        reused = sum(summary is not None and len(summary.embedding) > 0 for summary in known)
        self.work.saved[SUMMARIES] += reused
        made = yield from self.calls.each(SUMMARIES, lambda each: summarise(*each), new)
        results = iter(made)
        summaries = [summary or next(results) for summary in known]
        embedded = yield from self.embed([summary for summary in summaries if summary is not None])
        self.pieces.add(embedded)
        return embedded

    def _known_summary(self, aspect: Aspect, level: int, group: NodeGroup) -> Summary | None:
        """Return the summary of a group from the previous graph, or the one detection wrote."""
        members = [node.id for node in group.nodes]
        id = ids.summary_id(self.document, aspect.name, level, members)
        if known := self.previous.summary(id):
            placed = make_summary(
                self.document, aspect.name, level, group, known.text, known.tokens
            )
            return replace(placed, embedding=known.embedding)
        if draft := self.drafts.get(id):
            count = tokens.count(draft)
            return make_summary(self.document, aspect.name, level, group, draft, count)
        return None

    def _condense_batch(self, chunks: Sequence[Chunk]) -> Build[list[list[Detail]]]:
        """Return the details of each chunk; none of a chunk whose reply was not usable."""
        texts = [chunk.text.strip() for chunk in chunks]
        results = yield from self.work.gaps.attempt(self.writer.condense, texts)
        if isinstance(results, Missing) and len(chunks) > 1:
            # One by one, so that only those on which the writer fails are left out.
            alone: list[list[list[Detail]]] = yield [
                self._condense_batch([chunk]) for chunk in chunks
            ]
            return [details for [details] in alone]
        replies = [results] if isinstance(results, Missing) else results
        details: list[list[Detail]] = []
        for chunk, reply in zip(chunks, replies, strict=True):
            made = Missing(self.work.gaps.accept(reply)) if isinstance(reply, BadReply) else reply
            if isinstance(made, Missing):
                self._add_missing(DETAILS, made, NodeGroup((chunk,), (1.0,)), level=0)
                details.append([])
            else:
                details.append(_make_details(chunk, made))
        return details

    def _add_missing(
        self, step: str, why: Missing, group: NodeGroup, aspect: str = "", level: int = 1
    ) -> None:
        """Note what could not be made."""
        missing = self.undetected if step == ASPECTS else self.missing
        missing.append(MissingReply(step, why.why, make_members(group), aspect, level))


def _with_vector(detail: Detail, vectors: Mapping[str, Vector]) -> Detail | None:
    """Return the detail with its embedding; None if that has not come."""
    if len(detail.embedding):
        return detail
    vector = vectors.get(detail.text.strip())
    return None if vector is None else replace(detail, embedding=vector)


def _make_details(chunk: Chunk, texts: Sequence[str]) -> list[Detail]:
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


def _cluster_options(options: Options) -> ClusterOptions:
    return ClusterOptions(
        size=options.cluster_size,
        tokens=options.cluster_tokens,
        count=options.cluster_count,
        reduction=options.cluster_reduction,
        dimensions=options.cluster_dimensions,
        membership=options.membership,
        variance_floor=options.variance_floor,
        seed=options.seed,
        passes=options.cluster_passes,
        mixture=options.cluster_mixture,
    )


def _members(groups: Sequence[NodeGroup]) -> list[tuple[ClusterMember, ...]]:
    return [make_members(group) for group in groups]
