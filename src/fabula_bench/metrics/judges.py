"""What metrics may use: a chat model that judges, an embedder, and the texts' languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabula.models import Chat, Embedder


@dataclass(frozen=True, slots=True)
class Judges:
    """The models that metrics may ask; None if there is none.

    `languages` are ISO 639-1 codes by the id of a text; other texts are English, as the published
    data sets are. `baseline` has the answers of the first system by the id of the question, for a
    system that is compared with it.
    """

    chat: Chat | None = None
    embedder: Embedder | None = None
    languages: Mapping[str, str] = field(default_factory=dict)
    baseline: Mapping[str, str] = field(default_factory=dict)
