"""The embedding space of a graph, and why another model's vectors can't go into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.errors import NotFound, SpaceError


@dataclass(frozen=True, slots=True)
class Space:
    """The embedding space of a graph, and the next one while the graph is re-embedded.

    `phase` is empty but then: 'writing' the next embeddings beside those in use, 'moving' them
    into their place, or 'clearing' up after that, or after giving up.
    """

    model: str
    dimensions: int
    aspects: tuple[str, ...]
    documents: int
    next_model: str = ""
    next_dimensions: int = 0
    phase: str = ""

    @property
    def target(self) -> str:
        """The model that the graph has when the re-embedding that goes on has ended."""
        return self.model if self.phase == "clearing" else self.next_model


def refuse_other_model(space: Space, model: str) -> None:
    """Raises SpaceError unless the graph's embeddings are of this model."""
    if space.model != model:
        raise other_space(space, model)


def refuse_reembedding(space: Space) -> None:
    """Raises SpaceError while the graph is re-embedded: what came in now would be left out."""
    if not space.phase:
        return
    giving_up = (
        f", or give it up with `fabula reembed --embedding-model {space.model}`"
        if space.phase == "writing"
        else ""
    )
    raise SpaceError(
        f"The graph is being re-embedded with {space.target}: until that has ended it takes no "
        "documents and gives no embeddings away. Should it have been stopped, run "
        f"`fabula reembed --embedding-model {space.target}` to go on with it{giving_up}."
    )


def refuse_moving(space: Space) -> None:
    """Raises SpaceError while a re-embedded graph moves its embeddings."""
    if space.phase == "moving":
        raise SpaceError(
            "The graph is just taking on its new embeddings: only the modes collapsed, naive, "
            "details, routed and hybrid can be asked until that has ended."
        )


def other_space(space: Space, wanted: str, model: str = "") -> SpaceError:
    """What to tell who asks for the model or the dimensions `wanted`, which `model` gives."""
    return SpaceError(
        f"The graph's {space.documents} documents have embeddings of {space.model} "
        f"({space.dimensions} dimensions), and the settings ask for {wanted}; vectors of two "
        f"models can't be compared. Set FABULA_EMBEDDING_MODEL={space.model}, or run "
        f"`fabula reembed --embedding-model {model or wanted}`, or keep another graph with another "
        "FABULA_HOME."
    )


def refuse_unknown(aspects: Sequence[str], space: Space | None) -> None:
    """Raises NotFound for an aspect that no document has; '' is that of chunks and details."""
    known = [name for name in space.aspects if name] if space else []
    if unknown := [name for name in aspects if name and name not in known]:
        raise NotFound(f"No document has an aspect {unknown[0]!r}; there are: {', '.join(known)}.")
