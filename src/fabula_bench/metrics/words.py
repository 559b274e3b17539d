"""Right options, and words that answers share with references, as SQuAD has them."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

from fabula_bench.metrics.measure import Metric, score_nearest

SOURCE = "Rajpurkar et al. 2016, SQuAD (arXiv 1606.05250)"

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """Return a text in lower case, without punctuation and articles, with single spaces.

    Punctuation is SQuAD's, and that of other scripts (as MLQA takes it).
    """
    text_without_marks = "".join(letter for letter in text.lower() if not _is_mark(letter))
    return " ".join(_ARTICLE.sub(" ", text_without_marks).split())


def exact_match(answer: str, reference: str) -> float:
    """Return 1 if both are the same once normalised, else 0."""
    return float(normalise(answer) == normalise(reference))


def token_f1(answer: str, reference: str) -> float:
    """Return F1 of the words that both have; as in SQuAD 2.0, 1 if both have none."""
    answer_words, reference_words = normalise(answer).split(), normalise(reference).split()
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    shared = (Counter(answer_words) & Counter(reference_words)).total()
    return 2 * shared / (len(answer_words) + len(reference_words))


def _is_mark(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter).startswith("P")


METRICS = (
    Metric(
        name="accuracy",
        source="Pang et al. 2022, QuALITY (arXiv 2112.08608)",
        blind=(
            "It can't tell knowing from guessing: of four options one in four is right by chance, "
            "and a model that knows the text by heart needs no context."
        ),
        needs=frozenset({"options"}),
        # Choosing none is wrong, too.
        how=lambda question, result, _: float(result.choice == question.right),
    ),
    Metric(
        name="exact_match",
        source=SOURCE,
        blind=(
            "It takes a right answer in other or more words for a wrong one: of answers in whole "
            "sentences it says nothing."
        ),
        needs=frozenset({"answers", "answer"}),
        how=score_nearest(exact_match),
    ),
    Metric(
        name="token_f1",
        source=SOURCE,
        blind=(
            "It counts words, not what they say: a negated answer scores nearly as high as the "
            "right one, and a right answer that is longer than the reference loses."
        ),
        needs=frozenset({"answers", "answer"}),
        how=score_nearest(token_f1),
    ),
)
