"""The models of a dry run: placeholders, which are asked what models would be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabula.config.model_factory import BuildModels, ModelFactory
from fabula.models import Answerer, Chat, Embedder, Embeddings, Guide, TextKind
from fabula.models.batch_estimate import BatchEstimate
from fabula.models.counted import Meter
from fabula.models.guide import PromptedGuide
from fabula.models.offline import OfflineGuide
from fabula.models.parallel import Workers
from fabula.models.prices import Cost
from fabula.models.prompted import PromptedAnswerer
from fabula.models.roles import Role
from fabula.models.usage import Usage


@dataclass(frozen=True, slots=True)
class ExpectedModels:
    """Makes placeholders in the place of a question's models (`ask.protocols.QuestionModels`).

    Builds are answered by them as well (`fabula.build.driver.Rounds`).

    Replies that the response cache has are used; all others are as long as replies usually are. The
    calls of a model that only ranks (`rerank_model`) are not counted.

    Attributes:
        factory: The models of the question or the build.
        dimensions: Those of the collection's embeddings, for a question.
        estimate: Counts the rounds and batches that a build by batches would need.
    """

    factory: ModelFactory
    dimensions: int = 0
    estimate: BatchEstimate | None = None

    @property
    def offline(self) -> bool:
        """Whether there is no chat model."""
        return self.factory.offline

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer."""
        return self.factory.answer_tokens

    def window(self) -> int | None:
        """Return how many tokens the chat model takes; asking for the list of models is free."""
        return self.factory.window()

    def limit_window(self, tokens: int) -> None:
        """Do nothing: a placeholder refuses nothing."""

    @property
    def workers(self) -> Workers:
        """The threads of the models."""
        return self.factory.workers

    def table(self, name: str) -> Any:
        """Return the settings of the graph or mode of this name."""
        return self.factory.table(name)

    def cost(self, steps: Mapping[str, Usage]) -> Cost:
        """Return what the usage of steps costs, by the settings' prices."""
        return self.factory.cost(steps)

    def counted_embedder(self, meter: Meter) -> Embedder:
        """Return an embedder whose vectors have the collection's dimensions."""
        return _Widened(self.factory.placeholder_embedder(meter, self.estimate), self.dimensions)

    def guide(self, meter: Meter) -> Guide:
        """Return a guide that asks a placeholder."""
        ranker = _keep_order if self.factory.has_ranker else None
        if self.offline:
            return OfflineGuide(ranker)
        return PromptedGuide(self.chat(meter, "guide"), ranker)

    def models(self, meter: Meter) -> BuildModels:
        """Return placeholders of the models that modes and builds ask."""

        def chat(role: Role, step: str) -> Chat:
            return self.chat(meter, step, role)

        models = self.factory.models(meter)
        return replace(models, embedder=self.counted_embedder(meter), chat=chat)

    def chat(self, meter: Meter, step: str, role: Role = "model") -> Chat:
        """Return a placeholder of a chat model, its calls counted to this step."""
        return self.factory.placeholder_chat(meter, step, role, self.estimate)

    def answerer(self, meter: Meter) -> Answerer:
        """Return what writes the placeholder of an answer."""
        temperature, answer_tokens = self.factory.answer_limits
        return PromptedAnswerer(self.chat(meter, "answer"), temperature, answer_tokens)


@dataclass(frozen=True, slots=True)
class _Widened:
    """An embedder that repeats the numbers of free vectors, so that an index can be asked.

    What it finds is not what the paid vectors would find, but as many passages.
    """

    inner: Embedder
    dimensions: int

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def batch(self) -> int:
        return self.inner.batch

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        embeddings = self.inner.embed(texts, kind)
        if not self.dimensions or embeddings.vectors.shape[1] == self.dimensions:
            return embeddings
        shape = (len(texts), self.dimensions)
        repeats = -(-self.dimensions // embeddings.vectors.shape[1])
        wide = np.tile(embeddings.vectors, repeats)[:, : self.dimensions].reshape(shape)
        norms = np.linalg.norm(wide, axis=1, keepdims=True)
        return replace(embeddings, vectors=(wide / norms).astype(np.float32))


def _keep_order(question: str, texts: Sequence[str]) -> list[float]:
    del question
    return [-float(place) for place in range(len(texts))]
