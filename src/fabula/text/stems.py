"""The stems of a text's words, by language: what two sentences share when they share a word."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

KEPT = 65_536
"""Words whose stems are remembered: more than a long book has."""

# Letters, digits and the marks that belong to them, which `\w` leaves out (Hebrew, Arabic, the
# scripts of India, Thai); apostrophes inside a word. Han, kana and hangul are written without
# spaces: each character counts as a word.
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

# Words that ask or join; they tell nothing of what a question is about.
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
"""In other languages, words of this many letters are mostly such words too."""


class Stemmer:
    """Words and their stems in one language (an ISO 639-1 code; others keep words as they are)."""

    def __init__(self, language: str) -> None:
        self._language = language.lower().replace("_", "-").split("-")[0]
        self._algorithm = _algorithm(_ALGORITHMS.get(self._language, ""))
        # A Snowball stemmer keeps the word it works on in itself.
        self._lock = threading.Lock()
        self._stem = functools.lru_cache(KEPT)(self._fresh)
        self._term = functools.lru_cache(KEPT)(self._fresh_term)

    def stems(self, text: str) -> list[str]:
        """The stem of each word of `text`, in order."""
        return [self._stem(word) for word in words(text)]

    def terms(self, text: str) -> list[str]:
        """The stem of each word of `text` that says what it is about, in order."""
        return [term for term in map(self._term, words(text)) if term]

    def content(self, text: str) -> set[str]:
        """The stems of the words of `text` that say what it is about."""
        return set(self.terms(text))

    def _tells(self, word: str) -> bool:
        if self._language == "en":
            # "that'll" and "saying" tell no more than "that" and "say" do.
            return _SMALL.isdisjoint((word, word.partition("'")[0], self._stem(word)))
        return len(word) > _SHORT or word.isdigit() or re.match(f"[{_SOLID}]", word) is not None

    def _fresh_term(self, word: str) -> str:
        return self._stem(word) if self._tells(word) else ""

    def _fresh(self, word: str) -> str:
        if self._algorithm is None:
            return word
        with self._lock:
            return str(self._algorithm.stemWord(word))


@functools.cache
def stemmer_of(language: str) -> Stemmer:
    """One a language, as it remembers the stems of words."""
    return Stemmer(language)


def words(text: str) -> list[str]:
    """The words of `text` in lower case, in order, with one form of apostrophe."""
    return _WORD.findall(text.lower().replace("’", "'"))


def guess(text: str) -> str:
    """'en' where the small words of English make up a quarter of the text, else ''."""
    found = words(text)
    small = sum(word in _SMALL for word in found)
    return "en" if 4 * small > len(found) else ""


def _algorithm(name: str) -> Any:
    import Stemmer as Snowball

    # Without its own cache: the words whose stems are known are remembered here.
    return Snowball.Stemmer(name, 0) if name in Snowball.algorithms() else None
