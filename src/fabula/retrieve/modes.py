"""Ways through the graph by name: each is one function, which any package can add to.

A package registers a mode as an entry point of the group `fabula.modes`, as Fabula does its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol

from fabula.errors import SettingsError, did_you_mean
from fabula.model import Aspect, Filters, Hit, Vector
from fabula.providers import Embedder, Guide
from fabula.retrieve.path import Path
from fabula.store import Store
from fabula.store.traversal import found

GROUP = "fabula.modes"
Fusion = Literal["scores", "ranks"]


@dataclass(frozen=True, slots=True)
class Tools:
    """What a mode works with: the graph, models, and how far to look.

    `k`: most hits; `width`: passages that a traversal opens or keeps at once; `depth`: steps that
    it takes at most; `fusion`: what rankings are put together by.
    """

    store: Store
    embedder: Embedder
    guide: Guide
    aspects: Sequence[Aspect]
    path: Path
    k: int
    width: int
    depth: int
    fusion: Fusion

    def embed(self, question: str) -> Vector:
        """The question's embedding, shape (dimensions,), of length 1."""
        with self.path.step("embed", self.embedder.model):
            vectors: list[Vector] = [*self.embedder.embed([question]).vectors]
        return vectors[0]

    def found(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[Hit]:
        """What a statement of the mode's own finds, best first."""
        return found(self.store, statement, vector, filters, self.embedder.model, **parameters)

    def nearest(self, question: str, filters: Filters, limit: int) -> list[Hit]:
        """The `limit` passages of highest cosine with the question; one round trip."""
        vector = self.embed(question)
        with self.path.step("nearest", "cosine, from the vector index") as step:
            hits = self.store.nearest(vector, limit, filters, self.embedder.model)
            step.found(hits)
        return hits


class Mode(Protocol):
    """A way through the graph."""

    def __call__(self, question: str, filters: Filters, tools: Tools) -> list[Hit]:
        """At most `tools.k` passages within `filters`, best first; equal ones by their ids."""
        ...


def mode_names() -> list[str]:
    """The modes that are installed."""
    return sorted({found.name for found in entry_points(group=GROUP)})


def mode(name: str) -> Mode:
    """The mode of that name. Raises SettingsError for one that no package has."""
    found = [one for one in entry_points(group=GROUP) if one.name == name]
    if not found:
        names = mode_names()
        hint = did_you_mean(name, names, f"There are: {', '.join(names)}.")
        raise SettingsError(f"There is no mode {name!r} (FABULA_MODE). {hint}")
    loaded: Mode = found[0].load()
    return loaded
