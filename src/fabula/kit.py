"""The models of one service, and what the steps of a build and a query are made from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from fabula.aspects import read_aspects
from fabula.build.cluster import Clustering
from fabula.build.pipeline import Method, Models
from fabula.parallel import Workers
from fabula.providers import Prompt
from fabula.providers.counted import CountedChat, CountedEmbedder, Meter
from fabula.providers.offline import StaticEmbedder
from fabula.settings import CHAT_SETTINGS, METHOD_SETTINGS, STATIC, Settings

if TYPE_CHECKING:
    from fabula.providers import Answerer, Chat, Embedder, Writer
    from fabula.providers.openai import Endpoint

# Extraction and static vectors are computing, not waiting: threads would only take turns.
COMPUTING = 1
DOCUMENTS_AT_ONCE = 4
"""While one document's last summaries wait for each other, the next one's calls fill the gaps."""


class Kit:
    """Embedder, writers and answerers as the settings name them; made when first used."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        remote = not (settings.offline and settings.embedding_model == STATIC)
        self.workers = Workers(settings.concurrency if remote else COMPUTING)
        self.documents = Workers(DOCUMENTS_AT_ONCE if remote else COMPUTING)
        self._opening = threading.Lock()
        self._opened: Endpoint | None = None

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of passages and questions, not counted."""
        if self._settings.embedding_model == STATIC:
            return self._static
        from fabula.providers.openai import OpenAIEmbedder

        settings = self._settings
        return OpenAIEmbedder(self._endpoint, settings.embedding_model, settings.embedding_batch)

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
        )

    @cached_property
    def built_with(self) -> dict[str, object]:
        """What a document's graph depends on; the same content and this give the same graph."""
        settings = self._settings
        names = ["embedding_model", *METHOD_SETTINGS, *([] if settings.offline else CHAT_SETTINGS)]
        aspects = {one.name: [one.description, one.focus] for one in self.method.aspects}
        return settings.model_dump(mode="json", include=set(names)) | {"aspects": aspects}

    @property
    def ranking(self) -> str:
        """The name of the retrieval strategy."""
        if self._settings.retrieval != "auto":
            return self._settings.retrieval
        return "hybrid" if self._settings.embedding_model == STATIC else "collapsed"

    def counted_embedder(self, meter: Meter) -> Embedder:
        """The embedder, its calls counted unless they are free."""
        if self._settings.embedding_model == STATIC:
            return self.embedder
        return CountedEmbedder(self.embedder, meter, "embeddings")

    def models(self, language: str, meter: Meter) -> Models:
        """What one document in `language` is made with; `meter` counts what it asks."""
        return Models(
            embedder=self.counted_embedder(meter),
            writer=lambda texts: self._writer(texts, language, meter),
            meter=meter,
        )

    def _writer(self, texts: Sequence[str], language: str, meter: Meter) -> Writer:
        settings = self._settings
        if settings.offline:
            from fabula.providers.extractive import ExtractiveWriter, Lengths

            lengths = Lengths(settings.summary_tokens, settings.details, settings.detail_tokens)
            return ExtractiveWriter(texts, language, self._static, lengths)
        from fabula.providers.prompted import PromptedWriter

        return PromptedWriter(
            detecting=CountedChat(self._aspect_chat, meter, "aspects"),
            summarising=CountedChat(self._chat, meter, "summaries"),
            condensing=CountedChat(self._chat, meter, "details"),
            temperature=settings.temperature,
            summary_tokens=settings.summary_tokens,
            details=settings.details,
            detail_tokens=settings.detail_tokens,
        )

    def answerer(self, meter: Meter) -> Answerer:
        """What answers from a context."""
        settings = self._settings
        if settings.offline:
            from fabula.providers.quoted import ExtractiveAnswerer

            return ExtractiveAnswerer(self._static)
        from fabula.providers.prompted import PromptedAnswerer

        chat = CountedChat(self._chat, meter, "answer")
        return PromptedAnswerer(chat, settings.answer_temperature, settings.answer_tokens)

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Each role of a model, the model's name, and a call that asks it something small."""
        settings = self._settings
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)
        return [
            ("model", settings.model, lambda: self._chat.complete(word)),
            ("aspect model", self._aspect_model, lambda: self._aspect_chat.complete(word)),
            ("embedding model", settings.embedding_model, lambda: self.embedder.embed(["yes"])),
        ]

    def close(self) -> None:
        """Ends the threads, and all waiting for the endpoint."""
        self.workers.close()
        self.documents.close()
        with self._opening:
            if self._opened is not None:
                self._opened.close()

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
    def _static(self) -> StaticEmbedder:
        return StaticEmbedder()

    @property
    def _endpoint(self) -> Endpoint:
        """One for all threads: two would have two limiters. (`cached_property` does not lock.)"""
        from fabula.providers.limiter import Limiter, Patience
        from fabula.providers.openai import Endpoint

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
