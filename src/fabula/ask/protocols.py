"""What answering a question needs: models to ask, and a graph to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fabula.graph.hits import Filters, Hit, Source
from fabula.graph.mode import GraphReader
from fabula.graph.reading_place import ReadingPlace
from fabula.graph.structure import TextStructure
from fabula.models import Answerer, Embedder, Guide
from fabula.models.counted import Meter
from fabula.models.parallel import Workers
from fabula.models.roles import Models
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.models.prices import Cost


class QuestionModels(Protocol):
    """What answering a question needs of models; `fabula.config.model_factory.ModelFactory` has it.

    Each model is made when it is asked for: a question that asks no chat model needs no endpoint.
    """

    @property
    def offline(self) -> bool:
        """Whether there is no chat model."""
        ...

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        ...

    @property
    def workers(self) -> Workers:
        """The threads that wait for models."""
        ...

    def window(self) -> int | None:
        """Return how many tokens the chat model takes in a call; None if nobody knows."""
        ...

    def limit_window(self, tokens: int) -> None:
        """Remember that the chat model takes no more than `tokens` in a call."""
        ...

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name."""
        ...

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Return what the usage of steps costs."""
        ...

    def counted_embedder(self, meter: Meter) -> Embedder:
        """Return the embedder of questions."""
        ...

    def guide(self, meter: Meter) -> Guide:
        """Return what rewrites a question and ranks passages."""
        ...

    def models(self, meter: Meter) -> Models:
        """Return the models with which graphs are built; some modes ask them."""
        ...

    def answerer(self, meter: Meter) -> Answerer:
        """Return what writes an answer from a context."""
        ...


class QuotationReader(Protocol):
    """What verifying quotations reads of the graph; `fabula.store.Store` has it."""

    def find_quoted(
        self,
        filters: Filters,
        passages: Sequence[str],
        phrases: Sequence[Sequence[Sequence[str]]],
        resembling: Sequence[str] = (),
    ) -> list[Hit]:
        """Return the chunks in which quotations may be, and those beside them, in text order."""
        ...

    def known_words(self, collection: str, words: Sequence[str]) -> set[str]:
        """Return those of some words that a passage of a collection has."""
        ...

    def structures(self, collection: str, documents: Sequence[str]) -> dict[str, TextStructure]:
        """Return where sections, pages and lines of documents begin, by the documents' ids."""
        ...


class AnswerReader(QuotationReader, Protocol):
    """What writing an answer from passages reads of the graph; `fabula.store.Store` has it.

    `fabula.app.across.CollectionsReader` reads several graphs.
    """

    @property
    def place(self) -> ReadingPlace | None:
        """The place of the reader; None for a reader of everything."""
        ...

    def read(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement over no embeddings; it is given the filters."""
        ...

    def sources(self, collection: str, nodes: Sequence[str]) -> dict[str, list[Source]]:
        """Return the chunks that nodes rest on in text order, by the nodes' ids."""
        ...


class QuestionReader(AnswerReader, GraphReader, Protocol):
    """What answering a question reads of the graph; `fabula.store.Store` has it."""

    def count_parts(self, collection: str, document: str, graphs: Sequence[str]) -> dict[str, int]:
        """Return how many parts each graph has in a collection or one document; zeros left out."""
        ...

    def refuse_unknown_filters(
        self,
        collection: str,
        aspects: Sequence[str],
        kinds: Sequence[str],
        elements: Sequence[str],
    ) -> None:
        """Raise NotFound for an aspect or a kind that no passage of a collection has."""
        ...
