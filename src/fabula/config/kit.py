"""The models of one service, and what the steps of a build and a query are made from."""

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
    recipe,
    settled_base,
    settled_recipe,
    text_recipe,
    with_bases,
)
from fabula.models import Prompt
from fabula.models.budget import Budget, BudgetedChat, BudgetedEmbedder, Budgets
from fabula.models.cache import ResponseCache
from fabula.models.cached import CachedChat, CachedEmbedder
from fabula.models.counted import CountedChat, CountedEmbedder, Counter, Meter
from fabula.models.offline import OfflineGuide, StaticEmbedder
from fabula.models.parallel import Workers
from fabula.models.purpose import BUILD, Purpose
from fabula.models.replies import said
from fabula.models.roles import Role
from fabula.models.stop import Stop
from fabula.text.document import Vectors

if TYPE_CHECKING:
    from fabula.models import Answerer, Chat, Embedder, Guide
    from fabula.models.endpoint import Endpoint

# Extraction and static vectors are computing, not waiting: threads would only take turns.
COMPUTING = 1
DOCUMENTS_AT_ONCE = 4
"""While one document's last summaries wait for each other, the next one's calls fill the gaps."""


@dataclass(frozen=True, slots=True)
class BuildModels:
    """What one part of one document is made with: `graph.method.Models`."""

    meter: Meter
    embedder: Embedder
    static: Embedder
    offline: bool
    temperature: float
    chat: Callable[[Role, str], Chat]
    model: Callable[[Role], str]


