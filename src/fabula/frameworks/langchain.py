"""A retriever for LangChain (`pip install langchain-core`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fabula.frameworks.searching import Search, at, metadata, over, refuse_missing

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    refuse_missing(error, "LangChain", "langchain-core")

if TYPE_CHECKING:
    from fabula.app.collection import Collection


class FabulaRetriever(BaseRetriever):
    """The passages that Fabula finds, as Documents: made by `of` or `at`.

    `asked` holds for all questions: fields of `fabula.Query`, as `mode`, `k`, `document`. `k` and
    others may be given with `invoke`, too. Metadata say where a passage stands: id, document,
    title, section, kind, aspect, level, start and end (characters), score.
    """

    search: Search
    asked: dict[str, Any] = {}  # noqa: RUF012  a field of pydantic's, which copies it

    @classmethod
    def of(cls, collection: Collection, **asked: Any) -> Self:
        """Over a collection of this process."""
        return cls(search=over(collection), asked=asked)

    @classmethod
    def at(cls, url: str, collection: str, key: str, **asked: Any) -> Self:
        """Over a service, with a key of `fabula keys make`."""
        return cls(search=at(url, collection, key), asked=asked)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **asked: Any
    ) -> list[Document]:
        hits = self.search(query, {**self.asked, **asked})
        return [Document(page_content=hit.text, id=hit.id, metadata=metadata(hit)) for hit in hits]
