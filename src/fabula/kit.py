"""The models of one service, and what the steps of a build and a query are made from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from fabula.aspects import read_aspects
from fabula.build.cluster import Clustering
from fabula.build.pipeline import Method, Models
from fabula.model import Chunk, Detail, Known, Summary
from fabula.parallel import Workers
from fabula.providers import Prompt
from fabula.providers.budget import Budget, BudgetedChat, BudgetedEmbedder
from fabula.providers.cache import ResponseCache
from fabula.providers.cached import CachedChat, CachedEmbedder
from fabula.providers.counted import CountedChat, CountedEmbedder, Meter
from fabula.providers.offline import StaticEmbedder
from fabula.replies import said
from fabula.settings import CHAT_SETTINGS, METHOD_SETTINGS, STATIC, Settings

if TYPE_CHECKING:
    from fabula.providers import Answerer, Chat, Embedder, Guide, Writer
    from fabula.providers.endpoint import Endpoint

Passage = TypeVar("Passage", Chunk, Summary, Detail)

# Extraction and static vectors are computing, not waiting: threads would only take turns.
COMPUTING = 1
USUAL_ASPECTS, USUAL_SHARE = 2.0, 0.7
"""Of a model that nothing is known of: aspects it names of a cluster, as the prompt tells it, and
how much of the length that it may write it does."""
DOCUMENTS_AT_ONCE = 4
"""While one document's last summaries wait for each other, the next one's calls fill the gaps."""


class Kit:
    """Embedder, writers and answerers as the settings name them; made when first used.

    What several kits may spend together is their common `budget`.
    """

    def __init__(self, settings: Settings, budget: Budget | None = None) -> None:
        self._settings = settings
        remote = not (settings.offline and settings.embedding_model == STATIC)
        self.workers = Workers(settings.concurrency if remote else COMPUTING)
        self.documents = Workers(DOCUMENTS_AT_ONCE if remote else COMPUTING)
        self._opening = threading.Lock()
        self._opened: Endpoint | None = None
        self._static = StaticEmbedder()
        self._budget = budget or Budget(settings.max_calls, settings.max_tokens)
        self._cache = ResponseCache(settings.cache_folder) if settings.cache else None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of passages and questions, within the budget and cached, not counted."""
        if self._settings.embedding_model == STATIC:
            return self._static
        if not self._cache:
            return self._paid
        return CachedEmbedder(self._paid, self._cache, self._address)

    @property
    def _paid(self) -> Embedder:
        return BudgetedEmbedder(self._remote, self._budget)

    @cached_property
    def method(self) -> Method:
        """The method's knobs. Raises SettingsError for a broken aspect set."""
        settings = self._settings
        return Method(
            chunk_tokens=settings.chunk_tokens,
            clustering=Clustering(
                size=settings.cluster_size,
                tokens=settings.cluster_tokens,
                count=settings.cluster_count,
                reduction=settings.cluster_reduction,
                dimensions=settings.cluster_dimensions,
                membership=settings.membership,
                variance_floor=settings.variance_floor,
                seed=settings.seed,
            ),
            aspects=read_aspects(settings.aspects),
            # Extraction finds the same each time it is asked.
            detection_rounds=0 if settings.offline else settings.detection_rounds,
            levels=settings.levels,
            details=settings.details,
            details_per_call=1 if settings.offline else settings.details_per_call,
        )

    @cached_property
    def built_with(self) -> dict[str, object]:
        """What a document's graph depends on; the same content and this give the same graph."""
        settings = self._settings
        names = ["embedding_model", *METHOD_SETTINGS, *([] if settings.offline else CHAT_SETTINGS)]
        aspects = {one.name: [one.description, one.focus] for one in self.method.aspects}
        return settings.model_dump(mode="json", include=set(names)) | {"aspects": aspects}

    def counted_embedder(self, meter: Meter, *, cached: bool = True) -> Embedder:
        """The embedder, its calls counted unless they are free; or the one that its cache asks."""
        if self._settings.embedding_model == STATIC:
            return self.embedder
        return CountedEmbedder(self.embedder if cached else self._paid, meter, "embeddings")

    def models(self, language: str, meter: Meter) -> Models:
        """What one document in `language` is made with; `meter` counts what it asks."""
        return Models(
            embedder=self.counted_embedder(meter),
            writer=lambda texts: self._writer(texts, language, meter),
            meter=meter,
        )

    def expected_models(self, language: str, meter: Meter, lengths: Mapping[str, float]) -> Models:
        """What stands in for the models, so that `meter` counts what they would be asked.

        `lengths` are means of what they wrote so far, by the names of expected.Lengths' fields.
        """
        settings = self._settings
        if settings.offline:
            return self.models(language, meter)
        from fabula.providers.expected import ExpectedChat, ExpectedEmbedder, Lengths

        usual = {
            "aspects": USUAL_ASPECTS,
            "summary": USUAL_SHARE * settings.summary_tokens,
            "detail": USUAL_SHARE * settings.detail_tokens,
        }
        expected = Lengths(**usual | dict(lengths))

        def chat(model: str, step: str) -> Chat:
            stand_in = ExpectedChat(model, expected, self._cache, self._address)
            return CountedChat(stand_in, meter, step)

        embedder = self.counted_embedder(meter)
        if settings.embedding_model != STATIC:
            batch = settings.embedding_batch
            stand_in = ExpectedEmbedder(
                embedder.model, batch, self._static, self._cache, self._address
            )
            embedder = CountedEmbedder(stand_in, meter, "embeddings")
        writer = self._prompted(
            chat(self._aspect_model, "aspects"),
            chat(settings.model, "summaries"),
            chat(settings.model, "details"),
        )
        return Models(embedder=embedder, writer=lambda texts: writer, meter=meter)

    def as_expected(self, known: Known) -> Known:
        """The same with the vectors that stand in for its embeddings."""
        return Known(
            tuple(self._stood_in(known.chunks)),
            tuple(self._stood_in(known.summaries)),
            tuple(self._stood_in(known.details)),
            known.assigned,
            known.changed,
        )

    def _stood_in(self, passages: Sequence[Passage]) -> list[Passage]:
        if self._settings.embedding_model == STATIC or not passages:
            return list(passages)
        rows = self._static.embed([one.text.strip() for one in passages]).vectors
        return [replace(one, embedding=row) for one, row in zip(passages, rows, strict=True)]

    def _writer(self, texts: Sequence[str], language: str, meter: Meter) -> Writer:
        settings = self._settings
        if settings.offline:
            from fabula.providers.extractive import ExtractiveWriter, Lengths

            lengths = Lengths(settings.summary_tokens, settings.details, settings.detail_tokens)
            return ExtractiveWriter(texts, language, self._static, lengths)
        return self._prompted(
            self._counted(self._aspect_chat, self._aspect_model, meter, "aspects"),
            self._counted(self._chat, settings.model, meter, "summaries"),
            self._counted(self._chat, settings.model, meter, "details"),
        )

    def _prompted(self, detecting: Chat, summarising: Chat, condensing: Chat) -> Writer:
        from fabula.providers.prompted import PromptedWriter

        settings = self._settings
        return PromptedWriter(
            detecting=detecting,
            summarising=summarising,
            condensing=condensing,
            temperature=settings.temperature,
            summary_tokens=settings.summary_tokens,
            details=settings.details,
            detail_tokens=settings.detail_tokens,
            aspects_with_summaries=(
                settings.aspects_with_summaries and self._aspect_model == settings.model
            ),
        )

    def answerer(self, meter: Meter) -> Answerer:
        """What answers from a context."""
        settings = self._settings
        if settings.offline:
            from fabula.providers.quoted import ExtractiveAnswerer

            return ExtractiveAnswerer(self._static)
        from fabula.providers.prompted import PromptedAnswerer

        chat = self._counted(self._chat, settings.model, meter, "answer")
        return PromptedAnswerer(chat, settings.answer_temperature, settings.answer_tokens)

    def chat(self, meter: Meter, step: str) -> Chat:
        """The chat model, for a `step` that is no part of the method."""
        return self._counted(self._chat, self._settings.model, meter, step)

    def guide(self, meter: Meter) -> Guide:
        """What retrieval may ask, its calls counted to `meter`."""
        from fabula.providers.guide import OfflineGuide, PromptedGuide

        settings = self._settings
        if settings.offline:
            return OfflineGuide(self._static)
        ranker = None
        if settings.rerank_model:
            from fabula.providers.rerank import EndpointRanker

            ranker = EndpointRanker(self._endpoint, settings.rerank_model).rank
        routing = self._counted(self._aspect_chat, self._aspect_model, meter, "route")
        return PromptedGuide(
            routing, self._counted(self._chat, settings.model, meter, "guide"), ranker
        )

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Each role of a model, the model's name, and a call that asks it something small.

        The cache is not looked at: it would answer for a model that is gone.
        """
        settings = self._settings
        asked = self._static if settings.embedding_model == STATIC else self._remote
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)
        return [
            ("model", settings.model, lambda: said(self._chat, word)),
            ("aspect model", self._aspect_model, lambda: said(self._aspect_chat, word)),
            ("embedding model", settings.embedding_model, lambda: asked.embed(["yes"])),
        ]

    def close(self) -> None:
        """Ends the threads, and all waiting for the endpoint."""
        self.workers.close()
        self.documents.close()
        with self._opening:
            if self._opened is not None:
                self._opened.close()
        if self._cache:
            self._cache.close()

    def _counted(self, chat: Chat, model: str, meter: Meter, step: str) -> Chat:
        """A chat that is asked, within the budget, only for what is not cached, and counted."""
        paid = BudgetedChat(chat, self._budget)
        kept = CachedChat(paid, self._cache, self._address, model) if self._cache else paid
        return CountedChat(kept, meter, step)

    @property
    def _aspect_model(self) -> str:
        """Extraction does both roles or none."""
        settings = self._settings
        return settings.model if settings.offline else settings.aspect_model or settings.model

    @cached_property
    def _chat(self) -> Chat:
        from fabula.providers.openai import OpenAIChat

        return OpenAIChat(self._endpoint, self._settings.model)

    @cached_property
    def _aspect_chat(self) -> Chat:
        from fabula.providers.openai import OpenAIChat

        setting = "FABULA_ASPECT_MODEL" if self._settings.aspect_model else "FABULA_MODEL"
        return OpenAIChat(self._endpoint, self._aspect_model, setting)

    @cached_property
    def _remote(self) -> Embedder:
        from fabula.providers.openai import OpenAIEmbedder

        settings = self._settings
        return OpenAIEmbedder(self._endpoint, settings.embedding_model, settings.embedding_batch)

    @property
    def _address(self) -> str:
        """Of the endpoint, as the cache knows it; it is not reached."""
        from fabula.providers.address import checked_url

        return checked_url(self._settings.base_url)

    @property
    def _endpoint(self) -> Endpoint:
        """One for all threads: two would have two limiters. (`cached_property` does not lock.)"""
        from fabula.providers.endpoint import Endpoint
        from fabula.providers.limiter import Limiter, Patience

        settings = self._settings
        with self._opening:
            if self._opened is None:
                self._opened = Endpoint(
                    settings.base_url,
                    settings.api_key.get_secret_value() if settings.api_key else None,
                    Limiter(settings.concurrency),
                    Patience(settings.timeout, settings.attempts),
                )
            return self._opened
