"""The language of a text: what its file calls it, or what its letters tell."""

from __future__ import annotations

import functools
import math
import re
import statistics
import threading
from typing import Any

_LEAD = 0.75
"""How much likelier (log) a language must be than the next, for the root of the text's bytes.

Three plain English words have 1.1, made-up words less.
"""
_LOADING = threading.Lock()


def code(name: str) -> str:
    """ISO 639-1 for a language's English name, code or tag: 'English', 'eng' and 'en-GB' are 'en'.

    '' if it is none; a code of two letters is taken as it is.
    """
    from iso639 import Lang
    from iso639.exceptions import InvalidLanguageValue

    first = re.split(r"[\s,;/_-]", name.strip(), maxsplit=1)[0].casefold()
    if re.fullmatch("[a-z]{2}", first):
        return first
    try:
        return Lang(first if len(first) == 3 else first.capitalize()).pt1
    except InvalidLanguageValue:
        return ""


def detect(text: str) -> str:
    """The language of a text as ISO 639-1; '' if none is clearly the likeliest."""
    (language, best), (_, second), *_ = _ranked(text)
    sure = best - second > _LEAD * math.sqrt(len(text.encode("utf-8", "replace")))
    # Three letters are a language without a code of two, or 'zxx', which is no language.
    return language if sure and len(language) == 2 else ""


def evidence(text: str) -> float:
    """How much likelier (log) the text is in its likeliest language than in the median one.

    Of several readings of the same bytes the right one has the most.
    """
    scores = [score for _, score in _ranked(text)]
    return scores[0] - statistics.median(scores)


def _ranked(text: str) -> list[tuple[str, float]]:
    """All languages that are known, the likeliest first, with their log likelihoods."""
    with _LOADING:
        model = _model()
    ranked: list[tuple[str, float]] = model.rank(text)
    return ranked


@functools.cache
def _model() -> Any:
    """Half a second of work and 100 MB of memory: it is read when a text needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
