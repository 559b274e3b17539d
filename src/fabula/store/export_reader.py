"""Read all nodes and relationships of documents in batches, so that any graph fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import Changed, StoreError
from fabula.graph import Record
from fabula.graph.entries import Entry
from fabula.store import Store
from fabula.store.embedding_space import Space, refuse_reembedding

ROWS_PER_PAGE = 1000


@dataclass(frozen=True, slots=True)
class ExportedNode:
    """A node: its id, its labels, and its properties as JSON values."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportedRelationship:
    """A relationship, with the ids and labels of its ends."""

    label: str
    start: str
    start_labels: tuple[str, ...]
    end: str
    end_labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportReader:
    """Reads the graph of some documents, as often as needed.

    Attributes:
        store: The graph.
        entries: The documents.
        whole: The collections whose own graphs are read as well.
    """

    store: Store
    entries: Sequence[Entry]
    whole: Sequence[str] = ()

    def nodes(self, *, embeddings: bool = False) -> Iterator[ExportedNode]:
        """Yield all nodes of every document.

        Args:
            embeddings: Whether to include the embeddings, as lists of floats.

        Raises:
            SpaceError: The collection is being re-embedded, so its passages have embeddings of two
                models.
            StoreError: A document or its embeddings have changed meanwhile.
        """
        collections = self._collections() if embeddings else set()
        spaces = {name: self._read_space(name) for name in collections}
        collection_parts = self._read_collection_parts()
        for collection, document in self._owners():
            space = spaces.get(collection)
            embedding = space.embedding if space else ""
            for row in self._rows("core/find_nodes", collection, document, embedding=embedding):
                properties = {
                    name: value
                    for name, value in sorted(row["properties"].items())
                    if value is not None
                }
                yield ExportedNode(row["id"], tuple(row["labels"]), properties)
        self._refuse_changed(collection_parts)
        if any(_place(self._read_space(name)) != _place(was) for name, was in spaces.items()):
            raise StoreError("The graph was re-embedded while it was read. Export it again.")

    def relationships(self) -> Iterator[ExportedRelationship]:
        """Yield every relationship between those nodes. Raise StoreError as `nodes` does."""
        documents = [document for _, document in self._owners()]
        collection_parts = self._read_collection_parts()
        for owner in self._owners():
            for row in self._rows("core/find_relationships", *owner, documents=documents):
                for edge in row["leading"]:
                    yield ExportedRelationship(
                        label=edge["type"],
                        start=row["id"],
                        start_labels=tuple(row["labels"]),
                        end=edge["id"],
                        end_labels=tuple(edge["labels"]),
                        properties=edge["properties"],
                    )
        self._refuse_changed(collection_parts)

    def types(self) -> dict[str, set[str]]:
        """Return the Cypher types of each property of the nodes, ids and embeddings left out."""
        types: dict[str, set[str]] = {}
        for collection, document in self._owners():
            place = {"collection": collection, "document": document}
            for row in self.store.rows("core/find_properties", **place):
                types.setdefault(row["name"], set()).add(row["type"].removesuffix(" NOT NULL"))
        return types

    def _owners(self) -> list[tuple[str, str]]:
        """Return collections and ids of documents; '' for what belongs to the collection itself."""
        documents = [(entry.collection, entry.id) for entry in self.entries]
        return documents + [(name, "") for name in self.whole]

    def _read_collection_parts(self) -> list[Mapping[str, Record]]:
        return [self.store.collection_parts(name) for name in self.whole]

    def _collections(self) -> set[str]:
        return {entry.collection for entry in self.entries}

    def _read_space(self, collection: str) -> Space | None:
        space = self.store.space(collection)
        if space is not None:
            refuse_reembedding(space)
        return space

    def _rows(
        self, name: str, collection: str, document: str, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        parameters |= {"collection": collection, "document": document, "limit": ROWS_PER_PAGE}
        after = ""
        while rows := self.store.rows(name, after=after, **parameters):
            yield from rows
            after = rows[-1]["id"]

    def _refuse_changed(self, collection_parts: Sequence[Mapping[str, Record]]) -> None:
        """Raise Changed if a document was replaced between two batches."""
        if self._read_collection_parts() != collection_parts:
            raise Changed("A collection's own graph was changed meanwhile: export it again.")
        for collection in self._collections():
            entries = [entry for entry in self.entries if entry.collection == collection]
            for start in range(0, len(entries), ROWS_PER_PAGE):
                page = entries[start : start + ROWS_PER_PAGE]
                same = self.store.find_same(collection, [entry.id for entry in page])
                now = {entry.id: entry for entry in same}
                for entry in page:
                    if now.get(entry.id) != entry:
                        raise Changed(
                            f"{entry.title} was changed while it was read: export it again."
                        )


def _place(space: Space | None) -> tuple[object, ...]:
    """Return where a collection's embeddings are, and of which model."""
    return (space.kind, space.slot) if space else ()
