"""To version 5: folded words for the full-text indexes, the token of a collection, folded names.

The constants and functions of the first half are copies of what Fabula had when it wrote graphs of
version 5, without ICU. They stay as they are, whatever becomes of the originals.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from fabula.store.database import Database
from fabula.store.migration import Step
from fabula.store.schema import ensure, wait

SATURATION, LENGTH_NORMALIZATION = 1.2, 0.75
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
MAX_WORD_CHARACTERS = 64
"""Where a word is cut off; a longer one is a line of signs, or a text without spaces."""


def fold(text: str) -> str:
    """Return a text without case, diacritics, vowel points, ligatures and the like."""
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


def clusters(run: str) -> list[str]:
    """Return the letters of a script without spaces, each with its marks."""
    return _CLUSTER.findall(run)


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    folded = fold(_LINE_END.sub(_join_line_end, text))
    for match in _PIECE.finditer(folded):
        if match[1]:
            yield match[1], True
        elif word := _bare(match[0]):
            yield word, False


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


def _join_sara_am(match: re.Match[str]) -> str:
    return "\u0e33" if match[0][0] == "\u0e4d" else "\u0eb3"


def _join_line_end(match: re.Match[str]) -> str:
    """Join the halves of a word, but not two names as in "Saint-" and "Pierre"."""
    return match[0] if match[1].isupper() else match[1]


MEAN_WORDS = 100
"""The length of a text whose words the classes neither raise nor lower. It is a constant, because
they are stored: the collection's mean changes with every document. Exact scores use that."""
CLASSES = 8
"""How many classes of weight there are; each is a clause of a query for each word."""
LOWEST_BOUND, HIGHEST_BOUND = 0.5, 2.0
"""The weights below and above which all words are of the first and the last class. A word that
stands once in a text of 100 words weighs 1, and none weighs more than 2.2."""
_RATIO = (HIGHEST_BOUND / LOWEST_BOUND) ** (1 / (CLASSES - 2))
CLASS_BOUNDS = tuple(LOWEST_BOUND * _RATIO**number for number in range(CLASSES - 1))
"""Where the next class begins, by equal ratios."""
CLASS_LETTERS = "abcdefgh"
"""What a term ends in, by its class."""
MAX_TERM_CHARACTERS = 200
"""Lucene's tokenizer splits a longer word."""
LAST_PLAIN_LETTER = "\u0dff"
"""Up to this letter Lucene's standard tokenizer keeps a word whole; terms of others are encoded."""


def _tenant_token(collection: str) -> str:
    """Return the token that all nodes of a collection have in the full-text indexes."""
    digest = hashlib.blake2b(collection.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"c{digest.hexdigest()}"


def _search_properties(collection: str, text: str) -> dict[str, str | float]:
    """Return the properties by which a node is found by its words."""
    terms, length = _terms(text)
    return {
        "search_text": " ".join(word for word, _ in _pieces(text)),
        "search_terms": " ".join(_with_classes(terms, length)),
        "search_length": length,
        "tenant": _tenant_token(collection),
    }


def _terms(text: str) -> tuple[list[str], float]:
    """Return the terms of a text, in order, and its length in words."""
    terms: list[str] = []
    length = 0.0
    for word, is_solid in _pieces(text):
        if not is_solid:
            terms.append(_encode(word))
            length += 1
            continue
        letters = clusters(word)
        terms += map(_encode, _letters_and_pairs(letters))
        length += len(letters) / 2
    return terms, length


def _with_classes(terms: Sequence[str], length: float) -> list[str]:
    """Return each distinct term with its class of weight, in order of appearance."""
    damped = SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * length / MEAN_WORDS)
    classified = []
    for term, count in Counter(terms).items():
        weight = count * (SATURATION + 1) / (count + damped)
        classified.append(f"{term}_{CLASS_LETTERS[bisect_right(CLASS_BOUNDS, weight)]}")
    return classified


def _letters_and_pairs(letters: Sequence[str]) -> Iterable[str]:
    yield from letters
    yield from map("".join, pairwise(letters))


def _encode(word: str) -> str:
    """Return a word as a term that Lucene's tokenizer and its query syntax take as it is."""
    if max(word) <= LAST_PLAIN_LETTER:
        return word
    return ("x" + "".join(f"{ord(letter):04x}" for letter in word))[:MAX_TERM_CHARACTERS]


MAX_CAPTION_CHARACTERS = 60


def _caption(text: str) -> str:
    line = " ".join(text[: 4 * MAX_CAPTION_CHARACTERS].split())
    return (
        line
        if len(line) <= MAX_CAPTION_CHARACTERS
        else line[: MAX_CAPTION_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
    )


# The steps of the migration

ROWS_PER_BATCH = 500
INDEXES = ("passage_texts", "element_texts")


def _drop_indexes(store: Database) -> None:
    """Drop the indexes over the printed texts: without them the words are written faster."""
    for name in INDEXES:
        store.rows("migrate/5_schema_drop_index", index=name)


def _save_words(store: Database) -> None:
    update(store, "migrate/5_find_passages", "migrate/5_save_passages", words_of)
    update(store, "migrate/5_find_elements", "migrate/5_save_elements", words_of)


def _save_names(store: Database) -> None:
    update(store, "migrate/5_find_documents", "migrate/5_save_documents", _names_of)


def update(
    store: Database, find: str, save: str, make: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> None:
    """Give all nodes that a statement finds new properties, in batches in the order of ids."""
    after = ""
    while page := store.rows(find, after=after, limit=ROWS_PER_BATCH):
        after = page[-1]["id"]
        rows = [{"id": row["id"], "properties": make(row)} for row in page]
        store.rows(save, rows=rows)


def words_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties by which a node of this collection, name and text is found."""
    name, text = row["name"] or "", row["text"] or ""
    return _search_properties(
        row["collection"] or "", text if name == _caption(text) else f"{name}\n{text}"
    )


def _names_of(row: Mapping[str, Any]) -> dict[str, Any]:
    source = PurePath(row["source"] or "")
    return {
        "title_key": fold_name(row["title"] or ""),
        "author_key": fold_name(row["author"] or ""),
        "file_key": fold_name(source.name),
        "stem_key": fold_name(source.stem),
    }


def _make_indexes(store: Database) -> None:
    for name in ("migrate/5_schema_passage_texts", "migrate/5_schema_element_texts"):
        ensure(store, name)
    wait(store, *INDEXES)


STEPS: tuple[Step, ...] = (_drop_indexes, _save_words, _save_names, _make_indexes)
