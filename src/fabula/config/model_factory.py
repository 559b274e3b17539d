"""The models that the settings name, each as a stack of layers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fabula.config.embedding_space import find_prefixes
from fabula.config.opened_models import OpenedModels
from fabula.config.settings import STATIC, Settings
from fabula.errors import SettingsError
from fabula.models import Prompt, TextKind
from fabula.models.budget import Budget, Budgets
from fabula.models.counted import EMBEDDINGS, CountedChat, CountedEmbedder, Meter, UsageCounter
from fabula.models.offline import OfflineGuide
from fabula.models.prefixes import PrefixingEmbedder
from fabula.models.purpose import BUILD, Purpose
from fabula.models.roles import Role
from fabula.models.stop import Stop

if TYPE_CHECKING:
    from fabula.models import Chat, Embedder, Guide
    from fabula.models.batch_options import BatchOptions
    from fabula.models.batch_rounds import BatchRounds
    from fabula.models.cache import ReplyCache
    from fabula.models.endpoint.endpoint import Endpoint
    from fabula.models.parallel import Workers
    from fabula.models.placeholders import DryRun
    from fabula.models.prices import Cost
    from fabula.models.prompted import PromptedAnswerer
    from fabula.models.usage import Usage


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

    A model is what asks it, with layers around it. A call goes through them from the first to the
    last, and its reply the other way:

    ============  ==========================================  =====================================
    layer         of a chat model (`chat`)                    of an embedder (`counted_embedder`)
    ============  ==========================================  =====================================
    prefixed                                                  `PrefixingEmbedder`
    split                                                     `BatchingEmbedder`
    cached        `CachedChat`                                `CachedEmbedder`
    counted       `CountedChat`, within the budgets           `CountedEmbedder`
    asked         `OpenAIChat`, by `Endpoint`: limited,       `OpenAIEmbedder`, `LocalEmbedder`,
                  retried, in the form that is accepted       or one of another package
    ============  ==========================================  =====================================

    In a dry run placeholders are asked. A run by batches asks its `batch_rounds` before these.

    Each is made when it is first used. Calls count as calls of a build; those of a question go
    through a `view`. Safe to share between threads.

    Args:
        settings: They name the models, the endpoint and the limits.
        budget: What may be spent, in place of the settings' limits; several may share one.
    """

    def __init__(self, settings: Settings, budget: Budget | None = None) -> None:
        self.settings = settings
        """The settings that the models are named by."""
        self.budgets = Budgets((budget or Budget(settings.max_calls, settings.max_tokens),))
        """What may be spent."""
        self.counter: UsageCounter | None = None
        """Counts all calls that builds make with this factory, beside the builds' own meters."""
        self._opened = OpenedModels(settings)
        self._purpose = BUILD
        self._dry_run: DryRun | None = None

    def view(
        self,
        *,
        urgent: bool = False,
        stop: Stop | None = None,
        budget: Budget | None = None,
        counter: UsageCounter | None = None,
        settings: Settings | None = None,
        dry_run: DryRun | None = None,
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
            dry_run: No model is asked: placeholders reply for them.
        """
        view = copy.copy(self)
        view.settings = settings or self.settings
        view._purpose = Purpose(urgent or self._purpose.urgent, stop or self._purpose.stop)
        if budget is not None:
            view.budgets = Budgets((budget, *self.budgets.each))
        view.counter = counter or self.counter
        view._dry_run = dry_run or self._dry_run
        return view

    def close(self) -> None:
        """End the threads, and all waiting for the endpoint."""
        self._opened.close()

    # The layers

    def chat(self, meter: UsageCounter, step: str, role: Role = "model") -> Chat:
        """Return a chat model, within the budget; it is called only for what is not cached.

        Args:
            meter: Counts the calls.
            step: The name that its calls are counted under.
            role: Which of the settings' chat models.
        """
        from fabula.models.cache import ReadOnlyCache
        from fabula.models.cached import CachedChat

        name, cache = self._name(role), self.cache

        def count(stop: Stop) -> CountedChat:
            asked = self._ask_chat(role, replace(self._purpose, stop=stop))
            return CountedChat(asked, meter, step, name, self._paid_from)

        if cache is None or (self._dry_run and not self._dry_run.saves):
            cache = ReadOnlyCache(cache)
        return CachedChat(count, cache, self._address, name, self.stop)

    def counted_embedder(self, meter: UsageCounter, *, cached: bool = True) -> Embedder:
        """Return the embedder; its calls are counted, unless they are free.

        Args:
            meter: Counts the calls.
            cached: Take vectors from the response cache.
        """
        if self.settings.embedding_model == STATIC:
            return self._opened.static
        embedder = self._counting_embedder(meter, cached=cached)
        return PrefixingEmbedder(embedder, find_prefixes(self.settings))

    def _counting_embedder(self, meter: UsageCounter, *, cached: bool) -> Embedder:
        """Return the embedder that gets texts with their prefixes."""
        asked = self._ask_embedder()
        if getattr(asked, "is_free", False):
            return asked
        counted = CountedEmbedder(asked, meter, EMBEDDINGS, self._paid_from)
        if self._dry_run and not self._dry_run.saves:
            return counted
        embedder: Embedder = counted
        is_remote = self.settings.embeds_by_endpoint
        if cached and self.cache:
            from fabula.models.cached import CachedEmbedder

            key_kind = self._key_kind if is_remote else getattr(asked, "key_kind", None)
            address = self._address if is_remote else ""
            embedder = CachedEmbedder(counted, self.cache, address, self.stop, key_kind)
        if not is_remote:
            return embedder
        from fabula.models.batching import BatchingEmbedder

        return BatchingEmbedder(embedder, self._endpoint.behaviour)

    def _ask_chat(self, role: Role, purpose: Purpose) -> Chat:
        """Return what asks a chat model, each time anew."""
        name = self._name(role)
        if self._dry_run:
            from fabula.models.placeholders import PlaceholderChat

            return PlaceholderChat()
        from fabula.models.endpoint.openai import OpenAIChat

        return OpenAIChat(self._endpoint, name, self._setting(role), purpose)

    def _ask_embedder(self) -> Embedder:
        """Return what asks the embedding model, each time anew: of an endpoint or not."""
        settings = self.settings
        is_remote = settings.embeds_by_endpoint
        name, batch = settings.embedding_model, settings.embedding_batch
        local = None if is_remote else self._opened.local_embedder(name)
        if self._dry_run:
            from fabula.models.placeholders import PlaceholderEmbedder

            address = self._address if is_remote else ""
            is_free = getattr(local, "is_free", False)
            static, cache = self._opened.static, self.cache
            return PlaceholderEmbedder(
                name, batch, static, cache, address, self._dry_run, is_free=is_free
            )
        if local is not None:
            return local
        from fabula.models.endpoint.openai import OpenAIEmbedder

        return OpenAIEmbedder(self._endpoint, name, batch, self._purpose)

    def _key_kind(self, kind: TextKind) -> str:
        """What the cache's key of a text has of its kind, for a model at the endpoint."""
        return self._endpoint.parameters(self.settings.embedding_model).key_kind(kind)

    @property
    def cache(self) -> ReplyCache | None:
        """The cache of replies, opened when a call first needs it; None if there is to be none."""
        return self._opened.cache

    @property
    def _endpoint(self) -> Endpoint:
        return self._opened.endpoint

    @property
    def _paid_from(self) -> Budgets:
        return Budgets() if self._dry_run else self.budgets

    @property
    def _address(self) -> str:
        """The endpoint's address, which is a part of the cache's keys."""
        from fabula.models.endpoint.address import normalize_url, redact_url

        # Without secrets, so that a new password makes no reply unknown.
        return redact_url(normalize_url(self.settings.base_url))

    def _name(self, role: Role) -> str:
        """Return the name of a role's model; offline, both roles have the same."""
        return self.settings.judge if role == "aspect_model" else self.settings.model

    def _setting(self, role: Role) -> str:
        """Return the variable that a message names where the endpoint does not know the model."""
        is_separate = role == "aspect_model" and self.settings.aspect_model
        return "FABULA_ASPECT_MODEL" if is_separate else "FABULA_MODEL"

    # What builds and questions are given

    def models(self, meter: Meter) -> BuildModels:
        """Return the models with which one part of a document is made; `meter` counts the calls."""
        settings = self.settings

        def chat(role: Role, step: str) -> Chat:
            return self.chat(meter, step, role)

        return BuildModels(
            meter=meter,
            embedder=self.counted_embedder(meter),
            static=self._opened.static,
            offline=settings.offline,
            temperature=settings.temperature,
            chat=chat,
            model=self._name,
        )

    def batch_rounds(self, options: BatchOptions) -> BatchRounds:
        """Return what sends the calls of builds by batches, at the price of batches.

        Args:
            options: Whether a run waits for its batches, and what is called with their state.

        Raises:
            SettingsError: There is no chat model to ask, no cache, or the endpoint's URL is one
                that has no files.
        """
        from fabula.models.batch_rounds import BatchRounds
        from fabula.models.batched import BatchCalls, Lines

        settings = self.settings
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
        embedder = settings.embedding_model if settings.embeds_by_endpoint else ""
        prefix = find_prefixes(settings).passage
        calls = BatchCalls(
            self._opened.batches,
            self._endpoint,
            self.cache,
            Lines(self._address, embedder, prefix, self._key_kind),
            self._setting,
            self.budgets,
            self.counter,
            self.stop,
            options.owner,
        )
        minimum = settings.batch_min_tokens if settings.embeds_by_endpoint else 0
        return BatchRounds(calls, minimum, settings.batch_min_calls, options)

    @property
    def embedder(self) -> Embedder:
        """The embedder of passages and questions, within the budget and cached, not counted."""
        return self.counted_embedder(Meter())

    def answerer(self, meter: Meter) -> PromptedAnswerer:
        """Return what writes an answer from a context."""
        from fabula.models.prompted import PromptedAnswerer

        settings, chat = self.settings, self.chat(meter, "answer")
        return PromptedAnswerer(chat, settings.answer_temperature, settings.answer_tokens)

    def guide(self, meter: Meter) -> Guide:
        """Return what rewrites questions and ranks passages; `meter` counts its calls."""
        ranker = self._ranker(meter)
        if self.settings.offline:
            return OfflineGuide(ranker)
        from fabula.models.guide import PromptedGuide

        return PromptedGuide(self.chat(meter, "guide"), ranker)

    def _ranker(self, meter: Meter) -> Callable[[str, Sequence[str]], list[float]] | None:
        """Return what ranks passages, if the settings name a model that only ranks."""
        settings = self.settings
        if not settings.rerank_model:
            return None
        if self._dry_run:
            from fabula.models.placeholders import keep_order

            return keep_order
        from fabula.models.providers import LOCAL, split_provider

        provider, name = split_provider(settings.rerank_model)
        if provider == LOCAL:
            from fabula.models.local.ranker import LocalRanker

            return LocalRanker(name, settings.models_folder).rank
        if settings.offline and not settings.has_endpoint:
            return None
        from fabula.models.endpoint.rerank import EndpointRanker

        model, budgets = settings.rerank_model, self.budgets
        return EndpointRanker(self._endpoint, model, budgets, meter, self._purpose).rank

    def roles(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return each role, the name of its model, and a function that makes it a small call.

        The cache is not used: it would answer for a model that is gone.
        """
        settings = self.settings
        word = Prompt("You reply with one word.", "Say: yes", max_tokens=16, temperature=0)

        def embed() -> object:
            # Opened here: one whose package is missing is reported, too.
            is_static = settings.embedding_model == STATIC
            embedder = self._opened.static if is_static else self._ask_embedder()
            return embedder.embed(["yes"], "passage")

        def ask(role: Role) -> Callable[[], object]:
            # A model that goes on after the word is there all the same.
            from fabula.models.replies import complete

            return lambda: complete(self._ask_chat(role, self._purpose), word, allow_cut=True)

        return [
            ("model", settings.model, ask("model")),
            ("aspect model", self._name("aspect_model"), ask("aspect_model")),
            ("embedding model", settings.embedding_model, embed),
        ]

    # What is known of the models

    @property
    def stop(self) -> Stop:
        """Ends the calls made through this view."""
        return self._purpose.stop

    @property
    def workers(self) -> Workers:
        """The threads in which models are asked; those of questions are others than of builds."""
        opened = self._opened
        return opened.question_workers if self._purpose.urgent else opened.build_workers

    @property
    def document_workers(self) -> Workers:
        """The threads that build documents."""
        return self._opened.document_workers

    @property
    def static(self) -> Embedder:
        """The embedder of static word vectors, which costs nothing."""
        return self._opened.static

    @property
    def offline(self) -> bool:
        """Whether there is no chat model."""
        return self.settings.offline

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        return self.settings.answer_tokens

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name."""
        return self.settings.table(name)

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Return what the usage of steps costs, by the settings' prices."""
        return self.settings.cost(steps)

    def window(self) -> int | None:
        """Return how many tokens the chat model takes in a call; None if nobody knows.

        It is what the settings say, what its maker says, or what its server says; less if the model
        has refused more, or read less than it was sent.
        """
        settings, opened = self.settings, self._opened.opened_endpoint
        if settings.offline:
            return None
        from fabula.models.windows import known_window

        window = settings.model_window or known_window(settings.model)
        if window is None:
            return self._endpoint.window(settings.model)
        learned = opened.behaviour.of(settings.model).window if opened is not None else None
        return min(filter(None, (window, learned)))

    def limit_window(self, tokens: int) -> None:
        """Remember that the chat model takes no more than `tokens` in a call."""
        self._endpoint.behaviour.limit_window(self.settings.model, tokens)

    def limits(self) -> dict[str, float]:
        """Return what the endpoint's limiter has learned; empty before the first call."""
        opened = self._opened.opened_endpoint
        return opened.limits() if opened is not None else {}
