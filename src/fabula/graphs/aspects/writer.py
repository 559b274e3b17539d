"""What a build asks of a model; one writer serves one document.

A writer that asks a model returns a build, one that quotes the text what it has made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fabula.errors import BadReply
from fabula.graph.builds import Build
from fabula.graphs.aspects.values import Aspect


class Writer(Protocol):
    """What a build asks of a model."""

    def detect(
        self, text: str, aspects: Sequence[Aspect], sample: int = 0
    ) -> dict[str, str] | Build[dict[str, str]]:
        """Return the aspects that are clearest in a cluster's text; there may be none.

        Args:
            text: The cluster's text.
            aspects: The aspects to choose from.
            sample: Another number is another call, for models that do not always reply the same.

        Returns:
            A summary by the name of each aspect, if the same call wrote one; otherwise ''.
        """
        ...

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str | Build[str]:
        """Return what the passages of one cluster say about one aspect alone."""
        ...

    def condense(
        self, texts: Sequence[str]
    ) -> Sequence[tuple[str, ...] | BadReply] | Build[Sequence[tuple[str, ...] | BadReply]]:
        """Return the details of neighbouring chunks: key facts, or condensations of each chunk.

        Of key facts none repeats another.

        For a chunk without a usable reply the error is returned.
        """
        ...
