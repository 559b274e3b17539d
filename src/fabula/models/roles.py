"""The models that a graph is built with, by their roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from fabula.models import Chat, Embedder
    from fabula.models.counted import Meter


Role = Literal["model", "aspect_model"]
"""A role of a chat model: the usual one, or the one for judgements about aspects."""


class ModelProfile(Protocol):
    """What a build knows of the models that answer its requests."""

    @property
    def static(self) -> Embedder:
        """An embedder of static word vectors, which cost nothing."""
        ...

    @property
    def offline(self) -> bool:
        """Whether there is no chat model, so that none may be asked."""
        ...

    @property
    def temperature(self) -> float:
        """The sampling temperature for prompts of a build."""
        ...

    @property
    def batch(self) -> int:
        """How many texts one call embeds at most, as far as is known by now."""
        ...

    @property
    def model(self) -> Callable[[Role], str]:
        """Returns the name of the chat model of a role."""
        ...


class Models(ModelProfile, Protocol):
    """The models that a question, or one part of a document, asks; placeholders in a dry run."""

    @property
    def meter(self) -> Meter:
        """Counts the calls to these models."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The embedder of the collection's vectors."""
        ...

    @property
    def chat(self) -> Callable[[Role, str], Chat]:
        """Returns the chat model of a role; its calls are counted to the given step."""
        ...
