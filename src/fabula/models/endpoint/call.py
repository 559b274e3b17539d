"""One call of a model at an endpoint as one value, and the protocol of what answers it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

from fabula.models.endpoint.errors import NamedModel, Tries
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.models.endpoint.parameters import Parameters
from fabula.models.endpoint.payload import Json
from fabula.models.purpose import BUILD, Purpose

Body = Callable[[Parameters], Json]
"""Makes a request's body with the parameters that the model accepts."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call as its caller wants it; the endpoint decides when it starts and how often it is sent.

    Attributes:
        path: The path below the endpoint's URL, as /embeddings.
        role: The model, and the setting that names it.
        body: Makes the request's body. It is called again where the endpoint refuses a parameter.
        tries: Counts the failed tries. The same object may be given to several calls, which then
            have the tries of one.
        purpose: What the call is for; its stop ends all waiting.
    """

    path: str
    role: NamedModel
    body: Body
    tries: Tries = field(default_factory=Tries)
    purpose: Purpose = BUILD


class CallsModels(Protocol):
    """What a chat or an embedder calls: an endpoint, or what answers for it from batches."""

    @property
    def url(self) -> str:
        """The endpoint's URL without secrets."""
        ...

    @property
    def behaviour(self) -> LearnedBehaviour:
        """What was learned of the models."""
        ...

    def ask(self, call: ModelCall) -> Json:
        """Return the answer; see `Endpoint.ask`."""
        ...

    def events(self, call: ModelCall) -> Generator[Json]:
        """Yield the events of a streamed answer; see `Endpoint.events`."""
        ...

    def allow_thinking(self, role: NamedModel, used: Parameters) -> bool:
        """Give a thinking model more tokens; see `LearnedBehaviour.allow_thinking`."""
        ...
