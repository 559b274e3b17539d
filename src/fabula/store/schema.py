"""The constraints and indexes of the graph: make them, replace failed ones, wait for them."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import StoreError
from fabula.graph.queries import FOLDER, Embedded, for_embeddings, index_name, read_statement
from fabula.store.database import Database, Index
from fabula.store.embedding_space import Space, reembed_flags

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.01, 1.0
"""How long to wait before an index that is being populated is checked again: at first, doubled each
time, and at most. A new index takes a few hundredths of a second, a large one minutes."""
CONFLICT_SECONDS = 10.0
"""How long a statement of the schema is tried again while another index is in its way."""
TEXTS = "passage_texts"
ELEMENT_TEXTS = "element_texts"
CONSTRAINTS = (
    "schema_schema_id",
    "schema_collection_name",
    "schema_document_id",
    "schema_part_id",
    "schema_decision_id",
    "schema_annotation_slice_id",
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
    "schema_document_written",
    "schema_retired_collection",
    "schema_passage_document",
    "schema_passage_kind",
    "schema_element_document",
    "schema_element_kind",
    "schema_passage_texts",
    "schema_element_texts",
)
"""The statements that are run on every graph; each is named after what it makes."""
PREFIX = "schema_"
DROP_STATEMENTS = {
    TEXTS: "core/schema_drop_passage_texts",
    ELEMENT_TEXTS: "core/schema_drop_element_texts",
}
"""The statements that drop an index of texts, which one that has failed needs."""
VECTOR_STATEMENTS: Mapping[Embedded, tuple[str, str]] = {
    "passage": ("core/schema_passage_vectors", "core/schema_drop_passage_vectors"),
    "element": ("core/schema_element_vectors", "core/schema_drop_element_vectors"),
}
"""The statements that make and drop a vector index."""


@dataclass(frozen=True, slots=True)
class IndexFault:
    """An index that retrieval needs and can't use: its name, what is wrong, and what to do."""

    name: str
    what: str
    cure: str


def make(store: Database) -> None:
    """Make all constraints and indexes, and the vector indexes of all collections.

    Existing ones stay, except for an index that has failed.
    """
    existing = {index.name: index for index in store.indexes()}
    for name in STATEMENTS:
        index = existing.get(name.removeprefix(PREFIX))
        if index and index.state == "FAILED" and index.name in DROP_STATEMENTS:
            store.run(read_statement(DROP_STATEMENTS[index.name]), index.name)
            index = None
        if index is None or (name in CONSTRAINTS and not index.constrains):
            ensure(store, f"core/{name}")
    spaces = store.spaces()
    for dimensions, slot in {(space.dimensions, space.slot) for space in spaces}:
        make_vectors(store, dimensions, slot)
    with_elements = [space for space in spaces if space.element_kinds]
    for dimensions, slot in {(space.dimensions, space.slot) for space in with_elements}:
        make_vectors(store, dimensions, slot, "element")


def ensure(store: Database, name: str) -> None:
    """Run a statement of the schema that has no parameters, by its name in `cypher/`."""
    _ensure(store, read_statement(name), name)


def make_service(store: Database) -> None:
    """Create the constraints and indexes of the service and its jobs; existing ones stay."""
    for room in ("jobs", "service"):
        make_room(store, room)


def make_room(store: Database, room: str) -> None:
    """Create the constraints and indexes that a folder of statements has; existing ones stay."""
    for file in sorted((FOLDER / room).glob("schema_*.cypher")):
        ensure(store, f"{room}/{file.stem}")


def make_vectors(store: Database, dimensions: int, slot: int, what: Embedded = "passage") -> None:
    """Make a slot's vector index for a number of dimensions, unless it exists; don't wait for it.

    The index of elements is only made where an element has an embedding, because that takes a fifth
    of a second.
    """
    make_statement, drop_statement = VECTOR_STATEMENTS[what]
    name = index_name(dimensions, slot, what)
    index = {index.name: index for index in store.indexes()}.get(name)
    if index and index.state == "FAILED":
        store.run(for_embeddings(read_statement(drop_statement), dimensions, slot), name)
        index = None
    if index is None:
        statement = for_embeddings(read_statement(make_statement), dimensions, slot)
        _ensure(store, statement, make_statement, dimensions=dimensions)


