"""What becomes of a document in a run, and the protocol of who listens to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from fabula.errors import FabulaError
from fabula.graph import GAP, REPLIES, Gap, Part
from fabula.graph.gaps import gaps_of
from fabula.graph.installed import graphs
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.text.names import quote_name

Status = Literal[
    "added", "replaced", "removed", "unchanged", "failed", "skipped", "stopped", "waiting"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source.

    Attributes:
        source: The file or address, as it was named.
        status: What became of it. A file in a folder or a zip that no reader knows is 'skipped',
            which is no error. Nor is 'stopped': the run was stopped before the source was done,
            and what the graph had of it is as it was. One that is 'waiting' waits for batches: the
            same run goes on once they have ended.
        document: The document's id; empty where it failed.
        title: Its title; empty where it failed.
        graphs: The graphs that were built.
        counts: How many nodes were made, by kind.
        notes: Sentences about what was made or changed that are worth reading.
        gaps: The pieces that no model gave.
        left_out: The characters of the file that are not in the document's text, by kind.
        warnings: What was wrong with the file, in full sentences.
        steps: What each step asked of models.
        seconds: How long it took.
        error: Why it failed.
    """

    source: str
    status: Status
    document: str = ""
    title: str = ""
    graphs: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    steps: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
    error: FabulaError | None = None

    def __repr__(self) -> str:
        name = quote_name(self.title or self.source)
        counts = [f"{kind} {count:,}" for kind, count in self.counts.items()]
        summary = self.error or ", ".join([*counts, f"{self.seconds:.1f} s"])
        return f"<Outcome {name} {self.status}: {summary}>"

    @property
    def usage(self) -> Usage:
        """Return what all steps together asked of models."""
        return sum(self.steps.values(), Usage())


def describe(outcome: Outcome, parts: Sequence[Part]) -> Outcome:
    """Return the outcome with the graphs, counts, notes and gaps of the parts that were made."""
    installed = graphs()
    notes = [
        note
        for part in parts
        # A graph that failed as a whole has counted nothing.
        if part.owner.graph in installed and part.record.facts
        for note in installed[part.owner.graph].describe(part.record.facts)
    ]
    counts = Counter(
        node.label.lower()
        for part in parts
        for node in part.nodes
        # The document is no part of itself, and a gap is what is missing.
        if node.sources and node.label not in (GAP, REPLIES)
    )
    return replace(
        outcome,
        graphs=tuple(part.owner.graph for part in parts),
        counts=counts,
        notes=tuple(notes),
        gaps=tuple(gap for part in parts for gap in gaps_of(part)),
    )


class Listener(Protocol):
    """Receives the progress of an ingest; called from several threads."""

    def expect(self, sources: int) -> None:
        """Take note of how many sources will be read; called first."""
        ...

    def begin(self, source: str) -> Progress:
        """Take note that a source is being read; return the listener for its steps."""
        ...

    def end(self, outcome: Outcome) -> None:
        """Take note that a source is done."""
        ...


class SilentListener:
    """A `Listener` that ignores everything."""

    def expect(self, sources: int) -> None:
        """Do nothing."""

    def begin(self, source: str) -> SilentProgress:
        """Return a progress that ignores everything as well."""
        return SilentProgress()

    def end(self, outcome: Outcome) -> None:
        """Do nothing."""


class SilentProgress:
    """A `Progress` of one document that ignores everything."""

    def expect(self, step: str, count: int) -> None:
        """Do nothing."""

    def done(self, step: str, usage: Usage) -> None:
        """Do nothing."""
