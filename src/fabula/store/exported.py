"""All nodes and relationships of documents, read in batches, so that any graph fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.errors import StoreError
from fabula.graph import Record
from fabula.graph.entries import Entry
from fabula.store import Store
from fabula.store.space import Space, refuse_reembedding

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its id, its labels, and its properties as JSON has them."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship, with the ids and labels of its ends."""

    label: str
    start: str
    start_labels: tuple[str, ...]
    end: str
    end_labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Exported:
    """The graph of `entries`, and what belongs to `whole` collections themselves.

    It may be read as often as need be.
    """

    store: Store
    entries: Sequence[Entry]
    whole: Sequence[str] = ()

    def nodes(self, *, embeddings: bool = False) -> Iterator[Node]:
        """All nodes of every document; embeddings, lists of floats, only where asked for.

        Raises StoreError where a document or its embeddings change meanwhile, and SpaceError while
        the graph is re-embedded: some passages have one model's embedding, and some another's.
        """
        asked = self._collections() if embeddings else set()
        spaces = {one: self._settled_space(one) for one in asked}
        settled = self._settled()
        for collection, document in self._owners():
            space = spaces.get(collection)
            told = space.embedding if space else ""
            for row in self._rows("core/find_nodes", collection, document, embedding=told):
                kept = row["properties"]
                there = {name: kept[name] for name in sorted(kept) if kept[name] is not None}
                yield Node(row["id"], tuple(row["labels"]), there)
        self._refuse_changed(settled)
        if any(_place(self._settled_space(one)) != _place(was) for one, was in spaces.items()):
            raise StoreError("The graph was re-embedded while it was read: export it again.")

    def relationships(self) -> Iterator[Relationship]:
        """Every relationship between those nodes. Raises StoreError as `nodes` does."""
        documents = [document for _, document in self._owners()]
        settled = self._settled()
        for owner in self._owners():
            for row in self._rows("core/find_relationships", *owner, documents=documents):
                for one in row["leading"]:
                    yield Relationship(
                        label=one["type"],
                        start=row["id"],
                        start_labels=tuple(row["labels"]),
                        end=one["id"],
                        end_labels=tuple(one["labels"]),
                        properties=one["properties"],
                    )
        self._refuse_changed(settled)

    def types(self) -> dict[str, set[str]]:
        """The Cypher types that each property of the nodes has, but for ids and embeddings."""
        types: dict[str, set[str]] = {}
        for collection, document in self._owners():
            asked = {"collection": collection, "document": document}
            for row in self.store.rows("core/find_properties", **asked):
                types.setdefault(row["name"], set()).add(row["type"].removesuffix(" NOT NULL"))
        return types

    def _owners(self) -> list[tuple[str, str]]:
        """Collections and ids of documents; '' for what belongs to the collection itself."""
        documents = [(entry.collection, entry.id) for entry in self.entries]
        return documents + [(name, "") for name in self.whole]

    def _settled(self) -> list[Mapping[str, Record]]:
        return [self.store.settled(name) for name in self.whole]

    def _collections(self) -> set[str]:
        return {entry.collection for entry in self.entries}

    def _settled_space(self, collection: str) -> Space | None:
        space = self.store.space(collection)
        if space is not None:
            refuse_reembedding(space)
        return space

    def _rows(
        self, name: str, collection: str, document: str, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        asked = {"collection": collection, "document": document, "limit": BATCH, **parameters}
        after = ""
        while rows := self.store.rows(name, after=after, **asked):
            yield from rows
            after = rows[-1]["id"]

    def _refuse_changed(self, settled: Sequence[Mapping[str, Record]]) -> None:
        """Between two batches a document may be replaced: half of each version is neither."""
        if self._settled() != settled:
            raise StoreError("A collection's own graph was changed meanwhile: export it again.")
        for collection in self._collections():
            read = [entry for entry in self.entries if entry.collection == collection]
            for start in range(0, len(read), BATCH):
                some = read[start : start + BATCH]
                now = {one.id: one for one in self.store.same(collection, [one.id for one in some])}
                for entry in some:
                    if now.get(entry.id) != entry:
                        raise StoreError(
                            f"{entry.title} was changed while it was read: export it again."
                        )


def _place(space: Space | None) -> tuple[object, ...]:
    """Where a collection's embeddings are, and what they are of."""
    return (space.kind, space.slot) if space else ()
