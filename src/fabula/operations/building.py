"""Work on what a collection has: build a graph, renew, embed it again, remove all of it.

Documents are added by `Collection.ingest`, the command `ingest` and a route for uploads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fabula.jobs.work import BuildWork, ReembedWork, RemovalWork, RenewWork
from fabula.operations.collections import GROUP as COLLECTIONS
from fabula.operations.documents import GROUP as DOCUMENTS
from fabula.operations.kit import operation

if TYPE_CHECKING:
    from fabula.library.collection import Collection

# The queue writes to the audit.
work = partial(operation, method="POST", status=202, is_recorded=False)
Batch = Annotated[bool, Field(description="ask models by batches: half the price, within a day")]


@work(
    "/collections/{collection}/build",
    command="build",
    group=DOCUMENTS,
    title="Build",
    role="write",
    positional=["graph", "documents"],
    examples=(
        "build aspects",
        'build aspects "A Christmas Carol" --levels 3',
        "build aspects --dry-run",
    ),
)
def build_graph(
    collection: Collection,
    graph: Annotated[
        str, Field(min_length=1, max_length=200, description="the name of the graph, as aspects")
    ],
    documents: Annotated[
        tuple[str, ...],
        Field(max_length=2000, description="ids, titles or files of documents; none for all"),
    ] = (),
    rebuild: Annotated[bool, Field(description="build all anew, as the first time")] = False,
    batch: Batch = False,
) -> BuildWork:
    """Build a graph for documents that are in the collection, or for all of them.

    Texts and other graphs stay as they are, except for graphs that use this one. A graph that is up
    to date is not built again; only its gaps are. A graph of the whole collection, such as
    identities, is built from the graphs of all its documents, and no document is named for it.

    Raises:
        NotFound: There is no such document.
        SettingsError: There is no such graph, or it can't be built so.
    """
    ids = {collection.document(name).id: None for name in documents}
    return BuildWork(collection, graph, tuple(ids), rebuild, batch=batch)


@work(
    "/collections/{collection}/renew",
    group=DOCUMENTS,
    title="Renew",
    role="write",
    confirms_cost=True,
    examples=("renew", "renew --dry-run", "renew --only gaps --yes"),
)
def renew(
    collection: Collection,
    only: Annotated[
        Literal["", "indexes", "vectors", "gaps", "stale", "content"],
        Field(description="the kind of damage to renew, of those that `check` counts; '' for all"),
    ] = "",
    batch: Batch = False,
) -> RenewWork:
    """Renew what is damaged in the collection, as `check` counts it, and nothing else.

    Indexes are made again, vectors that no search finds are embedded again, models are asked again
    for gaps, and parts are built again that are stale or whose nodes are wrong. A gap is a piece of
    a graph that no model gave, or that a rule failed on. The files of the documents are not needed,
    and their texts stay as they are. If it is stopped, the same once more goes on.
    """
    return RenewWork(collection, only, batch=batch)


@work(
    "/collections/{collection}/reembed",
    group=COLLECTIONS,
    title="Embed again",
    role="write",
    has_tool=False,
    examples=("reembed --collection trial --embedding-model text-embedding-3-small",),
)
def reembed(collection: Collection) -> ReembedWork:
    """Embed every passage of the collection again, with the embedding model of the settings.

    Questions are answered meanwhile, with the old embeddings until the new index is built.
    Documents can be added again after it has ended. If it is stopped, the same once more continues
    it, and with the old model cancels it.
    """
    return ReembedWork(collection)


@work(
    "/collections/{collection}",
    group=COLLECTIONS,
    title="Remove the collection",
    role="admin",
    method="DELETE",
    has_tool=False,
    examples=(
        "remove-collection --collection trial --dry-run",
        "remove-collection -c trial --yes",
    ),
)
def remove_collection(collection: Collection) -> RemovalWork:
    """Remove all documents of the collection with their graphs, and conversations about it."""
    return RemovalWork(collection)
