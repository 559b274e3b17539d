"""The guide of retrieval if no chat model is set."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.errors import SettingsError
from fabula.models import Rewriting, Turn
from fabula.text.stems import guess_language, stemmer_of

NEEDS_MODEL = "{} needs a chat model. Set OPENAI_API_KEY or OPENAI_BASE_URL."


class OfflineGuide:
    """A `Guide` without a model, which can't rewrite or rank."""

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Raise SettingsError, as this needs a model."""
        raise SettingsError(NEEDS_MODEL.format("--rewrite"))

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Raise SettingsError, as this needs a model."""
        raise SettingsError(NEEDS_MODEL.format("--rerank"))

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Return the question; without content words, it follows the last question with some."""
        if not _has_words(question):
            for turn in reversed(history):
                if _has_words(turn.question):
                    return f"{turn.question} {question}"
        return question


def _has_words(question: str) -> bool:
    """Whether a question has content words; "And then?" has none."""
    return bool(stemmer_of(guess_language(question)).content(question))
