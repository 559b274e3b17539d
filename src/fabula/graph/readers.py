"""What is read of the graph: `fabula.store.Store` has these methods, and says what each returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fabula.graph import Record
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters, Hit
from fabula.graph.reading_place import ReadingPlace
from fabula.text.document import Vector

if TYPE_CHECKING:
    from fabula.graph.unread import IsUnread

Made = TypeVar("Made")


class StatementReader(Protocol):
    """Runs statements that only read.

    For a reader with a place it answers as the reader knows the document: statements are given
    `$until`, and rows that print a name which was not read are left out.
    """

    @property
    def place(self) -> ReadingPlace | None: ...

    def read(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]: ...


class GraphReader(StatementReader, Protocol):
    """What a mode may read of the graph."""

    @property
    def is_unread(self) -> IsUnread | None: ...

    def nearest(self, vector: Vector, limit: int, filters: Filters, model: str) -> list[Hit]: ...

    def nearest_elements(
        self, vector: Vector, limit: int, filters: Filters, model: str, kinds: Sequence[str] = ()
    ) -> list[Hit]: ...

    def search_hybrid(
        self, vector: Vector, question: str, limit: int, filters: Filters, model: str
    ) -> tuple[list[Hit], list[Hit]]: ...

    def search_elements(
        self, question: str, kind: str, limit: int, filters: Filters
    ) -> dict[str, float]: ...

    def find_related(
        self, statement: str, filters: Filters, passages: Sequence[str]
    ) -> dict[str, list[Hit]]: ...

    def vectors(self, collection: str, nodes: Sequence[str]) -> dict[str, Vector]: ...

    def documents(self, collection: str) -> Iterator[Entry]: ...

    def collection_parts(self, collection: str) -> dict[str, Record]: ...

    def search_vectors(
        self, statement: str, vector: Vector, filters: Filters, model: str, **parameters: Any
    ) -> list[dict[str, Any]]: ...

    def read_unchecked(
        self, statement: str, filters: Filters, **parameters: Any
    ) -> list[dict[str, Any]]: ...

    def cached(
        self,
        name: str,
        filters: Filters,
        graphs: Sequence[str],
        make: Callable[[], Made],
        uses: Sequence[str] = (),
    ) -> Made | None: ...
