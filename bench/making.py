"""Documents built in this process against the tests' endpoint: no database, no cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from endpoint import Endpoint
from fabula.build.pipeline import Models, build
from fabula.ingest import Muted
from fabula.kit import Kit
from fabula.load import read_text
from fabula.model import DocumentGraph, Known, Usage
from fabula.parallel import Job
from fabula.providers.counted import Meter
from fabula.settings import Settings


@dataclass(frozen=True, slots=True)
class Made:
    """A graph, what its making cost, and seconds."""

    graph: DocumentGraph
    seconds: float

    @property
    def usage(self) -> Usage:
        return sum(self.graph.usage.values(), Usage())

    def known(self) -> Known:
        """What the store would give back of it."""
        graph = self.graph
        return Known(graph.chunks, graph.summaries, graph.details, graph.assigned, graph.changed)

    def lengths(self) -> dict[str, float]:
        """Means of what was written, as `find_lengths.cypher` says them."""
        graph = self.graph
        low = [one for one in graph.summaries if one.level == 1]
        clusters = {frozenset(member.id for member in one.members) for one in low}
        return {
            "aspects": len(low) / len(clusters),
            "summary": sum(one.tokens for one in graph.summaries) / len(graph.summaries),
            "detail": sum(one.tokens for one in graph.details) / len(graph.details),
        }


class Maker:
    """Makes documents with one kit."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit

    def made(self, text: str, known: Known = Known()) -> Made:  # noqa: B008  it is immutable
        """A text as a graph."""
        meter = Meter()
        return self._built(text, self.kit.models("en", meter), known)

    def expected(self, text: str, lengths: Mapping[str, float]) -> Usage:
        """What a dry run says of it."""
        meter = Meter()
        models = self.kit.expected_models("en", meter, lengths)
        return self._built(text, models, Known()).usage

    def _built(self, text: str, models: Models, known: Known) -> Made:
        document = read_text(
            text, source="bench", collection="bench", title="Bench", author="", language="en"
        )
        began = time.monotonic()
        with Job(self.kit.workers) as job:
            graph = build(document, models, self.kit.method, job, Muted(), known)
        return Made(graph, time.monotonic() - began)


@contextmanager
def making(endpoint: Endpoint, **settings: Any) -> Iterator[Maker]:
    """A maker that asks this endpoint."""
    flags = {"base_url": endpoint.url, "api_key": "any", "cache": False, **settings}
    kit = Kit(Settings.read(**flags))
    try:
        yield Maker(kit)
    finally:
        kit.close()