def wait(store: Database, *names: str) -> None:
    """Wait until these indexes are populated or dropped, however long that takes.

    Raises:
        StoreError: The server could not populate one.
    """
    pause, longest = POLL_SECONDS
    while True:
        indexes = [index for index in store.indexes() if index.name in names]
        for index in indexes:
            if index.state == "FAILED":
                raise StoreError(
                    f"Neo4j could not populate the index {index.name}; its log says why. Run the "
                    "command again: it makes the index anew."
                )
        if all(index.state == "ONLINE" for index in indexes):
            return
        time.sleep(pause)
        pause = min(2 * pause, longest)


def needed_indexes(space: Space) -> tuple[str, ...]:
    """Return the indexes that a collection's questions are answered from now."""
    of_elements = (space.element_index, ELEMENT_TEXTS) if space.element_kinds else ()
    return space.index, TEXTS, *of_elements


def find_faults(
    store: Database, space: Space, indexes: Sequence[Index] | None = None
) -> list[IndexFault]:
    """Return what is wrong with the indexes that a collection's questions are answered from.

    Args:
        store: The database.
        space: The collection's embedding space.
        indexes: All indexes of the database, if they were read already.
    """
    existing = {index.name: index for index in (store.indexes() if indexes is None else indexes)}
    cure = f"run `fabula renew --collection {space.collection}`, which makes it anew"
    if space.phase:
        cure = (
            f"run `fabula reembed --collection {space.collection} {reembed_flags(space.target)}`, "
            "which goes on"
        )
    faults = []
    for name in needed_indexes(space):
        index = existing.get(name)
        if index is None:
            faults.append(IndexFault(name, "is missing", cure))
        elif index.state == "POPULATING":
            what = f"is {index.percent:.0f} % populated"
            faults.append(IndexFault(name, what, "wait until it is populated"))
        elif index.state != "ONLINE":
            faults.append(IndexFault(name, f"is {index.state}", cure))
        elif index.dimensions not in (0, space.dimensions):
            what = f"has {index.dimensions} dimensions, and the embeddings {space.dimensions}"
            faults.append(IndexFault(name, what, cure))
    return faults


def _ensure(store: Database, statement: str, name: str, **parameters: Any) -> None:
    """Run a statement of the schema, which another process may be about to run as well."""
    until = time.monotonic() + CONFLICT_SECONDS
    pause, longest = POLL_SECONDS
    is_dropped = False
    while True:
        try:
            store.run(statement, name, **parameters)
        except StoreError as error:
            code = getattr(error.__cause__, "code", None) or ""
            if not code.endswith("AlreadyExists"):
                raise
            # Neo4j soon drops a killed process's index, but not one of a killed server.
            if time.monotonic() > until:
                if is_dropped or not _drop_left_index(store, statement):
                    raise StoreError(f"{error} {_CURE}") from error
                is_dropped = True
        else:
            return
        time.sleep(pause)
        pause = min(2 * pause, longest)


_CURE = (
    "If no other Fabula is running, a crash has left it: drop it in Neo4j Browser (DROP INDEX "
    "and its name), and try again."
)


def _drop_left_index(store: Database, statement: str) -> bool:
    """Drop the index of a constraint that nobody is making now; return whether there was one."""
    match = re.search(r"CREATE CONSTRAINT (\w+)", statement)
    if match is None:
        return False
    name = match[1]
    is_left = any(index.name == name and not index.constrains for index in store.indexes())
    if not is_left or store.rows("core/find_constraint_makers", name=name)[0]["makers"]:
        return False
    LOG.warning(
        "A crash of Neo4j has left the index %s without its constraint; it is made anew.",
        name,
    )
    store.rows("core/schema_drop_left_index", name=name)
    return True
