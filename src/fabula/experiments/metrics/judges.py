"""Who helps to measure: a chat model that judges, an embedder, and the texts' languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabula.models import Chat, Embedder


@dataclass(frozen=True, slots=True)
class Judges:
    """What metrics may ask; None where there is none.

    `languages`: ISO 639-1, by the id of a text; one that is not told is English, as the published
    data sets are.
    """

    chat: Chat | None = None
    embedder: Embedder | None = None
    languages: Mapping[str, str] = field(default_factory=dict)
