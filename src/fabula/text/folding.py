"""Fold text for search, so that a word is found however it is printed.

`fold` removes what the eye passes over: case, diacritics, vowel points, ligatures, the long s.
`search_words` splits a text into the words that search compares: without possessives and elided
articles, with hyphenated line ends joined, and with words of scripts that are written without
spaces. The graph stores both beside the printed text (`fabula.store.search_index`), and questions
are folded by the same functions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

_APOSTROPHE = "'"
_TRANSLATED: dict[int, str | None] = {
    # Apostrophes, and what is typed in their place.
    **dict.fromkeys(map(ord, "’‘‛ʼʻ′´`＇ʹ\u1fbd\u1fbf\u05f3\u055a"), _APOSTROPHE),
    # Numbers of notes, which NFKC would make a part of the word before them.
    **dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉™℠"), " "),
    # Marks that are invisible: joiners, directions, variation selectors.
    **dict.fromkeys([0x034F, 0x061C, 0x180E, 0xFEFF, *range(0x200B, 0x2010)], None),
    # Signs of transliterated Arabic and Hebrew that most printers leave out.
    **dict.fromkeys([0x02BE, 0x02BF], None),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10)], None),
}
_LETTERS = str.maketrans(
    {
        # Latin letters that Unicode does not decompose.
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "ħ": "h",
        "þ": "th",
        "ı": "i",
        "ĸ": "k",
        "ŧ": "t",
        "ŋ": "ng",
        "ꝑ": "per",
        "ꝛ": "r",
        "ⱥ": "a",
        # The Cyrillic ё is mostly printed as е.
        "ё": "е",
        # Arabic letters whose forms change between countries and printers; the tatweel.
        "ى": "ي",
        "ی": "ي",
        "ة": "ه",
        "ک": "ك",
        "ہ": "ه",
        "ٱ": "ا",
        "\u0640": "",
        # Ligatures of Yiddish, which NFKC leaves.
        "װ": "וו",
        "ױ": "וי",
        "ײ": "יי",
        # Digits of Arabic and of the scripts of India and Thailand.
        **{
            chr(zero + digit): str(digit)
            for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xED0, 0x1040, 0x17E0)
            for digit in range(10)
        },
    }
)
_LATIN_OR_GREEK = (
    "0-9A-Za-z\u00c0-\u024f\u0250-\u02af\u0370-\u03ff\u1d00-\u1d7f\u1e00-\u1fff"
    "\u2c60-\u2c7f\ua720-\ua7ff"
)
_COMBINING = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
_DIACRITICS = re.compile(rf"(?<=[{_LATIN_OR_GREEK}])[{_COMBINING}]+")
"""Marks on Latin and Greek letters. In other scripts a mark may make another letter, as in kana."""
_STRESS = re.compile("([АЕИОУЫЭЮЯІЄѢаеиоуыэюяієѣ][\u0306\u0308]?)[\u0300\u0301]+")
"""Stress on Cyrillic vowels; й, ї and the consonants ѓ and ќ stay letters of their own."""
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"  # Arabic
    "\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff]+"  # Syriac, and more of Arabic
)
_SARA_AM = re.compile("\u0e4d\u0e32|\u0ecd\u0eb2")
"""Vowels of Thai and Lao that NFKC takes apart, though all printers set them as one letter."""

# Letters and marks of scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana, Han
# and hangul, which has spaces, but particles behind its words.
_SOLID = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\uaa60-\uaa7f"
    "\u1780-\u17d3\u17dd\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
SOLID = f"[{_SOLID}]"
"""A letter or mark of such a script, as a regular expression."""
_SOLID_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd\u3099\u309a"
)
_CLUSTER = re.compile(rf".(?:[{_SOLID_MARKS}]|(?<=[\u1039\u17d2]).)*", re.DOTALL)
"""A letter with its marks; a Burmese or Khmer letter that is set below another belongs to it."""
# Combining marks that `\w` does not match and that are parts of words. The ranges of the scripts of
# India have their letters and digits in them, and leave out the danda.
_WORD_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0730-\u074a"
    "\u07a6-\u07b0\u07eb-\u07f3\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc\u135d-\u135f"
    "\u1a55-\u1a7c\u1b00-\u1b44\ua8b4-\ua8c4\ua980-\ua9c0"
)
_PART = rf"(?:[^\W_{_SOLID}]|[{_WORD_MARKS}])+"
# The two quotation marks that abbreviations in Hebrew have inside.
_PIECE = re.compile(rf"([{_SOLID}]+)|{_PART}(?:(?:'|(?<=[א-ת])[\"\u05f4](?=[א-ת])){_PART})*")
_LINE_END = re.compile(
    r"(?<=[^\W\d_])(?:\u00ad\s*|\u00ac\s+|[-\u2010][^\S\n]*\n[^\S\n]*)([^\W\d_])"
)
"""Where a printer parted a word: by a soft hyphen, or by a hyphen at the end of a line."""

_ELIDED_FORMS = """
l d j n s c m t qu jusqu lorsqu puisqu quelqu quoiqu presqu
dell nell all dall sull coll un quell quest bell gl degl agl negl dagl sugl sant buon nessun
ciascun alcun dov com cos tutt mezz quand anch
"""
_ELIDED = frozenset(_ELIDED_FORMS.split())
"""What French, Italian and Catalan print before an apostrophe that belongs to the word before."""
_SUFFIXES = frozenset(("s", "ll", "re", "ve", "d", "m", "t"))
"""What English prints behind an apostrophe: the possessive, and short forms of small verbs."""
# A word as it is printed, or a run of a script without spaces: `_PIECE` before it is folded.
_APOSTROPHES = "'’‘‛ʼʻ′´`＇ʹ\u1fbd\u1fbf"
_FOLDED_MARKS = (
    f"{_COMBINING}\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7"
    "\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff\u200c\u200d"
)
"""Marks inside words that folding removes."""
_PRINTED_PART = rf"(?:[^\W_{_SOLID}]|[{_WORD_MARKS}{_FOLDED_MARKS}])+"
_PRINTED = re.compile(
    rf"([{_SOLID}]+)|{_PRINTED_PART}"
    rf"(?:(?:[{_APOSTROPHES}]|(?<=[א-ת])[\"\u05f4](?=[א-ת])){_PRINTED_PART})*"
)
MAX_WORD_CHARACTERS = 64
"""Where a word is cut off; a longer one is a line of signs, or a text without spaces."""


def fold(text: str) -> str:
    """Return a text without case, diacritics, vowel points, ligatures and the like.

    It applies Unicode's compatibility normalization (NFKC), removes marks on Latin and Greek
    letters, stress on Cyrillic vowels, and the points of Hebrew and Arabic, and folds the case.
    Marks that are letters, as in the scripts of India, in Thai and in kana, stay. Apostrophes
    become straight.
    """
    if text.isascii():
        return text.lower().replace("`", _APOSTROPHE)
    text = unicodedata.normalize("NFKC", text.translate(_TRANSLATED))
    text = _SARA_AM.sub(_join_sara_am, text)
    text = _DIACRITICS.sub("", unicodedata.normalize("NFD", text))
    text = _STRESS.sub(r"\1", _POINTS.sub("", text))
    return unicodedata.normalize("NFC", text).casefold().translate(_LETTERS)


def fold_name(name: str) -> str:
    """Return a title or a name as it is compared: folded, with single spaces."""
    return " ".join(fold(name).split())


def find_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the first of some names that is the same as another, folded, without full stops."""
    folded = fold_name(name).replace(".", "")
    return next((form for form in names if fold_name(form).replace(".", "") == folded), None)


