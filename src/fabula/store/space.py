"""The embedding space of a graph, and why another model's vectors can't go into it."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.errors import SpaceError


@dataclass(frozen=True, slots=True)
class Space:
    """The embedding space of a graph."""

    model: str
    dimensions: int
    aspects: tuple[str, ...]
    documents: int


def refuse_other_model(space: Space, model: str) -> None:
    """Raises SpaceError unless the graph's embeddings are of this model."""
    if space.model != model:
        raise other_space(space, model)


def other_space(space: Space, wanted: str) -> SpaceError:
    """What to tell who asks for another model or other dimensions."""
    return SpaceError(
        f"The graph's {space.documents} documents have embeddings of {space.model} "
        f"({space.dimensions} dimensions), and the settings ask for {wanted}; vectors of two "
        f"models can't be compared. Set FABULA_EMBEDDING_MODEL={space.model}, or `fabula remove` "
        "the documents and ingest them again, or keep another graph with another FABULA_HOME."
    )
