"""The models that a build is made with, by their roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from fabula.models import Chat, Embedder
    from fabula.models.counted import Meter


Role = Literal["model", "aspect_model"]
"""Which chat model is asked: the usual one, or the one for judgements."""


class Models(Protocol):
    """What one part of one document is made with. In a dry run stand-ins answer in their place."""

    @property
    def meter(self) -> Meter:
        """Counts what they are asked."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The one of the collection's space, its calls counted."""
        ...

    @property
    def static(self) -> Embedder:
        """Static word embeddings, which cost nothing."""
        ...

    @property
    def offline(self) -> bool:
        """Whether there is no chat model: then `chat` is not to be asked."""
        ...

    @property
    def temperature(self) -> float:
        """What a build is asked with."""
        ...

    @property
    def chat(self) -> Callable[[Role, str], Chat]:
        """A chat model by its role, its calls counted to the step that is named."""
        ...

    @property
    def model(self) -> Callable[[Role], str]:
        """The name of that chat model."""
        ...
