"""The guide of retrieval if no chat model is set."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.errors import SettingsError
from fabula.models import Rewriting, Turn
from fabula.text.stems import guess_language, stemmer_of

_NAME = re.compile(
    r"(?<=[\w,;:.] )(?!I\b)(?:(?:Mr|Mrs|Ms|Dr|St)\. )?[^\W\d_a-zß-öø-ÿ][\w'’-]*"
    r"(?: (?:(?:of|the|van|von|de) )?[^\W\d_a-zß-öø-ÿ][\w'’-]*)*"
)
_PRONOUN = re.compile(r"\b(?:he|him|his|she|hers?|they|them|their)\b", re.IGNORECASE)
_BEGINS_AS_FOLLOW_UP = re.compile(
    r"\W*(?:(?:and|but|so|then|also)\b|(?:what|how) about\b|what happen(?:s|ed) (?:then|next)\b)",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:he|him|his|she|hers?|they|them|their|it|its|there|then|this|these|those)\b",
    re.IGNORECASE,
)
NEEDS_MODEL = "{} needs a chat model. Set OPENAI_API_KEY or OPENAI_BASE_URL."


Rank = Callable[[str, Sequence[str]], list[float]]


@dataclass(frozen=True, slots=True)
class OfflineGuide:
    """A `Guide` without a chat model, which can't rewrite.

    Passages are ranked by `ranker`, a reranking model of this machine, if there is one.
    """

    ranker: Rank | None = None

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Raise SettingsError, as this needs a model."""
        raise SettingsError(NEEDS_MODEL.format("--rewrite"))

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how relevant each text is. Raises SettingsError if no model ranks."""
        if self.ranker is None:
            raise SettingsError(
                NEEDS_MODEL.format("--rerank"),
                advice="Or set FABULA_RERANK_MODEL to a model of this machine, as "
                "fastembed:Xenova/ms-marco-MiniLM-L-6-v2 (`pip install 'fabula[local-models]'`).",
            )
        return self.ranker(question, texts)

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Return the question with what it refers to put in, as far as its words show it.

        A pronoun of an English question, but for "it", stands for the last name in the questions
        before: after "Who is Weena?", "What happened to her?" is "What happened to Weena?". A
        question without content words, as "And then?", follows the last one that has some.
        """
        previous = [turn.question for turn in reversed(history) if _has_words(turn.question)]
        if not previous:
            return question
        name = next((name for turn in previous if (name := _last_name(turn))), "")
        if name and not _names(question) and guess_language(question) == "en":
            replaced = _replace_pronoun(question, name)
            if replaced != question:
                return replaced
        return question if _has_words(question) else f"{previous[0]} {question}"


def has_unknown_pronoun(question: str, searched: str) -> bool:
    """Return whether a question refers to somebody by a pronoun that was not replaced."""
    return question == searched and not _names(question) and bool(_PRONOUN.search(question))


def refers_back(question: str) -> bool:
    """Return whether the words of a question show that it goes on from an earlier one.

    It does if it has no content words ("And then?"); in English also if it begins as a
    continuation ("And what did Bob do?"), or has a pronoun and no name that the pronoun may stand
    for. Of other languages only the first can be told, and of few words not even that.
    """
    if not _has_words(question):
        return True
    if guess_language(question) != "en":
        return False
    if _BEGINS_AS_FOLLOW_UP.match(question):
        return True
    return not _names(question) and bool(_REFERS_BACK.search(question))


def _has_words(question: str) -> bool:
    """Whether a question has content words; "And then?" has none."""
    return bool(stemmer_of(guess_language(question)).content(question))


def _names(question: str) -> list[str]:
    """Return the names of a question: words with capitals in a row, but not its first word."""
    return [match[0] for match in _NAME.finditer(question)]


def _last_name(question: str) -> str:
    """Return the last name of a question, without a possessive; '' if it has none."""
    names = _names(question)
    return re.sub(r"['’]s?$", "", names[-1]) if names else ""


def _replace_pronoun(question: str, name: str) -> str:
    """Return a question with the first pronoun of the third person replaced by a name."""

    def replace(match: re.Match[str]) -> str:
        follows = re.match(r"\s+[\w-]", question[match.end() :])
        # "Who killed her?", but "What did her father say?"
        is_possessive = match[0].lower() in ("his", "their") or (
            match[0].lower() == "her" and follows is not None
        )
        return f"{name}'s" if is_possessive else name

    return _PRONOUN.sub(replace, question, count=1)
