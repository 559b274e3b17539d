"""Find the language of a text, by what its file states or by the text itself."""

from __future__ import annotations

import functools
import math
import re
import statistics
import threading
from typing import Any

_MIN_LEAD = 0.75
"""By how much a language has to be likelier than the next one: the difference of their logarithms,
divided by the square root of the text's bytes. Three common English words have 1.1, and invented
words
have less."""
_LOCK = threading.Lock()


def code(name: str) -> str:
    """Return the ISO 639-1 code of a language's English name, code or tag.

    'English', 'eng' and 'en-GB' are 'en'. A code of two letters is not checked. It is '' if the
    language is not known or has no such code.
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
    """Return the language of a text as an ISO 639-1 code; '' if none is clearly the likeliest."""
    (language, best), (_, second), *_ = _rank(text)
    is_sure = best - second > _MIN_LEAD * math.sqrt(len(text.encode("utf-8", "replace")))
    # A code of three letters is a language without one of two, or 'zxx', which is no language.
    return language if is_sure and len(language) == 2 else ""


def evidence(text: str) -> float:
    """Return how much likelier the text is in its best language than in the median one, as a log.

    Of several decodings of the same bytes, the right one has the highest value.
    """
    scores = [score for _, score in _rank(text)]
    return scores[0] - statistics.median(scores)


def _rank(text: str) -> list[tuple[str, float]]:
    """All known languages, the likeliest first, with their log likelihoods."""
    with _LOCK:
        model = _model()
    ranked: list[tuple[str, float]] = model.rank(text)
    return ranked


@functools.cache
def _model() -> Any:
    """The model; reading it takes half a second and 100 MB of memory, so it is done when needed."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
