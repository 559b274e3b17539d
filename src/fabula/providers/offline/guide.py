"""What retrieval is told where it asks for a model and none is set."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import SettingsError
from fabula.providers import Rewriting

NEEDS_MODEL = "{} asks a chat model, and none is set: set OPENAI_API_KEY or OPENAI_BASE_URL."


class OfflineGuide:
    """A `Guide` without a model: it can neither write nor rank."""

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Raises SettingsError: it takes a model."""
        raise SettingsError(NEEDS_MODEL.format("--rewrite"))

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Raises SettingsError: it takes a model."""
        raise SettingsError(NEEDS_MODEL.format("--rerank"))
