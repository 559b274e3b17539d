"""Words of a text, and their stems by language, by which texts are compared."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

from fabula.text.folding import SOLID, search_words

MAX_REMEMBERED_WORDS = 65_536
"""How many words' stems are remembered: more than a long book has."""

# A word is letters, digits and the combining marks that `\w` does not match (Hebrew, Arabic, the
# scripts of India, Thai), with apostrophes inside. Han, kana and hangul are written without spaces,
# so that each character counts as a word.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
)
_SOLID = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTERS = rf"[^\W_{_SOLID}]+"
_PART = rf"{_LETTERS}(?:[{_MARKS}]+(?:{_LETTERS})?)*"
_WORD = re.compile(rf"[{_SOLID}]|{_PART}(?:'{_PART})*")

_ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

# Function words, and others that do not say what a question is about.
_ENGLISH = """
a about above after again against all also am an and any are aren't as at be because been before
being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
don't down during each either else ever few for from further get gets give given gives had
hadn't has hasn't have haven't having he her here hers herself him himself his how i if in into
is isn't it it's its itself just let made make makes may me might more most much must my myself
neither no nor not of off on once one only or other ought our ours ourselves out over own really
same say says shall she should so some such tell tells than that the their theirs them
themselves then there these they thing things this those though through thus to too under until
up upon us very was wasn't we were weren't what when where whether which while who whom whose
why will with within without won't would wouldn't yes yet you your yours yourself
"""
_SMALL = frozenset(_ENGLISH.split())
_SHORT = 3
"""In other languages, words of up to this many letters are treated as function words."""


class Stemmer:
    """Finds words and their stems in one language."""

    def __init__(self, language: str) -> None:
        """Make a stemmer for an ISO 639-1 code; in unknown languages, words are their own stems."""
        self._language = language.lower().replace("_", "-").split("-")[0]
        self._algorithm = _algorithm(_ALGORITHMS.get(self._language, ""))
        # A Snowball stemmer is not thread-safe: it has the word it works on as its state.
        self._lock = threading.Lock()
        self._stem = functools.lru_cache(MAX_REMEMBERED_WORDS)(self._compute_stem)
        self._term = functools.lru_cache(MAX_REMEMBERED_WORDS)(self._compute_term)
        self._search_term = functools.lru_cache(MAX_REMEMBERED_WORDS)(self._compute_search_term)

    def stems(self, text: str) -> list[str]:
        """Return the stem of each word of `text`, in order."""
        return [self._stem(word) for word in words(text)]

    def terms(self, text: str) -> list[str]:
        """Return the stem of each content word of `text`, in order."""
        return [term for term in map(self._term, words(text)) if term]

    def content(self, text: str) -> set[str]:
        """Return the stems of the content words of `text`."""
        return set(self.terms(text))

    def search_terms(self, text: str) -> list[str]:
        """Return the stem of each content word of `text` as search compares words, in order.

        Unlike `terms`, whose stems graphs are built from, it folds the words first: case,
        diacritics, ligatures, elided articles (`fabula.text.folding`).
        """
        return [term for term in map(self._search_term, search_words(text)) if term]

    def _compute_search_term(self, word: str) -> str:
        if re.match(SOLID, word):
            return word
        if self._language == "en":
            is_content = word not in _folded_small() and self._stem(word) not in _SMALL
        else:
            is_content = len(word) > _SHORT or word.isdigit()
        return self._stem(word) if is_content else ""

    def _is_content(self, word: str) -> bool:
        """Whether a word says what a text is about, unlike a function word."""
        if self._language == "en":
            # "that'll" and "saying" are like "that" and "say".
            return _SMALL.isdisjoint((word, word.partition("'")[0], self._stem(word)))
        return len(word) > _SHORT or word.isdigit() or re.match(f"[{_SOLID}]", word) is not None

    def _compute_term(self, word: str) -> str:
        return self._stem(word) if self._is_content(word) else ""

    def _compute_stem(self, word: str) -> str:
        if self._algorithm is None:
            return word
        with self._lock:
            return str(self._algorithm.stemWord(word))


@functools.cache
def stemmer_of(language: str) -> Stemmer:
    """Return the stemmer of a language; there is only one of each, which remembers its stems."""
    return Stemmer(language)


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, in order, with straight apostrophes."""
    return _WORD.findall(text.lower().replace("’", "'"))


def name_language(code: str) -> str:
    """Return the name of a language, or the code of one that has no stemmer."""
    return _ALGORITHMS.get(code.lower().replace("_", "-").split("-")[0], "").title() or code


def guess_language(text: str) -> str:
    """Return 'en' if more than a quarter of the words are English function words, else ''."""
    all_words = words(text)
    small = sum(word in _SMALL for word in all_words)
    return "en" if 4 * small > len(all_words) else ""


@functools.cache
def _folded_small() -> frozenset[str]:
    """Return the English function words as `search_words` leaves them."""
    return frozenset(search_words(_ENGLISH))


def _algorithm(name: str) -> Any:
    import Stemmer as Snowball

    # With a cache of 0 words, as Stemmer has one.
    return Snowball.Stemmer(name, 0) if name in Snowball.algorithms() else None