def search_words(text: str) -> list[str]:
    """Return the words of a text that search compares, folded, in order.

    Words of Thai, Lao, Khmer, Burmese, Chinese and Japanese are found by ICU's dictionaries where
    the extra `icu` is installed; without it, each two letters that follow each other are a word.
    """
    return segment_pieces(search_pieces(text))


def segment_pieces(pieces: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the words of the pieces of a text; see `search_pieces`."""
    words: list[str] = []
    for piece, is_solid in pieces:
        if is_solid:
            words += _segment(piece)
        else:
            words.append(piece)
    return words


def printed_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text, each folded, with the characters of the text that it is.

    Unlike the words that search compares, they keep possessives, short forms as "can't" and elided
    articles, and each letter of a script without spaces is a word: this is for comparing what two
    texts say. A part of a word before a hyphen or the end of a line is a word of its own.
    """
    for match in _PRINTED.finditer(text):
        if match[1]:
            for letter in _CLUSTER.finditer(text, match.start(), match.end()):
                yield fold(letter[0]), letter.start(), letter.end()
        elif word := fold(match[0]).replace(" ", ""):
            yield word, match.start(), match.end()


def search_pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the folded words of a text, and whether each is a run of a script without spaces."""
    folded = fold(_LINE_END.sub(_join_line_end, text))
    for match in _PIECE.finditer(folded):
        if match[1]:
            yield match[1], True
        elif word := _bare(match[0]):
            yield word, False


def clusters(run: str) -> list[str]:
    """Return the letters of a script without spaces, each with its marks."""
    return _CLUSTER.findall(run)


def _bare(word: str) -> str:
    """Return a word without an elided article before it, and without a possessive behind it."""
    if not word.isalnum():
        parts = word.replace('"', "").replace("\u05f4", "").split(_APOSTROPHE)
        if len(parts) > 1 and parts[-1] in _SUFFIXES:
            parts.pop()
        first = 0
        while first < len(parts) - 1 and parts[first] in _ELIDED:
            first += 1
        word = "".join(parts[first:])
    return word[:MAX_WORD_CHARACTERS]


def _segment(run: str) -> list[str]:
    """Return the words of a script that is written without spaces."""
    breaker = _word_breaker()
    if breaker is None:
        letters = clusters(run)
        return ["".join(pair) for pair in pairwise(letters)] or letters
    return [run[start:end] for start, end in breaker(run, "und").segments()]


@cache
def _word_breaker() -> Any:
    """Return ICU's class that finds words; None if the extra `icu` is not installed."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        return None
    return WordBreaker


def _join_sara_am(match: re.Match[str]) -> str:
    return "\u0e33" if match[0][0] == "\u0e4d" else "\u0eb3"


def _join_line_end(match: re.Match[str]) -> str:
    """Join the halves of a word, but not two names as in "Saint-" and "Pierre"."""
    return match[0] if match[1].isupper() else match[1]