class Kit:
    """Embedder, writers and answerers as the settings name them; made when first used.

    What several kits may spend together is their common `budget`. Its models are called for builds;
    `view` has others call them.
    """

    def __init__(self, settings: Settings, budget: Budget | None = None) -> None:
        self._settings = settings
        remote = not (settings.offline and settings.embedding_model == STATIC)
        self.workers = Workers(settings.concurrency if remote else COMPUTING)
        # Of questions: behind a build's work, they would wait for as many calls to end.
        self._askers = Workers(settings.concurrency if remote else COMPUTING)
        self.documents = Workers(DOCUMENTS_AT_ONCE if remote else COMPUTING)
        self._opening = threading.Lock()
        self._opened: Endpoint | None = None
        self._static = StaticEmbedder()
        self._budgets = Budgets((budget or Budget(settings.max_calls, settings.max_tokens),))
        self._cache = ResponseCache(settings.cache_folder) if settings.cache else None
        self._purpose = BUILD
        self.counter: Counter | None = None
        """What is told of all calls that builds make with this kit, beside their own meters."""
        self._whole = self
        """The kit that this one is a view of, or itself: what is opened once is opened there."""

    def view(
        self,
        *,
        urgent: bool = False,
        stop: Stop | None = None,
        budget: Budget | None = None,
        counter: Counter | None = None,
        is_static: bool = False,
    ) -> Kit:
        """The same kit, its models called for a question, a run or a key of their own.

        All else is shared: the endpoint and its limiter, the threads, the cache. The calls of a
        question are `urgent`. `stop` ends what is asked through the view, and what that waits for.
        It may spend what `budget` has left, beside what this kit may; a view of a view is held to
        the budgets of both. `counter` is told of what builds ask. With `is_static` it embeds by
        static vectors, whatever the settings name. Only the kit itself is closed.
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
        # They are made with what was just changed.
        for made in ("embedder", "_remote"):
            view.__dict__.pop(made, None)
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

    @property
    def _paid(self) -> Embedder:
        return BudgetedEmbedder(self._remote, self._budgets)

    def knobs(self, graph: Graph[Any]) -> Any:
        """A graph's own settings, of the class that it names."""
        return self._settings.table(graph.name)

    def recipes(
        self,
        sha256: str,
        graphs: Sequence[Graph[Any]],
        base: Mapping[str, Any] | None = None,
    ) -> dict[str, Recipe]:
        """What the parts of a document of that text are made from now, by the graphs' names.

        `base` is what its chunks were made from, where they are to stay.
        """
        settings = self._settings
        text = text_recipe(sha256, settings.chunk_tokens, settings.embedding_model)
        recipes = {TEXT: dict(base) if base else text}
        # With their bases, which one document may lack though another graph of it rests on them.
        for graph in with_bases(installed(), [one.name for one in graphs]):
            offline = settings.offline
            told = graph.settings(self.knobs(graph), offline)
            recipes[graph.name] = recipe(graph, told, self._built_with, recipes, offline=offline)
        return recipes

    def build_recipe(self) -> Recipe:
        """Return all that decides what a build makes of any text: its cuts, models and graphs.

        What says how fast it is made, from where, and by whose key is left out.
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
                    "settings": dict(graph.settings(self.knobs(graph), offline)),
                    "prompts": "" if offline else graph.prompts_digest(),
                }
                for name, graph in installed().items()
            },
        }

    def settled_recipe(
        self, graph: Graph[Any], entries: Sequence[Entry], settled: Mapping[str, Record]
    ) -> Recipe:
        """What a collection's own part is made from now.

        Of what these documents have, and of the other parts of its own, by their graphs' names.
        """
        base = settled_base(graph, entries, settled)
        settings = self._settings
        told = graph.settings(self.knobs(graph), settings.offline)
        return settled_recipe(graph, told, self._built_with, base, offline=settings.offline)

    @property
    def _built_with(self) -> dict[str, object]:
        """The models that write into a graph, and how."""
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
        """The embedder, its calls counted unless they are free; or the one that its cache asks.

        In a `dry` run static vectors stand in for the model's.
        """
        settings = self._settings
        if settings.embedding_model == STATIC:
            return self._static
        if dry:
            from fabula.models.expected import ExpectedEmbedder

            name, batch = self.embedder.model, settings.embedding_batch
            stand_in = ExpectedEmbedder(name, batch, self._static, self._cache, self._address)
            return CountedEmbedder(stand_in, meter, "embeddings")
        paid = CountedEmbedder(self._paid, meter, "embeddings")
        if not (cached and self._cache):
            return paid
        return CachedEmbedder(paid, self._cache, self._address, self._purpose.stop)

    def stand_ins(self, texts: Sequence[str]) -> Vectors | None:
        """The vectors that stand in for the model's in a dry run; None where they are its own."""
        if self._settings.embedding_model == STATIC or not texts:
            return None
        return self._static.embed([text.strip() or "-" for text in texts]).vectors

    def models(self, meter: Meter, *, dry: bool = False) -> BuildModels:
        """What one part of a document is made with; `meter` counts what it asks.

        In a `dry` run stand-ins answer, so that it counts what models would be asked.
        """
        settings = self._settings

        def chat(role: Role, step: str) -> Chat:
            if dry:
                from fabula.models.expected import ExpectedChat

                expected = ExpectedChat(self._name(role), self._cache, self._address)
                return CountedChat(expected, meter, step, self._name(role))
            return self.chat(meter, step, role)

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
        """The chat model that answers from a context."""
        settings = self._settings
        from fabula.models.prompted import PromptedAnswerer

        chat = self.chat(meter, "answer")
        return PromptedAnswerer(chat, settings.answer_temperature, settings.answer_tokens)

    def chat(self, meter: Meter, step: str, role: Role = "model") -> Chat:
        """A chat model that is asked, within the budget, only for what is not cached, and counted.

        `step` is what its calls are counted to.
        """
        name = self._name(role)

        def open(stop: Stop) -> CountedChat:
            remote = self._remote_chat(role, replace(self._purpose, stop=stop))
            return CountedChat(BudgetedChat(remote, self._budgets), meter, step, name)

        if not self._cache:
            return open(self._purpose.stop)
        return CachedChat(open, self._cache, self._address, name, self._purpose.stop)

    def guide(self, meter: Meter) -> Guide:
        """What retrieval may ask, its calls counted to `meter`."""
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
        """Each role of a model, the model's name, and a call that asks it something small.

        The cache is not looked at: it would answer for a model that is gone.
        """
        settings = self._settings
        asked = self._static if settings.embedding_model == STATIC else self._remote
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)

        def ask(role: Role) -> Callable[[], object]:
            return lambda: said(self._remote_chat(role, self._purpose), word)

        return [
            ("model", settings.model, ask("model")),
            ("aspect model", self._name("aspect_model"), ask("aspect_model")),
            ("embedding model", settings.embedding_model, lambda: asked.embed(["yes"])),
        ]

    def limits(self) -> dict[str, float]:
        """What the endpoint's limiter has learned; empty as long as none was asked."""
        with self._opening:
            return self._opened.limits() if self._opened is not None else {}

    def close(self) -> None:
        """Ends the threads, and all waiting for the endpoint."""
        self.workers.close()
        self._askers.close()
        self.documents.close()
        with self._opening:
            if self._opened is not None:
                self._opened.close()
        if self._cache:
            self._cache.close()

    def _name(self, role: Role) -> str:
        """The model of a role; extraction has both roles or none."""
        settings = self._settings
        if role == "aspect_model" and settings.aspect_model and not settings.offline:
            return settings.aspect_model
        return settings.model

    def _remote_chat(self, role: Role, purpose: Purpose) -> Chat:
        from fabula.models.openai import OpenAIChat

        is_own = role == "aspect_model" and self._settings.aspect_model
        setting = "FABULA_ASPECT_MODEL" if is_own else "FABULA_MODEL"
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
        """Of the endpoint, as the cache knows it; it is not reached."""
        from fabula.models.address import checked_url

        return checked_url(self._settings.base_url)

    def _key(self) -> str | None:
        """Of the endpoint; the keyring is only asked by who calls one, as it may ask the user."""
        if self._settings.api_key:
            return self._settings.api_key.get_secret_value()
        if not self._settings.keyring:
            return None
        from fabula.models.keyring import read_key

        return read_key(self._address)

    @property
    def _endpoint(self) -> Endpoint:
        """One for all threads: two would have two limiters. (`cached_property` does not lock.)"""
        from fabula.models.endpoint import Endpoint
        from fabula.models.limiter import Limiter, Patience

        settings, whole = self._settings, self._whole
        with whole._opening:
            if whole._opened is None:
                whole._opened = Endpoint(
                    settings.base_url,
                    self._key(),
                    Limiter(settings.concurrency),
                    Patience(settings.timeout, settings.attempts),
                )
            return whole._opened
