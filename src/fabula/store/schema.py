"""The indexes that retrieval reads: made, made anew where they are of no use, and waited for."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import StoreError
from fabula.graph.queries import Embedded, index_name, over, query
from fabula.store.database import Database, Index
from fabula.store.space import Space

LOG = logging.getLogger(__name__)
PAUSES = 0.01, 1.0
"""Seconds between the first two looks at an index that is being populated, which are doubled with
each look, and the longest. A new one takes a few hundredths, a large one minutes."""
PATIENCE = 10.0
"""Seconds in which what stands in the way of a statement of the schema may go by itself."""
TEXTS = "passage_texts"
ELEMENT_TEXTS = "element_texts"
CONSTRAINTS = (
    "schema_schema_id",
    "schema_collection_name",
    "schema_document_id",
    "schema_part_id",
    "schema_passage_id",
    "schema_element_id",
    "schema_staged_id",
    "schema_lock_id",
)
STATEMENTS = (
    *CONSTRAINTS,
    "schema_document_title",
    "schema_document_part_of_title",
    "schema_document_source",
    "schema_document_file",
    "schema_document_stem",
    "schema_document_text",
    "schema_passage_document",
    "schema_passage_kind",
    "schema_element_document",
    "schema_element_kind",
    "schema_passage_texts",
    "schema_element_texts",
)
"""The statements that every graph has carried out; each is called after what it makes."""
MAKING = "schema_"
DROPPING = {
    TEXTS: "core/schema_drop_passage_texts",
    ELEMENT_TEXTS: "core/schema_drop_element_texts",
}
"""The statements that drop an index of texts: one that has failed is of no use, and in the way."""
VECTORS: Mapping[Embedded, tuple[str, str]] = {
    "passage": ("core/schema_passage_vectors", "core/schema_drop_passage_vectors"),
    "element": ("core/schema_element_vectors", "core/schema_drop_element_vectors"),
}
"""The statements that make a vector index, and that drop it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An index that retrieval needs now and can't use: its name, what is wrong, and the cure."""

    name: str
    what: str
    cure: str


def make(store: Database) -> None:
    """Makes all that needs no embedding space, and the vector indexes of the spaces there are.

    What is there stays, but for an index that has failed.
    """
    there = {index.name: index for index in store.indexes()}
    for name in STATEMENTS:
        index = there.get(name.removeprefix(MAKING))
        if index and index.state == "FAILED" and index.name in DROPPING:
            store.run(query(DROPPING[index.name]), index.name)
            index = None
        if index is None or (name in CONSTRAINTS and not index.constrains):
            ensure(store, f"core/{name}")
    spaces = store.spaces()
    for dimensions, slot in {(space.dimensions, space.slot) for space in spaces}:
        make_vectors(store, dimensions, slot)
    for dimensions, slot in {(one.dimensions, one.slot) for one in spaces if one.element_kinds}:
        make_vectors(store, dimensions, slot, "element")


def ensure(store: Database, name: str) -> None:
    """Carries out a statement of the schema that has no parameters, by its name in `cypher/`."""
    _ensure(store, query(name), name)


def make_vectors(store: Database, dimensions: int, slot: int, what: Embedded = "passage") -> None:
    """Makes the vector index of so many dimensions, unless it is there; does not wait for it.

    That of elements is made only where one has an embedding: it takes a fifth of a second.
    """
    making, dropping = VECTORS[what]
    name = index_name(dimensions, slot, what)
    index = {index.name: index for index in store.indexes()}.get(name)
    if index and index.state == "FAILED":
        store.run(over(query(dropping), dimensions, slot), name)
        index = None
    if index is None:
        _ensure(store, over(query(making), dimensions, slot), making, dimensions=dimensions)


def wait(store: Database, *names: str) -> None:
    """Waits until these indexes are populated, however long that takes, or gone.

    Raises StoreError where the server could not populate one.
    """
    pause, longest = PAUSES
    while True:
        found = [index for index in store.indexes() if index.name in names]
        for index in found:
            if index.state == "FAILED":
                raise StoreError(
                    f"Neo4j could not populate the index {index.name}: see its log, and run the "
                    "command again, which makes the index anew."
                )
        if all(index.state == "ONLINE" for index in found):
            return
        time.sleep(pause)
        pause = min(2 * pause, longest)


def needed(space: Space) -> tuple[str, ...]:
    """The indexes that a collection's questions are answered from now."""
    of_elements = (space.element_index, ELEMENT_TEXTS) if space.element_kinds else ()
    return space.index, TEXTS, *of_elements


def faults(store: Database, space: Space, indexes: Sequence[Index] | None = None) -> list[Fault]:
    """What is wrong with the indexes that a collection's questions are answered from now.

    `indexes` are all that there are, where they were read already, as for another collection.
    """
    found = {index.name: index for index in (store.indexes() if indexes is None else indexes)}
    made_anew = f"ingest any file into collection {space.collection} again, which makes it anew"
    if space.phase:
        made_anew = (
            f"run `fabula reembed --collection {space.collection} --embedding-model "
            f"{space.target}`, which goes on"
        )
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


def _ensure(store: Database, statement: str, name: str, **parameters: Any) -> None:
    """Carries out a statement of the schema, which another process may be about to do, too.

    Neo4j gives a constraint its index first, and takes it back a moment after whoever wanted it was
    killed: until then the statement is refused, and nothing is made. Where the server itself was
    killed, the index stays, and is dropped here.
    """
    until = time.monotonic() + PATIENCE
    pause, longest = PAUSES
    is_dropped = False
    while True:
        try:
            store.run(statement, name, **parameters)
        except StoreError as error:
            code = getattr(error.__cause__, "code", None) or ""
            if not code.endswith("AlreadyExists"):
                raise
            if time.monotonic() > until:
                if is_dropped or not _drop_left_index(store, statement):
                    raise StoreError(f"{error} {_CURE}") from error
                is_dropped = True
        else:
            return
        time.sleep(pause)
        pause = min(2 * pause, longest)


_CURE = (
    "Where no other Fabula is at work, a crash has left it: drop it in Neo4j Browser (DROP INDEX "
    "and its name), and run the command again."
)


def _drop_left_index(store: Database, statement: str) -> bool:
    """Drop the index of the constraint that a statement makes, if nobody is making that now.

    Returns:
        Whether there was such an index: without one, something else is in the way.

    """
    found = re.search(r"CREATE CONSTRAINT (\w+)", statement)
    if found is None:
        return False
    name = found[1]
    is_left = any(index.name == name and not index.constrains for index in store.indexes())
    if not is_left or store.rows("core/find_constraint_makers", name=name)[0]["makers"]:
        return False
    LOG.warning("The index %s was left by a crash of Neo4j; it is dropped and made anew.", name)
    store.rows("core/schema_drop_left_index", name=name)
    return True
