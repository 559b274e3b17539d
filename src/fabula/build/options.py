"""How graphs are built: what every method of the library takes by name that builds some."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from fabula.build.cluster import WorkerCluster
    from fabula.build.outcome import Listener
    from fabula.models.batch_options import BatchOptions
    from fabula.models.stop import Stop
    from fabula.text.metadata import GivenMetadata


class BuildOptions(TypedDict, total=False):
    """How graphs are built, as `collection.ingest("books/", rebuild=True)`.

    Attributes:
        rebuild: Use nothing again, as at a first ingest.
        strict: A document fails where a model does not give a single piece of a graph.
        dry: Say what would be done and asked of models; write nothing, and ask no model. The build
            itself runs on placeholder replies, which are as long as those of models were in
            documents made in the same way. What an endpoint will answer cannot be known before.
        listener: Is told of each source and its steps.
        stop: Once it is set, from any thread, nothing more is begun. Calls under way come to their
            end, as they are paid for and cached. Documents that are not done by then stay as they
            were, and the same run goes on from there.
        batch: Ask models by batches, at about half the price. A document then waits, for hours
            perhaps, and its outcome is 'waiting' until the same run finds that its batches have
            ended. None to call models directly.
        metadata: Fields that documents get, beside those that their files state. They replace
            fields of the same names, also of documents that do not change otherwise.
        cluster: Workers that read files and make graphs, in other processes or on other machines;
            None to do it in this process. A graph that belongs to a whole collection is made here
            in any case, as it reads the store.
    """

    rebuild: bool
    strict: bool
    dry: bool
    listener: Listener
    stop: Stop
    batch: BatchOptions | None
    metadata: GivenMetadata
    cluster: WorkerCluster | None
