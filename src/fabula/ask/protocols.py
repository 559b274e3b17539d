"""What answering a question needs: models to ask, and a graph to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fabula.graph.hits import Filters, Hit, Source
from fabula.graph.readers import GraphReader, StatementReader
from fabula.graph.structure import TextStructure
from fabula.models import Embedder, Guide
from fabula.models.counted import Meter
from fabula.models.parallel import Workers
from fabula.models.roles import Models
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.models.prices import Cost
    from fabula.models.prompted import PromptedAnswerer


class QuestionModels(Protocol):
    """What answering a question needs of models; `fabula.config.model_factory.ModelFactory` has it.

    Each model is made when it is asked for: a question that asks no chat model needs no endpoint.
    """

    @property
    def offline(self) -> bool: ...

    @property
    def answer_tokens(self) -> int: ...

    @property
    def workers(self) -> Workers: ...

    def window(self) -> int | None: ...

    def limit_window(self, tokens: int) -> None: ...

    def table(self, name: str) -> Any: ...

    def cost(self, steps: Mapping[str, Usage]) -> Cost: ...

    def counted_embedder(self, meter: Meter) -> Embedder: ...

    def guide(self, meter: Meter) -> Guide: ...

    def models(self, meter: Meter) -> Models: ...

    def answerer(self, meter: Meter) -> PromptedAnswerer: ...


class AnswerReader(StatementReader, Protocol):
    """What writing an answer reads of the graph; `fabula.store.Store` has it.

    `fabula.library.across.CollectionsReader` reads several graphs.
    """

    def sources(self, collection: str, nodes: Sequence[str]) -> dict[str, list[Source]]: ...

    def find_quoted(
        self,
        filters: Filters,
        passages: Sequence[str],
        phrases: Sequence[Sequence[Sequence[str]]],
        resembling: Sequence[str] = (),
    ) -> list[Hit]: ...

    def structures(self, collection: str, documents: Sequence[str]) -> dict[str, TextStructure]: ...


class QuestionReader(AnswerReader, GraphReader, Protocol):
    """What answering a question reads of the graph; `fabula.store.Store` has it."""

    def count_parts(
        self, collection: str, document: str, graphs: Sequence[str]
    ) -> dict[str, int]: ...

    def refuse_unknown_filters(
        self,
        collection: str,
        aspects: Sequence[str],
        kinds: Sequence[str],
        elements: Sequence[str],
    ) -> None: ...
