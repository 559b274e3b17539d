"""The indexes that retrieval reads: made, made anew where they are of no use, and waited for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabula.errors import StoreError
from fabula.queries import SCHEMA
from fabula.store.space import Space

if TYPE_CHECKING:
    from fabula.store import Store

PAUSE = 0.1
"""Seconds between two looks at an index that is being populated."""
VECTORS = "passage_vectors"
NEXT_VECTORS = "passage_vectors_next"
TEXTS = "passage_texts"
MAKING = {VECTORS: "schema_passage_vectors", NEXT_VECTORS: "schema_passage_vectors_next"}
DROPPING = {
    VECTORS: "schema_drop_passage_vectors",
    NEXT_VECTORS: "schema_drop_passage_vectors_next",
    TEXTS: "schema_drop_passage_texts",
}


@dataclass(frozen=True, slots=True)
class Index:
    """An index that retrieval reads: its name, its state, and how much of it is populated.

    `dimensions` are those of the vectors it takes; 0 for the index of texts.
    """

    name: str
    state: str
    percent: float
    dimensions: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An index that retrieval needs now and can't use: its name, what is wrong, and the cure."""

    name: str
    what: str
    cure: str


def make(store: Store) -> None:
    """Makes all that needs no embedding space, and the vector index where there is one.

    What is there stays, but for an index that has failed, or is of other dimensions.
    """
    _kept(store, TEXTS)
    for name in SCHEMA:
        _ensure(store, name)
    space = store.space()
    if space and not space.phase:
        make_vectors(store, VECTORS, space.dimensions)


def make_vectors(store: Store, name: str, dimensions: int) -> None:
    """Makes a vector index of so many dimensions, unless it is there; does not wait for it."""
    if not _kept(store, name, dimensions):
        _ensure(store, MAKING[name], dimensions=dimensions)


def settle(store: Store) -> None:
    """Waits for the indexes, and sees to it that that of vectors is as the embedding space is.

    Another process may have made it for a space that was given up meanwhile.
    """
    wait(store, TEXTS)
    while space := store.space():
        make_vectors(store, VECTORS, space.dimensions)
        index = wait(store, VECTORS)
        if index and index.dimensions == space.dimensions:
            return


def wait(store: Store, name: str) -> Index | None:
    """The index, once it is populated, however long that takes; None where it is gone.

    Raises StoreError where the server could not populate it.
    """
    while True:
        found = {index.name: index for index in store.indexes()}.get(name)
        if found is None or found.state == "ONLINE":
            return found
        if found.state == "FAILED":
            raise StoreError(
                f"Neo4j could not populate the index {name}: see its log, and run the command "
                "again, which makes the index anew."
            )
        time.sleep(PAUSE)


def faults(store: Store, space: Space) -> list[Fault]:
    """What is wrong with the indexes that questions are answered from now."""
    found = {index.name: index for index in store.indexes()}
    made_anew = "ingest any file again, which makes it anew"
    if space.phase:
        made_anew = f"run `fabula reembed --embedding-model {space.target}`, which goes on"
    faults = []
    for name in needed(space):
        index = found.get(name)
        if index is None:
            faults.append(Fault(name, "is missing", made_anew))
        elif index.state == "POPULATING":
            what = f"is {index.percent:.0f} % populated"
            faults.append(Fault(name, what, "wait until it is populated"))
        elif index.state != "ONLINE":
            faults.append(Fault(name, f"is {index.state}", made_anew))
        elif index.dimensions not in (0, space.dimensions):
            what = f"has {index.dimensions} dimensions, and the embeddings {space.dimensions}"
            faults.append(Fault(name, what, made_anew))
    return faults


def needed(space: Space) -> tuple[str, str]:
    """The indexes that questions are answered from now."""
    return NEXT_VECTORS if space.phase == "moving" else VECTORS, TEXTS


def _kept(store: Store, name: str, dimensions: int = 0) -> bool:
    """Whether the index is there and of use; one that is of no use is dropped."""
    found = {index.name: index for index in store.indexes()}.get(name)
    if found and (found.state == "FAILED" or found.dimensions != dimensions):
        store.rows(DROPPING[name])
        return False
    return found is not None


def _ensure(store: Store, name: str, **parameters: Any) -> None:
    """Carries out a statement of the schema, unless another process just did."""
    try:
        store.rows(name, **parameters)
    except StoreError as error:
        code = getattr(error.__cause__, "code", None) or ""
        if not code.endswith("AlreadyExists"):
            raise
