"""Collections: list those that one may see, and describe one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from fabula.errors import NotFound
from fabula.graph import Record
from fabula.operations.documents import describe_graph, format_time, public_record
from fabula.operations.kit import Asker, Hidden, operation
from fabula.operations.parameters import First, ForVisitor, Limit
from fabula.text.names import quote_name
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.library.collection import Collection
    from fabula.store.embedding_space import Space

GROUP = "Collections"


@dataclass(frozen=True)
class ListedCollection:
    """A collection in a list.

    Attributes:
        name: Its name.
        documents: How many documents it has.
        embedding_model: The model that its passages are embedded by.
        dimensions: How many numbers an embedding has.
        kinds: The kinds of passages that can be searched.
        aspects: The aspects of its summaries.
        reembedding: Whether it is being embedded again with another model.
    """

    name: str
    documents: int
    embedding_model: str
    dimensions: Annotated[int, Hidden]
    kinds: Annotated[tuple[str, ...], Hidden]
    aspects: tuple[str, ...]
    reembedding: Annotated[bool, Hidden]


@dataclass(frozen=True)
class CollectionList:
    """Collections by their names."""

    total: int
    rows: tuple[ListedCollection, ...]


@operation(
    "/collections",
    command="collections",
    group=GROUP,
    has_screen=False,
    examples=("collections",),
)
def list_collections(asker: Asker, first: First = 0, limit: Limit = 100) -> CollectionList:
    """List the collections that you may read, and their sizes."""
    visible = {*asker.visible()}
    spaces = [space for space in asker.app.spaces() if space.collection in visible]
    rows = [
        ListedCollection(**_describe(space, asker.app.store_of(space.collection).count))
        for space in spaces[first : first + limit]
    ]
    return CollectionList(len(spaces), tuple(rows))


def _describe(space: Space, count: Any) -> dict[str, Any]:
    return {
        "name": space.collection,
        "documents": count(space.collection)[0],
        "embedding_model": space.model,
        "dimensions": space.dimensions,
        "kinds": tuple(sorted({*space.kinds, *space.element_kinds})),
        "aspects": tuple(name for name in space.aspects if name),
        "reembedding": bool(space.phase),
    }


@dataclass(frozen=True)
class CollectionDetails(ListedCollection):
    """A collection, and the graphs that belong to it as a whole.

    Attributes:
        passages: How many passages its documents have.
        graphs: What its own graphs were made from and cost, by their names.
        stale: What has changed since these were built, by their names.
    """

    passages: int
    graphs: Mapping[str, Record]
    stale: Mapping[str, tuple[str, ...]]

    def to_text(self) -> str:
        """Return its size, what can be searched in it, and how its own graphs were built."""
        lines = [
            f"{self.name}: {count_noun(self.documents, 'document')}, {self.passages:,} passages",
            f"embedded by {self.embedding_model}, {self.dimensions:,} dimensions",
            f"kinds of passages: {', '.join(self.kinds)}",
        ]
        if self.aspects:
            lines.append(f"aspects: {', '.join(self.aspects)}")
        if self.reembedding:
            lines.append("It is being embedded again: `fabula reembed` goes on.")
        for name, record in self.graphs.items():
            lines += ["", *describe_graph(name, record, self.stale.get(name, ()))]
            lines.append(f"  built from all documents {format_time(record.updated_at)}")
            if record.gaps:
                gaps = count_noun(record.gaps, "gap")
                lines.append(f"  has {gaps}: `fabula build {name}` asks for them again")
            if name in self.stale:
                lines.append(f"  `fabula build {name}` brings it up to date")
        return "\n".join(lines)


@operation(
    "/collections/{collection}",
    command="collection",
    group=GROUP,
    is_public=True,
    has_screen=False,
    examples=("collection", "collection --json"),
)
def describe_collection(
    collection: Collection, for_visitor: ForVisitor = False
) -> CollectionDetails:
    """Show the size of a collection, what can be searched in it, and its own graphs.

    Raises:
        NotFound: Nothing has been ingested into it.
    """
    space = collection.space()
    if space is None:
        raise NotFound(f"There is no collection {quote_name(collection.name)}.")
    own = collection.collection_graphs()
    if for_visitor:
        own = [replace(each, record=public_record(each.record), stale=()) for each in own]
    return CollectionDetails(
        **_describe(space, collection.open_store().count),
        passages=collection.open_store().count_passages(collection.name),
        graphs={each.graph: each.record for each in own},
        stale={each.graph: each.stale for each in own if each.stale},
    )
