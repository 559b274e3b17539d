"""What building asks of a model; one writer serves one document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from fabula.errors import BadReply
from fabula.graph.method import Text
from fabula.graphs.aspects.knobs import Knobs
from fabula.graphs.aspects.stand_ins import StandIns
from fabula.graphs.aspects.values import Aspect
from fabula.models.roles import Models


class Writer(Protocol):
    """What building asks of a model."""

    def detect(self, text: str, aspects: Sequence[Aspect], sample: int = 0) -> dict[str, str]:
        """The names of those `aspects` that are clearest in a cluster's text; may be none.

        Another `sample` is asked anew, where the model does not always say the same.
        Each with its summary, where the same call wrote it; else with ''.
        """
        ...

    def summarise(self, texts: Sequence[str], aspect: Aspect) -> str:
        """What the passages of one cluster say about `aspect` alone."""
        ...

    def condense(self, texts: Sequence[str]) -> Iterable[tuple[str, ...] | BadReply]:
        """Key facts of each of some neighbouring chunks, as fragments, none like another.

        Or why there are none of a chunk. Who reads no further asks no further.
        """
        ...


def make_writer(text: Text, knobs: Knobs, models: Models, stand_ins: StandIns) -> Writer:
    """One that asks chat models, or where there is none, one that quotes the text itself."""
    if models.offline:
        from fabula.graphs.aspects.offline_writer import ExtractiveWriter

        return ExtractiveWriter(
            [chunk.text.strip() for chunk in text.chunks],
            text.document.language,
            models.static,
            summary_tokens=knobs.summary_tokens,
            details=knobs.details,
            detail_tokens=knobs.detail_tokens,
        )
    from fabula.graphs.aspects.prompted import PromptedWriter

    return PromptedWriter(
        detecting=models.chat("aspect_model", "aspects"),
        summarising=models.chat("model", "summaries"),
        condensing=models.chat("model", "details"),
        stand_ins=stand_ins,
        temperature=models.temperature,
        summary_tokens=knobs.summary_tokens,
        details=knobs.details,
        detail_tokens=knobs.detail_tokens,
        aspects_with_summaries=(
            knobs.aspects_with_summaries and models.model("aspect_model") == models.model("model")
        ),
    )
