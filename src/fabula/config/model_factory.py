"""The models as the settings name them, and what the parts of a graph are made from with them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabula.config.settings import STATIC, Settings
from fabula.graph import TEXT, Record
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs as installed
from fabula.graph.method import Graph
from fabula.graph.recipes import (
    Recipe,
    collection_base,
    collection_recipe,
    recipe,
    text_recipe,
    with_bases,
)
from fabula.models import Prompt
from fabula.models.batching import BatchingEmbedder
from fabula.models.budget import Budget, Budgets
from fabula.models.cache import ResponseCache
from fabula.models.cached import CachedChat, CachedEmbedder
from fabula.models.counted import CountedChat, CountedEmbedder, Meter, UsageCounter
from fabula.models.offline import OfflineGuide, StaticEmbedder
from fabula.models.parallel import Workers
from fabula.models.purpose import BUILD, Purpose
from fabula.models.replies import complete
from fabula.models.roles import Role
from fabula.models.stop import Stop
from fabula.text.document import Vectors

if TYPE_CHECKING:
    from fabula.models import Answerer, Chat, Embedder, Guide
    from fabula.models.endpoint import Endpoint

OFFLINE_THREADS = 1
"""Extraction and static vectors compute and do not wait: more threads would only take turns."""
MAX_DOCUMENTS = 4
"""Documents that are built at once. While the last summaries of one document wait for each other,
the calls of the next ones fill the gaps."""


@dataclass(frozen=True, slots=True)
class BuildModels:
    """The models with which one part of one document is made: `fabula.models.roles.Models`."""

    meter: Meter
    embedder: Embedder
    static: Embedder
    offline: bool
    temperature: float
    chat: Callable[[Role, str], Chat]
    model: Callable[[Role], str]


class ModelFactory:
    """Makes the embedder, the chat models and the answerer that the settings name.

    Each is made when it is first used. Calls count as calls of a build; those of a question go
    through a `view`. Safe to share between threads.

    Args:
        settings: They name the models, the endpoint and the limits.
        budget: What may be spent, in place of the settings' limits; several may share one.

    """

    def __init__(self, settings: Settings, budget: Budget | None = None) -> None:
        self._settings = settings
        remote = not (settings.offline and settings.embedding_model == STATIC)
        self.workers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        # Questions have threads of their own: behind a build, they would wait for all its calls.
        self._askers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        self.document_workers = Workers(MAX_DOCUMENTS if remote else OFFLINE_THREADS)
        self._opening = threading.Lock()
        self._opened: Endpoint | None = None
        self._static = StaticEmbedder()
        self._budgets = Budgets((budget or Budget(settings.max_calls, settings.max_tokens),))
        self._cache = ResponseCache(settings.cache_folder) if settings.cache else None
        self._purpose = BUILD
        self.counter: UsageCounter | None = None
        """Counts all calls that builds make with this factory, beside the builds' own meters."""
        self._whole = self
        """The factory that this is a view of, or itself; the endpoint is opened there, once."""

    def view(
        self,
        *,
        urgent: bool = False,
        stop: Stop | None = None,
        budget: Budget | None = None,
        counter: UsageCounter | None = None,
        is_static: bool = False,
    ) -> ModelFactory:
        """Return the same factory for one question, one run or one key of the service.

        The endpoint with its limiter, the threads and the cache are shared. Close the factory
        itself, and no view.

        Args:
            urgent: The calls are a question's, and go before those of builds.
            stop: Ends the calls made through the view, and what they wait for.
            budget: What the view may spend, within what this factory may. A view of a view is held
                to both budgets.
            counter: Counts the calls of builds.
            is_static: Embed by static vectors, whatever the settings name.

        """
        view = copy.copy(self)
        if is_static:
            view._settings = self._settings.model_copy(update={"embedding_model": STATIC})
        view._purpose = Purpose(urgent or self._purpose.urgent, stop or self._purpose.stop)
        if view._purpose.urgent:
            view.workers = self._askers
        if budget is not None:
            view._budgets = Budgets((budget, *self._budgets.each))
        view.counter = counter or self.counter
        # These cached properties depend on what was just changed.
        for name in ("embedder", "_remote"):
            view.__dict__.pop(name, None)
        return view

    @property
    def settings(self) -> Settings:
        """The settings that the models are named by."""
        return self._settings

    @property
    def offline(self) -> bool:
        """Whether there is no chat model."""
        return self._settings.offline

    @property
    def is_static(self) -> bool:
        """Whether texts are embedded by static vectors, which need no endpoint."""
        return self._settings.embedding_model == STATIC

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name."""
        return self._settings.table(name)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of passages and questions, within the budget and cached, not counted."""
        return self.counted_embedder(Meter())

    def graph_options(self, graph: Graph[Any]) -> Any:
        """Return the settings of a graph, of the class that the graph names."""
        return self._settings.table(graph.name)

    def recipes(
        self,
        sha256: str,
        graphs: Sequence[Graph[Any]],
        base: Mapping[str, Any] | None = None,
    ) -> dict[str, Recipe]:
        """Return what the parts of a document would be made from now, by the graphs' names.

        Args:
            sha256: The digest of the document's text.
            graphs: The graphs whose parts are asked for; those that they rest on are added.
            base: What the document's chunks were made from, if they are to stay.

        """
        settings = self._settings
        text = text_recipe(sha256, settings.chunk_tokens, settings.embedding_model)
        recipes = {TEXT: dict(base) if base else text}
        # A document may lack a graph that another one of its graphs rests on, so bases are added.
        for graph in with_bases(installed(), [graph.name for graph in graphs]):
            offline = settings.offline
            options = graph.settings(self.graph_options(graph), offline)
            recipes[graph.name] = recipe(graph, options, self._built_with, recipes, offline=offline)
        return recipes

    def build_recipe(self) -> Recipe:
        """Return all that decides what a build makes of any text: chunks, models and graphs.

        Settings that decide only how fast, from which endpoint and with whose key are left out.
        """
        settings = self._settings
        offline = settings.offline
        text = text_recipe("", settings.chunk_tokens, settings.embedding_model)
        return {
            "chunks": {"version": text["version"], **text["settings"]},
            "models": self._built_with,
            "graphs": {
                name: {
                    "version": graph.version,
                    "settings": dict(graph.settings(self.graph_options(graph), offline)),
                    "prompts": "" if offline else graph.prompts_digest(),
                }
                for name, graph in installed().items()
            },
        }

    def collection_recipe(
        self, graph: Graph[Any], entries: Sequence[Entry], settled: Mapping[str, Record]
    ) -> Recipe:
        """Return what a collection's own graph would be made from now.

        Args:
            graph: The graph.
            entries: The documents of the collection.
            settled: What the other graphs of the collection itself were made from, by their names.

        """
        base = collection_base(graph, entries, settled)
        settings = self._settings
        options = graph.settings(self.graph_options(graph), settings.offline)
        return collection_recipe(graph, options, self._built_with, base, offline=settings.offline)

    @property
    def _built_with(self) -> dict[str, object]:
        """The models that write into a graph, as recipes record them."""
        settings = self._settings
        models: dict[str, object] = {
            "embedding_model": settings.embedding_model,
            "model": settings.model,
        }
        if not settings.offline:
            models["aspect_model"] = self._name("aspect_model")
            models["temperature"] = settings.temperature
        return models

    def counted_embedder(self, meter: Meter, *, cached: bool = True, dry: bool = False) -> Embedder:
        """Return the embedder; its calls are counted, unless they are free.

        Args:
            meter: Counts the calls.
            cached: Take vectors from the response cache.
            dry: Call no model: static vectors stand in for the model's.

        """
        settings = self._settings
        if settings.embedding_model == STATIC:
            return self._static
        if dry:
            from fabula.models.placeholders import PlaceholderEmbedder

            name, batch = self.embedder.model, settings.embedding_batch
            expected = PlaceholderEmbedder(name, batch, self._static, self._cache, self._address)
            return CountedEmbedder(expected, meter, "embeddings")
        paid = CountedEmbedder(self._remote, meter, "embeddings", self._budgets)
        if not (cached and self._cache):
            return BatchingEmbedder(paid, self._endpoint.manners)
        saved = CachedEmbedder(paid, self._cache, self._address, self._purpose.stop)
        return BatchingEmbedder(saved, self._endpoint.manners)

    def placeholder_vectors(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vectors that stand in for the model's in a dry run.

        None if the embedding model is the static one, whose vectors need no placeholder.
        """
        if self._settings.embedding_model == STATIC or not texts:
            return None
        return self._static.embed([text.strip() or "-" for text in texts]).vectors

    def models(self, meter: Meter, *, dry: bool = False) -> BuildModels:
        """Return the models with which one part of a document is made.

        Args:
            meter: Counts the calls.
            dry: Call no model: placeholders answer, so that the meter counts what models would be
                asked.

        """
        settings = self._settings

        def chat(role: Role, step: str) -> Chat:
            return (self.placeholder_chat if dry else self.chat)(meter, step, role)

        return BuildModels(
            meter=meter,
            embedder=self.counted_embedder(meter, dry=dry),
            static=self._static,
            offline=settings.offline,
            temperature=settings.temperature,
            chat=chat,
            model=self._name,
        )

    def answerer(self, meter: Meter) -> Answerer:
        """Return what writes an answer from a context."""
        settings = self._settings
        from fabula.models.prompted import PromptedAnswerer

        chat = self.chat(meter, "answer")
        return PromptedAnswerer(chat, settings.answer_temperature, settings.answer_tokens)

    def chat(self, meter: Meter, step: str, role: Role = "model") -> Chat:
        """Return a chat model, within the budget; it is called only for what is not cached.

        Args:
            meter: Counts the calls.
            step: The name that its calls are counted under.
            role: Which of the settings' chat models.

        """
        name = self._name(role)

        def open(stop: Stop) -> CountedChat:
            remote = self._remote_chat(role, replace(self._purpose, stop=stop))
            return CountedChat(remote, meter, step, name, self._budgets)

        if not self._cache:
            return open(self._purpose.stop)
        return CachedChat(open, self._cache, self._address, name, self._purpose.stop)

    def placeholder_chat(self, meter: Meter, step: str, role: Role = "model") -> Chat:
        """Return a chat for dry runs: cached replies, otherwise the placeholders of prompts."""
        from fabula.models.placeholders import PlaceholderChat

        name = self._name(role)
        return CountedChat(PlaceholderChat(name, self._cache, self._address), meter, step, name)

    @property
    def ranks_by_endpoint(self) -> bool:
        """Whether a model that only ranks is asked to rank passages, and not the chat model."""
        return bool(self._settings.rerank_model)

    @property
    def answer_limits(self) -> tuple[float, int]:
        """The temperature of an answer, and its most tokens."""
        return self._settings.answer_temperature, self._settings.answer_tokens

    def guide(self, meter: Meter) -> Guide:
        """Return what rewrites questions and ranks passages; `meter` counts its calls."""
        settings = self._settings
        if settings.offline:
            return OfflineGuide()
        from fabula.models.guide import PromptedGuide

        ranker = None
        if settings.rerank_model:
            from fabula.models.rerank import EndpointRanker

            model = settings.rerank_model
            ranker = EndpointRanker(self._endpoint, model, self._budgets, meter, self._purpose).rank
        return PromptedGuide(self.chat(meter, "guide"), ranker)

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return each role, the name of its model, and a function that makes it a small call.

        The cache is not used: it would answer for a model that is gone.
        """
        settings = self._settings
        embedder = self._static if settings.embedding_model == STATIC else self._remote
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)

        def ask(role: Role) -> Callable[[], object]:
            # A model that goes on after the word is there all the same.
            return lambda: complete(self._remote_chat(role, self._purpose), word, allow_cut=True)

        return [
            ("model", settings.model, ask("model")),
            ("aspect model", self._name("aspect_model"), ask("aspect_model")),
            ("embedding model", settings.embedding_model, lambda: embedder.embed(["yes"])),
        ]

    def limits(self) -> dict[str, float]:
        """Return what the endpoint's limiter has learned; empty before the first call."""
        with self._opening:
            return self._opened.limits() if self._opened is not None else {}

    def close(self) -> None:
        """End the threads, and all waiting for the endpoint."""
        self.workers.close()
        self._askers.close()
        self.document_workers.close()
        with self._opening:
            if self._opened is not None:
                self._opened.close()
        if self._cache:
            self._cache.close()

    def _name(self, role: Role) -> str:
        """Return the name of a role's model; offline, both roles have the same."""
        return self._settings.judge if role == "aspect_model" else self._settings.model

    def _remote_chat(self, role: Role, purpose: Purpose) -> Chat:
        from fabula.models.openai import OpenAIChat

        # The variable that a message names where the endpoint does not know the model.
        is_separate = role == "aspect_model" and self._settings.aspect_model
        setting = "FABULA_ASPECT_MODEL" if is_separate else "FABULA_MODEL"
        return OpenAIChat(self._endpoint, self._name(role), setting, purpose)

    @cached_property
    def _remote(self) -> Embedder:
        from fabula.models.openai import OpenAIEmbedder

        settings = self._settings
        return OpenAIEmbedder(
            self._endpoint, settings.embedding_model, settings.embedding_batch, self._purpose
        )

    @property
    def _address(self) -> str:
        """The endpoint's address, which is a part of the cache's keys; it is not called."""
        from fabula.models.address import normalize_url

        return normalize_url(self._settings.base_url)

    def _key(self) -> str | None:
        """Return the endpoint's key. Only a call needs it, as the keyring may ask the user."""
        if self._settings.api_key:
            return self._settings.api_key.get_secret_value()
        if not self._settings.keyring:
            return None
        from fabula.models.keyring import read_key

        return read_key(self._address)

    @property
    def _endpoint(self) -> Endpoint:
        """The endpoint, one for all threads: two would have two limiters."""
        from fabula.models.endpoint import Endpoint
        from fabula.models.limiter import Limiter, RetryPolicy

        settings, whole = self._settings, self._whole
        with whole._opening:  # `cached_property` would not lock
            if whole._opened is None:
                whole._opened = Endpoint(
                    settings.base_url,
                    self._key(),
                    Limiter(settings.concurrency),
                    RetryPolicy(settings.timeout, settings.attempts),
                    whole._cache,
                )
            return whole._opened
