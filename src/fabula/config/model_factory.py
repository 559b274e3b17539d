"""The models as the settings name them, and what the parts of a graph are made from with them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from fabula.config.settings import STATIC, Settings
from fabula.errors import SettingsError, SpaceError
from fabula.graph import TEXT, Record
from fabula.graph.decisions import Decision
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
from fabula.models import Prompt, TextKind
from fabula.models.budget import Budget, Budgets
from fabula.models.counted import CountedChat, CountedEmbedder, Meter, UsageCounter
from fabula.models.offline import OfflineGuide, StaticEmbedder
from fabula.models.parallel import Workers
from fabula.models.prefixes import (
    NO_PREFIXES,
    Prefixes,
    PrefixingEmbedder,
    known_prefixes,
    prefixes_of_space,
    space_name,
    split_space_name,
)
from fabula.models.purpose import BUILD, Purpose
from fabula.models.roles import Role
from fabula.models.stop import Stop
from fabula.text.document import Vectors

if TYPE_CHECKING:
    from fabula.models import Answerer, Chat, Embedder, Guide
    from fabula.models.batch_estimate import BatchEstimate
    from fabula.models.batch_options import BatchOptions
    from fabula.models.batch_rounds import BatchRounds
    from fabula.models.batch_store import BatchStore
    from fabula.models.batched import BatchCalls
    from fabula.models.cache import ReplyCache, ResponseCache
    from fabula.models.endpoint.endpoint import Endpoint
    from fabula.models.prices import Cost
    from fabula.models.usage import Usage

OFFLINE_THREADS = 1
"""Extraction and static vectors compute and do not wait: more threads would only take turns."""
MAX_DOCUMENTS = 4
"""Documents that are built at once. While the last summaries of one document wait for each other,
the calls of the next ones fill the gaps."""


@dataclass(frozen=True, slots=True)
class BuildModels:
    """The models with which one part of one document is made.

    What a build knows of them is `fabula.models.roles.Models`.
    """

    meter: Meter
    embedder: Embedder
    static: Embedder
    offline: bool
    temperature: float
    chat: Callable[[Role, str], Chat]
    model: Callable[[Role], str]

    @property
    def batch(self) -> int:
        """How many texts one call embeds at most."""
        return self.embedder.batch


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
        remote = settings.uses_endpoint
        self.workers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        # Questions have threads of their own: behind a build, they would wait for all its calls.
        self._askers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        self.document_workers = Workers(MAX_DOCUMENTS if remote else OFFLINE_THREADS)
        self._opening = threading.Lock()
        self._opened: Endpoint | None = None
        self._static = StaticEmbedder()
        self._opened_embedders: dict[str, Embedder] = {}
        """The embedders that are no endpoint's, by their names; views share them."""
        self._budgets = Budgets((budget or Budget(settings.max_calls, settings.max_tokens),))
        self._opening_cache = threading.Lock()
        self._opened_cache: ResponseCache | None = None
        self._opened_batches: BatchStore | None = None
        self._purpose = BUILD
        self.counter: UsageCounter | None = None
        """Counts all calls that builds make with this factory, beside the builds' own meters."""
        self._whole = self
        """The factory that this is a view of, or itself; the endpoint is opened there, once."""

    @property
    def cache(self) -> ReplyCache | None:
        """The cache of replies, opened when a call first needs it; None if there is to be none."""
        whole = self._whole
        if not whole._settings.cache:
            return None
        with whole._opening_cache:
            if whole._opened_cache is None:
                # An offline question needs neither the cache nor SQLite.
                from fabula.models.cache import ResponseCache

                whole._opened_cache = ResponseCache(
                    whole._settings.cache_folder, whole._settings.cache_max_gb * 1e9
                )
            return whole._opened_cache

    def view(
        self,
        *,
        urgent: bool = False,
        stop: Stop | None = None,
        budget: Budget | None = None,
        counter: UsageCounter | None = None,
        settings: Settings | None = None,
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
            settings: Settings in the place of the factory's. They name another embedder at the same
                endpoint or on this machine, and are otherwise the same.
        """
        view = copy.copy(self)
        if settings is not None:
            view._settings = settings
        view._purpose = Purpose(urgent or self._purpose.urgent, stop or self._purpose.stop)
        if view._purpose.urgent:
            view.workers = self._askers
        if budget is not None:
            view._budgets = Budgets((budget, *self._budgets.each))
        view.counter = counter or self.counter
        return view

    def batch_rounds(self, options: BatchOptions) -> BatchRounds:
        """Return what sends the calls of builds by batches, at the price of batches.

        Args:
            options: Whether a run waits for its batches, and what is called with their state.

        Raises:
            SettingsError: There is no chat model to ask, no cache, or the endpoint's URL is one
                that has no files.
        """
        from fabula.models.batch_rounds import BatchRounds
        from fabula.models.batch_store import BatchStore
        from fabula.models.batched import BatchCalls

        settings = self._settings
        if settings.offline and not settings.embeds_by_endpoint:
            raise SettingsError("Without a model at an endpoint, there is nothing to batch.")
        if self.cache is None:
            raise SettingsError(
                "Batches need the response cache, which is turned off.",
                advice="Turn it on: FABULA_CACHE=true.",
            )
        if self._endpoint.batches.has_deployments:
            raise SettingsError(
                "An address of Azure with /deployments/ has no batches: use the one that ends with "
                "/openai/v1."
            )
        whole = self._whole
        with whole._opening_cache:
            if whole._opened_batches is None:
                whole._opened_batches = BatchStore(settings.cache_folder)
                whole._opened_batches.sweep()
            store = whole._opened_batches
        calls = BatchCalls(
            store,
            self._endpoint,
            self.cache,
            self._address,
            self._budgets,
            self.counter,
            self._purpose.stop,
            owner=options.owner,
        )

        minimum = settings.batch_min_tokens if settings.embeds_by_endpoint else 0
        return BatchRounds(calls, minimum, settings.batch_min_calls, options)

    @property
    def settings(self) -> Settings:
        """The settings that the models are named by."""
        return self._settings

    @property
    def stop(self) -> Stop:
        """Ends the calls made through this view."""
        return self._purpose.stop

    @property
    def offline(self) -> bool:
        """Whether there is no chat model."""
        return self._settings.offline

    @property
    def space_name(self) -> str:
        """The name of the embedding space that texts are embedded in, as collections record it."""
        return space_name(self._settings.embedding_model, self.prefixes.passage)

    @property
    def prefixes(self) -> Prefixes:
        """What is put before texts to be embedded: the settings', or else the model's own."""
        settings = self._settings
        if settings.embedding_model == STATIC:
            return NO_PREFIXES
        known = known_prefixes(settings.embedding_model)
        query, passage = settings.embedding_query_prefix, settings.embedding_passage_prefix
        if query is None and passage == "" and known.passage:
            # As in `prefixes_of_space`: bare passages, bare questions.
            return NO_PREFIXES
        return Prefixes(
            known.query if query is None else query,
            known.passage if passage is None else passage,
        )

    def for_questions(self, space: str, collection: str) -> ModelFactory:
        """Return a factory whose embedder makes vectors of a collection's embedding space.

        A question is compared with the collection's vectors, so the model that made them embeds it,
        whatever model the settings name.

        Args:
            space: The name of the space, as the collection records it.
            collection: The name of the collection, for the error.

        Raises:
            SpaceError: Its model needs an endpoint, and none is set.
            SettingsError: Its model needs a package that is not installed.
        """
        if space == self.space_name:
            return self
        model, _ = split_space_name(space)
        settings = self._settings.model_copy(update={"embedding_model": model})
        if settings.embeds_by_endpoint and not self._settings.has_endpoint:
            raise SpaceError(
                f"The collection was embedded by {model}, and only that model can embed questions "
                "to it. No endpoint is set that has it.",
                advice="Set OPENAI_BASE_URL to the server that has it, or OPENAI_API_KEY; or run "
                f"`fabula reembed --collection {collection}` to embed the collection by "
                f"{self._settings.embedding_model}.",
            )
        from fabula.models.providers import LOCAL, split_provider

        if split_provider(model)[0] == LOCAL:
            from fabula.models.local.loading import require_fastembed

            require_fastembed(split_provider(model)[1])
        is_own = model == self._settings.embedding_model
        prefixes = prefixes_of_space(space, self.prefixes if is_own else known_prefixes(model))
        if is_own and self._settings.embedding_query_prefix is not None:
            prefixes = replace(prefixes, query=self._settings.embedding_query_prefix)
        return self._embedding_by(model, prefixes)

    def for_building(self, space: str) -> ModelFactory:
        """Return a factory that adds to a collection's embedding space, as far as it is the same.

        A collection whose passages were embedded without the prefix that their model wants, or with
        another one, goes on so, unless the settings name a prefix. One of another model is none of
        this factory's: the caller has to compare `space_name`.
        """
        settings = self._settings
        model, passage = split_space_name(space)
        is_same = model == settings.embedding_model and space != self.space_name
        if not is_same or settings.embedding_passage_prefix is not None:
            return self
        return self._embedding_by(model, replace(self.prefixes, passage=passage))

    def _embedding_by(self, model: str, prefixes: Prefixes) -> ModelFactory:
        """A view that embeds by a model with these prefixes."""
        update = {
            "embedding_model": model,
            "embedding_query_prefix": prefixes.query,
            "embedding_passage_prefix": prefixes.passage,
        }
        return self.view(settings=self._settings.model_copy(update=update))

    @property
    def is_static(self) -> bool:
        """Whether texts are embedded by static vectors, which need no endpoint."""
        return self._settings.embedding_model == STATIC

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        return self._settings.answer_tokens

    def window(self, *, ask: bool = True) -> int | None:
        """Return how many tokens the chat model takes in a call; None if nobody knows.

        It is what the settings say, what its maker says, or what its server says; less if the model
        has refused more, or read less than it was sent.

        Args:
            ask: Whether the server may be asked.
        """
        settings = self._settings
        if settings.offline:
            return None
        from fabula.models.windows import known_window

        window = settings.model_window or known_window(settings.model)
        if window is None and ask:
            return self._endpoint.window(settings.model)
        with self._whole._opening:
            opened = self._whole._opened
        learned = opened.behaviour.of(settings.model).window if opened is not None else None
        return min(filter(None, (window, learned)), default=None)

    def limit_window(self, tokens: int) -> None:
        """Remember that the chat model takes no more than `tokens` in a call."""
        self._endpoint.behaviour.limit_window(self._settings.model, tokens)

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name."""
        return self._settings.table(name)

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Return what the usage of steps costs, by the settings' prices."""
        return self._settings.cost(steps)

    @property
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
        decisions: Mapping[str, Sequence[Decision]] | None = None,
        layers: Mapping[str, str] | None = None,
    ) -> dict[str, Recipe]:
        """Return what the parts of a document would be made from now, by the graphs' names.

        Args:
            sha256: The digest of the document's text.
            graphs: The graphs whose parts are asked for; those that they rest on are added.
            base: What the document's chunks were made from, if they are to stay.
            decisions: What people decided, as far as each part follows it, by the graphs' names.
            layers: The digests of the document's layers of annotations, by name.
        """
        settings = self._settings
        text = text_recipe(sha256, settings.chunk_tokens, self.space_name)
        recipes = {TEXT: dict(base) if base else text}
        # A document may lack a graph that another one of its graphs rests on, so bases are added.
        for graph in with_bases(installed(), [graph.name for graph in graphs]):
            offline = settings.offline
            options = graph.settings(self.graph_options(graph), offline)
            recipes[graph.name] = recipe(
                graph,
                options,
                self._built_with,
                recipes,
                offline=offline,
                decisions=(decisions or {}).get(graph.name, ()),
                layers=layers,
            )
        return recipes

    def build_recipe(self) -> Recipe:
        """Return all that decides what a build makes of any text: chunks, models and graphs.

        Settings that decide only how fast, from which endpoint and with whose key are left out.
        """
        settings = self._settings
        offline = settings.offline
        text = text_recipe("", settings.chunk_tokens, self.space_name)
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
        self,
        graph: Graph[Any],
        entries: Sequence[Entry],
        collection_parts: Mapping[str, Record],
        decisions: Sequence[Decision] = (),
    ) -> Recipe:
        """Return what a collection's own graph would be made from now.

        Args:
            graph: The graph.
            entries: The documents of the collection.
            collection_parts: What the collection's own parts were made from, by graph.
            decisions: What people decided, as far as the graph follows it.
        """
        base = collection_base(graph, entries, collection_parts)
        settings = self._settings
        options = graph.settings(self.graph_options(graph), settings.offline)
        return collection_recipe(
            graph,
            options,
            self._built_with,
            base,
            offline=settings.offline,
            decisions=decisions,
        )

    @property
    def _built_with(self) -> dict[str, object]:
        """The models that write into a graph, as recipes record them."""
        settings = self._settings
        models: dict[str, object] = {
            "embedding_model": self.space_name,
            "model": settings.model,
        }
        if not settings.offline:
            models["aspect_model"] = self._name("aspect_model")
            models["temperature"] = settings.temperature
        return models

    def counted_embedder(self, meter: Meter, *, cached: bool = True) -> Embedder:
        """Return the embedder; its calls are counted, unless they are free.

        Args:
            meter: Counts the calls.
            cached: Take vectors from the response cache.
        """
        if self.is_static:
            return self._static
        return PrefixingEmbedder(self._counting_embedder(meter, cached=cached), self.prefixes)

    def _counting_embedder(self, meter: UsageCounter, *, cached: bool) -> Embedder:
        """Return the embedder that gets texts with their prefixes."""
        bare = self._bare_embedder
        is_remote = self._settings.embeds_by_endpoint
        if getattr(bare, "is_free", False):
            return bare
        address = self._address if is_remote else ""
        counted = CountedEmbedder(bare, meter, "embeddings", self._budgets)
        embedder: Embedder = counted
        if cached and self.cache:
            from fabula.models.cached import CachedEmbedder

            key_kind = self._key_kind if is_remote else getattr(bare, "key_kind", None)
            embedder = CachedEmbedder(counted, self.cache, address, self._purpose.stop, key_kind)
        if not is_remote:
            return embedder
        from fabula.models.batching import BatchingEmbedder

        return BatchingEmbedder(embedder, self._endpoint.behaviour)

    def _key_kind(self, kind: TextKind) -> str:
        """What the cache's key of a text has of its kind, for a model at the endpoint."""
        return self._endpoint.parameters(self._settings.embedding_model).key_kind(kind)

    def placeholder_vectors(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vectors that stand in for the model's in a dry run.

        None if the embedding model is the static one, whose vectors need no placeholder.
        """
        if self._settings.embedding_model == STATIC or not texts:
            return None
        return self._static.embed([text.strip() or "-" for text in texts], "passage").vectors

    def placeholder_embedder(self, meter: Meter, estimate: BatchEstimate | None = None) -> Embedder:
        """Return an embedder for dry runs: static vectors stand in for the model's."""
        from fabula.models.placeholders import PlaceholderEmbedder

        settings = self._settings
        if self.is_static:
            return self._static
        is_remote = settings.embeds_by_endpoint
        embedder: Embedder = PlaceholderEmbedder(
            settings.embedding_model,
            settings.embedding_batch,
            self._static,
            self.cache,
            self._address if is_remote else "",
            estimate if is_remote else None,
        )
        if not getattr(self._bare_embedder, "is_free", False):
            embedder = CountedEmbedder(embedder, meter, "embeddings")
        return PrefixingEmbedder(embedder, self.prefixes)

    def models(self, meter: Meter) -> BuildModels:
        """Return the models with which one part of a document is made; `meter` counts the calls."""
        settings = self._settings

        def chat(role: Role, step: str) -> Chat:
            return self.chat(meter, step, role)

        return BuildModels(
            meter=meter,
            embedder=self.counted_embedder(meter),
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

    def chat(self, meter: UsageCounter, step: str, role: Role = "model") -> Chat:
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

        from fabula.models.cache import NoCache
        from fabula.models.cached import CachedChat

        cache = self.cache or NoCache()
        return CachedChat(open, cache, self._address, name, self._purpose.stop)

    def placeholder_chat(
        self,
        meter: Meter,
        step: str,
        role: Role = "model",
        estimate: BatchEstimate | None = None,
    ) -> Chat:
        """Return a chat for dry runs: cached replies, otherwise the placeholders of prompts."""
        from fabula.models.placeholders import PlaceholderChat

        name = self._name(role)
        chat = PlaceholderChat(name, self.cache, self._address, estimate)
        return CountedChat(chat, meter, step, name)

    def batched_models(self, calls: BatchCalls, meter: Meter) -> BuildModels:
        """Return the models that answer one part of a document from batches."""
        from fabula.models.batched import BatchedChat, BatchedEmbedder, DirectCounter

        settings, models = self._settings, self.models(meter)
        counter = DirectCounter(meter, self.counter)

        def chat(role: Role, step: str) -> Chat:
            direct = self.chat(counter, step, role)
            return BatchedChat(calls, meter, step, self._name(role), self._setting(role), direct)

        if settings.embeds_by_endpoint:
            name, batch = settings.embedding_model, settings.embedding_batch
            direct = self._counting_embedder(counter, cached=True)
            embedder = BatchedEmbedder(calls, meter, "embeddings", name, batch, direct)
            models = replace(models, embedder=PrefixingEmbedder(embedder, self.prefixes))
        return replace(models, chat=chat)

    @property
    def has_ranker(self) -> bool:
        """Whether a model that only ranks is asked to rank passages, and not the chat model."""
        return bool(self._settings.rerank_model)

    @property
    def answer_limits(self) -> tuple[float, int]:
        """The temperature of an answer, and its most tokens."""
        return self._settings.answer_temperature, self._settings.answer_tokens

    def guide(self, meter: Meter) -> Guide:
        """Return what rewrites questions and ranks passages; `meter` counts its calls."""
        settings = self._settings
        ranker = self._ranker(meter)
        if settings.offline:
            return OfflineGuide(ranker)
        from fabula.models.guide import PromptedGuide

        return PromptedGuide(self.chat(meter, "guide"), ranker)

    def _ranker(self, meter: Meter) -> Callable[[str, Sequence[str]], list[float]] | None:
        """Return what ranks passages, if the settings name a model that only ranks."""
        model = self._settings.rerank_model
        if not model:
            return None
        from fabula.models.providers import LOCAL, split_provider

        provider, name = split_provider(model)
        if provider == LOCAL:
            from fabula.models.local.ranker import LocalRanker

            return LocalRanker(name, self._settings.models_folder).rank
        if self._settings.offline and not self._settings.has_endpoint:
            return None
        from fabula.models.endpoint.rerank import EndpointRanker

        return EndpointRanker(self._endpoint, model, self._budgets, meter, self._purpose).rank

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return each role, the name of its model, and a function that makes it a small call.

        The cache is not used: it would answer for a model that is gone.
        """
        settings = self._settings
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)

        def embed() -> object:
            # Opened here: one whose package is missing is reported, too.
            embedder = self._static if self.is_static else self._bare_embedder
            return embedder.embed(["yes"], "passage")

        def ask(role: Role) -> Callable[[], object]:
            # A model that goes on after the word is there all the same.
            from fabula.models.replies import complete

            return lambda: complete(self._remote_chat(role, self._purpose), word, allow_cut=True)

        return [
            ("model", settings.model, ask("model")),
            ("aspect model", self._name("aspect_model"), ask("aspect_model")),
            (
                "embedding model",
                settings.embedding_model,
                embed,
            ),
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
        if self._opened_cache:
            self._opened_cache.close()
        if self._opened_batches:
            self._opened_batches.close()

    def _name(self, role: Role) -> str:
        """Return the name of a role's model; offline, both roles have the same."""
        return self._settings.judge if role == "aspect_model" else self._settings.model

    def _remote_chat(self, role: Role, purpose: Purpose) -> Chat:
        from fabula.models.endpoint.openai import OpenAIChat

        name, setting = self._name(role), self._setting(role)
        return OpenAIChat(self._endpoint, name, setting, purpose)

    def _setting(self, role: Role) -> str:
        """Return the variable that a message names where the endpoint does not know the model."""
        is_separate = role == "aspect_model" and self._settings.aspect_model
        return "FABULA_ASPECT_MODEL" if is_separate else "FABULA_MODEL"

    @property
    def _bare_embedder(self) -> Embedder:
        """The embedder itself, of an endpoint or not, without prefixes, cache and counts."""
        settings = self._settings
        if not settings.embeds_by_endpoint:
            from fabula.models.providers import open_embedder

            name, opened = settings.embedding_model, self._opened_embedders
            if name not in opened:
                # `setdefault`: of two that threads opened at once, all use the first.
                opened.setdefault(name, open_embedder(name, settings.models_folder))
            return opened[name]
        from fabula.models.endpoint.openai import OpenAIEmbedder

        return OpenAIEmbedder(
            self._endpoint, settings.embedding_model, settings.embedding_batch, self._purpose
        )

    @property
    def _address(self) -> str:
        """Return the endpoint's address, which is a part of the cache's keys."""
        from fabula.models.endpoint.address import normalize_url, redact_url

        # Without secrets, so that a new password makes no reply unknown.
        return redact_url(normalize_url(self._settings.base_url))

    def worker_settings(self) -> Settings:
        """Return the settings with which another process makes parts as this factory would.

        This factory answers what they want of an endpoint: so they have no address and no key of
        it, no budget and no cache, and nothing of Neo4j.
        """
        update: dict[str, Any] = {
            "neo4j_uri": None,
            "neo4j_username": "neo4j",
            "neo4j_password": SecretStr(""),
            "collections": {},
            "base_url": None,
            "api_key": None,
            "keyring": False,
            "cache": False,
            "max_calls": None,
            "max_tokens": None,
        }
        return self._settings.model_copy(update=update)

    @property
    def _endpoint(self) -> Endpoint:
        """The endpoint, one for all threads: two would have two limiters."""
        from fabula.models.endpoint.endpoint import Endpoint
        from fabula.models.limiter import Limiter, RetryPolicy

        settings, whole = self._settings, self._whole
        with whole._opening:  # `cached_property` would not lock
            if whole._opened is None:
                whole._opened = Endpoint(
                    settings.base_url,
                    settings.endpoint_key(),
                    Limiter(settings.concurrency),
                    RetryPolicy(settings.timeout, settings.attempts),
                    whole.cache,
                )
            return whole._opened
