"""The embedding space of a collection, and why another model's vectors can't go into it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fabula.errors import NotFound, SpaceError, StoreError
from fabula.graph import queries
from fabula.text.names import collection_problem, quoted


@dataclass(frozen=True, slots=True)
class Space:
    """The embedding space of a collection, and the next one while it is re-embedded.

    Embeddings lie in one of two slots, 1 or 2: while those of the next space are written into the
    other, questions go on in this one. `phase` is empty but then: 'writing' the next embeddings,
    or 'clearing' what is not in use after the slots have changed, or after giving up. `aspects`
    are those of the collection's passages and embedded elements, `kinds` those of its passages, and
    `element_kinds` those of its embedded elements.
    """

    collection: str
    model: str
    dimensions: int
    slot: int
    aspects: tuple[str, ...]
    kinds: tuple[str, ...]
    element_kinds: tuple[str, ...]
    documents: int
    next_model: str = ""
    next_dimensions: int = 0
    former_dimensions: int = 0
    phase: str = ""

    @property
    def kind(self) -> tuple[str, int]:
        """What its embeddings are of: the model, and their dimensions."""
        return self.model, self.dimensions

    @property
    def index(self) -> str:
        """The vector index that its passages' embeddings are in."""
        return queries.index_name(self.dimensions, self.slot)

    @property
    def element_index(self) -> str:
        """The vector index that its elements' embeddings are in; it may have none, and no index."""
        return queries.index_name(self.dimensions, self.slot, "element")

    @property
    def embedding(self) -> str:
        """The property that its embeddings are in."""
        return queries.embedding(self.slot)

    @property
    def next_slot(self) -> int:
        """Where the embeddings of another space are written."""
        return 3 - self.slot

    @property
    def target(self) -> str:
        """The model that the collection has when the re-embedding that goes on has ended."""
        return self.model if self.phase == "clearing" else self.next_model


def refuse_collection(name: str) -> None:
    """Raises StoreError for what no new collection may be called; an old one keeps its name."""
    if wrong := collection_problem(name):
        raise StoreError(f"The name of a collection {wrong}: {quoted(name)} can't be one.")


def refuse_dimensions(model: str, dimensions: int) -> None:
    """Raises SpaceError for vectors that no index of Neo4j's can hold."""
    if not 0 < dimensions <= queries.MOST_DIMENSIONS:
        raise SpaceError(
            f"{model} gives vectors of {dimensions:,} dimensions, and Neo4j indexes at most "
            f"{queries.MOST_DIMENSIONS:,}: set another FABULA_EMBEDDING_MODEL."
        )


def refuse_other_model(space: Space, model: str) -> None:
    """Raises SpaceError unless the collection's embeddings are of this model."""
    if space.model != model:
        raise other_space(space, model)


def refuse_reembedding(space: Space) -> None:
    """Raises SpaceError while the collection is re-embedded: what came in now would be left out."""
    if space.phase != "writing":
        return
    raise SpaceError(
        f"Collection {space.collection!r} is being re-embedded with {space.target}: until that has "
        "ended it takes no documents and gives no embeddings away. If it was stopped, start it "
        "again to continue it.",
        advice=f"`{_reembed(space, space.target)}` continues it, and "
        f"`{_reembed(space, space.model)}` gives it up.",
    )


def other_space(space: Space, wanted: str, model: str = "") -> SpaceError:
    """What to tell who asks for the model or the dimensions `wanted`, which `model` gives."""
    return SpaceError(
        f"The documents of collection {space.collection!r} have embeddings of {space.model} "
        f"({space.dimensions} dimensions), and the settings ask for {wanted}; vectors of two "
        f"models can't be compared. Use the model {space.model}, embed the collection again, or "
        "use another collection.",
        advice=f"Set FABULA_EMBEDDING_MODEL={space.model}, or run "
        f"`{_reembed(space, model or wanted)}`.",
    )


def refuse_unknown(
    aspects: Sequence[str], kinds: Sequence[str], space: Space | None, *, elements: Collection[str]
) -> None:
    """Raises NotFound for an aspect or a kind that no passage has; '' is the aspect of chunks.

    It may be a kind of embedded elements, too, if it is among `elements`.
    """
    known = [name for name in space.aspects if name] if space else []
    if unknown := [name for name in aspects if name and name not in known]:
        raise NotFound(f"No document has an aspect {unknown[0]!r}; there are: {', '.join(known)}.")
    own = set(elements).intersection(space.element_kinds) if space else set()
    there = sorted({*space.kinds, *own}) if space else []
    if unknown := [kind for kind in kinds if kind not in there]:
        raise NotFound(f"There is no kind {unknown[0]!r}; there are: {', '.join(there)}.")


def _reembed(space: Space, model: str) -> str:
    return f"fabula reembed --collection {space.collection} --embedding-model {model}"
