"""A retriever for LlamaIndex (`pip install llama-index-core`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fabula.frameworks.searching import (
    Search,
    metadata,
    refuse_missing,
    search_collection,
    search_service,
)

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    refuse_missing(error, "LlamaIndex", "llama-index-core")

if TYPE_CHECKING:
    from fabula.library.collection import Collection


class FabulaRetriever(BaseRetriever):
    """Returns the passages that Fabula finds, as nodes with scores. Make it with `of` or `at`.

    Options of a `fabula.Query`, as `mode`, `k` and `document`, hold for all questions.
    """

    def __init__(self, search: Search, options: dict[str, Any]) -> None:
        super().__init__()
        self._search, self._options = search, options

    @classmethod
    def of(cls, collection: Collection, **options: Any) -> Self:
        """Return a retriever over a collection of this process."""
        return cls(search_collection(collection), options)

    @classmethod
    def at(cls, url: str, collection: str, key: str, **options: Any) -> Self:
        """Return a retriever over a service; `fabula keys make` prints a key."""
        return cls(search_service(url, collection, key), options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.text,
                    metadata=metadata(hit),
                    start_char_idx=hit.start,
                    end_char_idx=hit.end,
                ),
                score=hit.score,
            )
            for hit in self._search(query_bundle.query_str, self._options)
        ]
