"""What retrieval is told where it asks for a model and none is set."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import SettingsError
from fabula.models import Rewriting, Turn
from fabula.text.stems import guess, stemmer_of

NEEDS_MODEL = "{} asks a chat model, and none is set: set OPENAI_API_KEY or OPENAI_BASE_URL."


class OfflineGuide:
    """A `Guide` without a model: it can neither write nor rank."""

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Raises SettingsError: it takes a model."""
        raise SettingsError(NEEDS_MODEL.format("--rewrite"))

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Raises SettingsError: it takes a model."""
        raise SettingsError(NEEDS_MODEL.format("--rerank"))

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """The question, after the last one that has words of its own where this one has none."""
        if not _has_words(question):
            for turn in reversed(history):
                if _has_words(turn.question):
                    return f"{turn.question} {question}"
        return question


def _has_words(question: str) -> bool:
    """Whether a question says what it is about, as "And then?" does not."""
    return bool(stemmer_of(guess(question)).content(question))
