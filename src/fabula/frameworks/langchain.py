"""A retriever for LangChain (`pip install langchain-core`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from fabula.frameworks.searching import (
    Search,
    metadata,
    refuse_missing,
    search_collection,
    search_service,
)

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    refuse_missing(error, "LangChain", "langchain-core")

if TYPE_CHECKING:
    from fabula.library.collection import Collection


class FabulaRetriever(BaseRetriever):
    """Returns the passages that Fabula finds, as Documents. Make it with `of` or `at`.

    The metadata of a Document say where its passage stands: id, document, title, section, kind,
    aspect, level, start and end (characters), score, and the pages and lines of a printed
    edition.

    Attributes:
        options: Options of a `fabula.Query` for all questions, as `mode`, `k`, `document`. They may
            also be given with `invoke`.
    """

    search: Search
    options: dict[str, Any] = Field({})

    @classmethod
    def of(cls, collection: Collection, **options: Any) -> Self:
        """Return a retriever over a collection of this process."""
        return cls(search=search_collection(collection), options=options)

    @classmethod
    def at(cls, url: str, collection: str, key: str, **options: Any) -> Self:
        """Return a retriever over a service; `fabula keys make` prints a key."""
        return cls(search=search_service(url, collection, key), options=options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        hits = self.search(query, {**self.options, **options})
        return [Document(page_content=hit.text, id=hit.id, metadata=metadata(hit)) for hit in hits]
