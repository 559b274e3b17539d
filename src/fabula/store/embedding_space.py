"""The embedding space of a collection, and why another model's vectors can't go into it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fabula.errors import NotFound, SpaceError, StoreError
from fabula.graph import queries
from fabula.models.prefixes import known_prefixes, split_space_name
from fabula.text.names import collection_problem, quote_name

IMPORTING = "importing"
"""The phase of a collection that is being imported."""


@dataclass(frozen=True, slots=True)
class Space:
    """The embedding space of a collection, and the next one while it is re-embedded.

    Embeddings are in one of two slots. While those of the next space are written into the other
    slot, questions are answered from this one.

    Attributes:
        collection: The collection's name.
        model: The embedding model.
        dimensions: How many numbers an embedding has.
        slot: The slot of the embeddings, 1 or 2.
        aspects: The aspects of the collection's passages and embedded elements.
        kinds: The kinds of its passages.
        element_kinds: The kinds of its embedded elements.
        has_documents: Whether it has documents.
        next_model: The model that it is being re-embedded with.
        next_dimensions: How many numbers an embedding of that model has.
        former_dimensions: How many those in the unused slot have.
        phase: Empty unless the collection is re-embedded; 'writing' while the next embeddings are
            written, 'clearing' while those that are not used any more are deleted; IMPORTING while
            the collection is imported, when it has no documents yet.
        has_off: Whether some of its documents are left out of questions.
    """

    collection: str
    model: str
    dimensions: int
    slot: int
    aspects: tuple[str, ...]
    kinds: tuple[str, ...]
    element_kinds: tuple[str, ...]
    has_documents: bool
    next_model: str = ""
    next_dimensions: int = 0
    former_dimensions: int = 0
    phase: str = ""
    has_off: bool = False

    @property
    def kind(self) -> tuple[str, int]:
        """Return the model and the dimensions of its embeddings."""
        return self.model, self.dimensions

    @property
    def index(self) -> str:
        """Return the vector index of its passages."""
        return queries.index_name(self.dimensions, self.slot)

    @property
    def element_index(self) -> str:
        """Return the vector index of its elements; it may not exist if none has an embedding."""
        return queries.index_name(self.dimensions, self.slot, "element")

    @property
    def embedding(self) -> str:
        """Return the property that holds its embeddings."""
        return queries.embedding_property(self.slot)

    @property
    def next_slot(self) -> int:
        """Return the slot that the embeddings of the next space are written into."""
        return 3 - self.slot

    @property
    def state(self) -> str:
        """Return what is being done to it, in words; '' for nothing."""
        if self.phase == IMPORTING:
            return "being imported"
        return f"being re-embedded with {self.target}" if self.phase else ""

    @property
    def target(self) -> str:
        """Return the model that the collection has once its re-embedding has ended."""
        return self.model if self.phase == "clearing" else self.next_model


def refuse_collection(name: str) -> None:
    """Raise StoreError for a name that no collection may have."""
    if wrong := collection_problem(name):
        raise StoreError(f"The name of a collection {wrong}: {quote_name(name)} can't be one.")


def refuse_dimensions(model: str, dimensions: int) -> None:
    """Raise SpaceError for vectors that no index of Neo4j's can hold."""
    if not 0 < dimensions <= queries.MAX_DIMENSIONS:
        raise SpaceError(
            f"{model} gives vectors of {dimensions:,} dimensions, and Neo4j indexes at most "
            f"{queries.MAX_DIMENSIONS:,}: set another FABULA_EMBEDDING_MODEL."
        )


def refuse_other_model(space: Space, model: str) -> None:
    """Raise SpaceError unless the collection's embeddings are of this model."""
    if space.model != model:
        raise other_space_error(space, model)


def refuse_importing(space: Space) -> None:
    """Raise SpaceError while the collection is imported."""
    if space.phase == IMPORTING:
        raise SpaceError(
            f"Collection {space.collection!r} is being imported, and is there once that has ended.",
            advice="If it was stopped, run `fabula import FILE` again.",
        )


