"""What becomes of a document in a run, and who hears of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fabula.errors import FabulaError
from fabula.graph import Gap
from fabula.models.progress import Progress
from fabula.models.usage import Usage
from fabula.text.names import quoted

Status = Literal["added", "replaced", "unchanged", "failed", "skipped", "stopped"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source: which graphs were built, what each step asked, and seconds.

    `counts` are the nodes that were made, by kind; `notes` is what is worth saying of them; `gaps`
    are the pieces that no model gave. `document` and `title` are empty and `error` is set where it
    failed; a file in a folder or a zip that no reader knows is `skipped`, which is no error, and
    nor is `stopped`: the run was, before the source was done, and what was there is as it was.
    """

    source: str
    status: Status
    document: str = ""
    title: str = ""
    graphs: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    steps: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
    error: FabulaError | None = None

    def __repr__(self) -> str:
        name = quoted(self.title or self.source)
        counts = [f"{kind} {count:,}" for kind, count in self.counts.items()]
        said = self.error or ", ".join([*counts, f"{self.seconds:.1f} s"])
        return f"<Outcome {name} {self.status}: {said}>"

    @property
    def usage(self) -> Usage:
        """What all steps asked of models."""
        return sum(self.steps.values(), Usage())


class Listener(Protocol):
    """Hears how an ingest goes; called from several threads."""

    def expect(self, sources: int) -> None:
        """So many sources will be read; comes first."""
        ...

    def begin(self, source: str) -> Progress:
        """A source is being read; what is returned hears its steps."""
        ...

    def end(self, outcome: Outcome) -> None:
        """A source is done with."""
        ...


class Silence:
    """Hears nothing."""

    def expect(self, sources: int) -> None:
        """Nothing."""

    def begin(self, source: str) -> Muted:
        """What hears nothing of the steps."""
        return Muted()

    def end(self, outcome: Outcome) -> None:
        """Nothing."""


class Muted:
    """Hears nothing of one document's steps."""

    def expect(self, step: str, count: int) -> None:
        """Nothing."""

    def done(self, step: str, usage: Usage) -> None:
        """Nothing."""
