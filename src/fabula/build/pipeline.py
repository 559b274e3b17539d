"""The method: a document becomes chunks, a tree of summaries for each aspect, and details."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from fabula import ids, tokens
from fabula.build.aspects import represent
from fabula.build.chunk import split
from fabula.build.cluster import Cluster, Clustering, cluster
from fabula.build.tree import Group, embeddings, grouped, grow, summary
from fabula.model import Aspect, Chunk, Detail, Document, DocumentGraph, Summary, Vectors
from fabula.parallel import Job
from fabula.progress import Progress
from fabula.providers import Embedder, Writer
from fabula.providers.counted import Meter

# What many later calls depend on goes first; details, on which nothing depends, fill the gaps.
EMBED, DETECT, SUMMARISE, CONDENSE = range(4)

In = TypeVar("In")
Out = TypeVar("Out")
Bare = TypeVar("Bare", Chunk, Summary, Detail)


@dataclass(frozen=True, slots=True)
class Method:
    """The knobs of the method."""

    chunk_tokens: int
    clustering: Clustering
    aspects: tuple[Aspect, ...]
    detection_rounds: int
    levels: int
    details: int


@dataclass(frozen=True, slots=True)
class Models:
    """What one document is made with: an embedder, a writer for its chunks' texts, their meter."""

    embedder: Embedder
    writer: Callable[[Sequence[str]], Writer]
    meter: Meter


def build(
    document: Document, models: Models, method: Method, job: Job, progress: Progress
) -> DocumentGraph:
    """The graph of a document; it knows no database.

    The aspect-oriented extension of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059): soft clusters
    of chunks, the aspects clearest in each, one tree of summaries an aspect, and detail nodes.
    Deterministic where the models are. Raises ModelError.
    """
    bare = split(document, method.chunk_tokens)
    writer = models.writer([chunk.text.strip() for chunk in bare])
    steps = _Steps(document.id, method, models, writer, job, progress)
    details = job.start(steps.condense, bare if method.details else [])
    chunks = steps.embed(bare)
    groups = steps.group(chunks) if method.levels else []
    summaries, assigned = steps.grow(groups) if groups else ([], [])
    return DocumentGraph(
        document=document,
        chunks=tuple(chunks),
        summaries=tuple(summaries),
        details=tuple(details.result()),
        assigned=tuple(assigned),
        usage=models.meter.usage(),
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one document's build, and what they share."""

    document: str
    method: Method
    models: Models
    writer: Writer
    job: Job
    progress: Progress

    def embed(self, bare: Sequence[Bare]) -> list[Bare]:
        """The same passages with their embeddings, asked for in batches, side by side."""
        size = self.models.embedder.batch
        batches = [bare[start : start + size] for start in range(0, len(bare), size)]
        vectors = self._each(EMBED, "embeddings", self._vectors, batches)
        rows = [row for batch in vectors for row in batch]
        return [replace(one, embedding=row) for one, row in zip(bare, rows, strict=True)]

    def group(self, chunks: Sequence[Chunk]) -> list[Group]:
        """Soft clusters of chunks."""
        return grouped(
            chunks, self._cluster(embeddings(chunks), [chunk.tokens for chunk in chunks])
        )

    def grow(self, groups: Sequence[Group]) -> tuple[list[Summary], list[str]]:
        """The summaries of every aspect, and the names of those that had to be assigned.

        A tree grows as soon as its aspect's clusters are certain; none waits for another.
        """
        growing: list[Future[list[Summary]]] = []
        assigned: list[str] = []
        for aspect, holders, was_assigned in represent(
            self.method.aspects,
            self.method.detection_rounds,
            lambda aspects: self._detect(groups, aspects),
            lambda aspect: self._best_fit(groups, aspect),
        ):
            held = [groups[number] for number in holders]
            growing.append(
                self.job.start(
                    grow, aspect, held, self.method.levels, self._summarise, self._cluster
                )
            )
            assigned += [aspect.name] * was_assigned
        return [summary for tree in growing for summary in tree.result()], assigned

    def condense(self, chunks: Sequence[Chunk]) -> list[Detail]:
        """The detail nodes of every chunk, embedded."""
        texts = self._each(CONDENSE, "details", self._details, chunks)
        return self.embed([detail for one in texts for detail in one])

    def _cluster(self, vectors: Vectors, counts: Sequence[int]) -> list[Cluster]:
        return cluster(vectors, counts, self.method.clustering)

    def _detect(self, groups: Sequence[Group], aspects: Sequence[Aspect]) -> list[frozenset[str]]:
        def detect(group: Group) -> frozenset[str]:
            text = "\n\n".join(node.text.strip() for node in group.nodes)
            return self.writer.detect(text, aspects)

        return self._each(DETECT, "aspects", detect, groups)

    def _best_fit(self, groups: Sequence[Group], aspect: Aspect) -> int:
        """The group whose mean embedding is nearest to the aspect's description."""
        [wanted] = self.models.embedder.embed([aspect.description]).vectors
        centres = np.stack([embeddings(group.nodes).mean(axis=0) for group in groups])
        return int(np.argmax(centres @ wanted / np.linalg.norm(centres, axis=1)))

    def _summarise(self, aspect: Aspect, level: int, groups: Sequence[Group]) -> list[Summary]:
        def summarise(group: Group) -> Summary:
            text = self.writer.summarise([node.text.strip() for node in group.nodes], aspect)
            return summary(self.document, aspect.name, level, group, text, tokens.count(text))

        return self.embed(self._each(SUMMARISE, "summaries", summarise, groups))

    def _details(self, chunk: Chunk) -> list[Detail]:
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
            for ordinal, text in enumerate(self.writer.condense(chunk.text.strip()))
        ]

    def _vectors(self, batch: Sequence[Bare]) -> Vectors:
        return self.models.embedder.embed([one.text.strip() for one in batch]).vectors

    def _each(
        self, priority: int, step: str, work: Callable[[In], Out], items: Sequence[In]
    ) -> list[Out]:
        """`work` for all items on the shared workers, each told to the progress."""

        def told(item: In) -> Out:
            result = work(item)
            self.progress.done(step, self.models.meter.total())
            return result

        self.progress.expect(step, len(items))
        return self.job.each(priority, told, items)