def refuse_reembedding(space: Space) -> None:
    """Raise SpaceError while the collection is re-embedded: new documents would be left out.

    Neither can there be documents while it is imported.
    """
    refuse_importing(space)
    if space.phase != "writing":
        return
    raise SpaceError(
        f"Collection {space.collection!r} is being re-embedded with {space.target}: until that has "
        "ended it takes no documents and gives no embeddings away. If it was stopped, start it "
        "again to continue it.",
        advice=f"`{_reembed(space, space.target)}` continues it, and "
        f"`{_reembed(space, space.model)}` gives it up.",
    )


def describe_other_prefix(space: Space, requested: str) -> str:
    """Return what there is to know of a collection that goes on with another prefix.

    Args:
        space: The collection's space, of the same model as the requested one.
        requested: The name of the space that the settings ask for.
    """
    model, wanted = split_space_name(requested)
    return (
        f"The passages of collection {space.collection!r} were embedded by {model} "
        f"{_with_prefix(split_space_name(space.model)[1])}, and new ones are embedded likewise. "
        f"The settings have {_named_prefix(wanted)} for this model, as its makers advise: "
        f"`{_reembed(space, requested)}` embeds all of them so."
    )


def other_space_error(space: Space, requested: str, model: str = "") -> SpaceError:
    """Return the error for a request of another model or other dimensions, which `model` has."""
    (own, prefix), (wanted, wanted_prefix) = map(split_space_name, (space.model, requested))
    if own == wanted and prefix != wanted_prefix:
        kept = _quote(prefix or "none")
        return SpaceError(
            f"The passages of collection {space.collection!r} were embedded by {own} "
            f"{_with_prefix(prefix)}, and the settings ask for {_named_prefix(wanted_prefix)}; "
            "vectors of texts with two prefixes can't be compared. Keep the prefix, embed the "
            "collection again, or use another collection.",
            advice=f"Set FABULA_EMBEDDING_PASSAGE_PREFIX={kept}, or run "
            f"`{_reembed(space, requested)}`.",
        )
    return SpaceError(
        f"The documents of collection {space.collection!r} have embeddings of {space.model} "
        f"({space.dimensions} dimensions), and the settings ask for {requested}; vectors of two "
        f"models can't be compared. Use the model {space.model}, embed the collection again, or "
        "use another collection.",
        advice=f"Set FABULA_EMBEDDING_MODEL={own}, or run `{_reembed(space, model or requested)}`.",
    )


def refuse_unknown(
    aspects: Sequence[str], kinds: Sequence[str], space: Space | None, *, elements: Collection[str]
) -> None:
    """Raise NotFound for an aspect or a kind that no passage has.

    Args:
        aspects: The aspects to check; '' is the aspect of chunks.
        kinds: The kinds to check.
        space: The collection's embedding space.
        elements: Kinds of embedded elements that are allowed as well.
    """
    known = [name for name in space.aspects if name] if space else []
    if unknown := [name for name in aspects if name and name not in known]:
        raise NotFound(f"No document has an aspect {unknown[0]!r}; there are: {', '.join(known)}.")
    allowed = set(elements).intersection(space.element_kinds) if space else set()
    existing = sorted({*space.kinds, *allowed}) if space else []
    if unknown := [kind for kind in kinds if kind not in existing]:
        raise NotFound(f"There is no kind {unknown[0]!r}; there are: {', '.join(existing)}.")


def reembed_flags(name: str) -> str:
    """Return the flags that name an embedding space: its model and, if it is not the usual one,
    the prefix of its passages.
    """
    model, prefix = split_space_name(name)
    flags = f"--embedding-model {model}"
    if prefix == known_prefixes(model).passage:
        return flags
    return f"{flags} --embedding-passage-prefix {_quote(prefix or 'none')}"


def _quote(word: str) -> str:
    """Return a word as a shell takes it."""
    import shlex  # here: every question imports this module

    return shlex.quote(word)


def _with_prefix(prefix: str) -> str:
    return f"with the prefix {prefix!r}" if prefix else "without a prefix"


def _named_prefix(prefix: str) -> str:
    return f"the prefix {prefix!r}" if prefix else "no prefix"


def _reembed(space: Space, name: str) -> str:
    return f"fabula reembed --collection {space.collection} {reembed_flags(name)}"
