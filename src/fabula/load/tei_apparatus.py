"""Find what editors of old texts print below and beside them: readings, and the signs of witnesses.

Libraries of Greek and Latin texts have the critical apparatus as footnotes, each page's in one or
two, and in the margin the signs of the manuscripts that have the text there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from fabula.load.markup import elements

APPARATUS, SIGNS = "critical apparatus", "signs of witnesses"
_LEMMA = re.compile(r"\w[.,)’']?\]")
"""The word that readings are of, as in `ἔσται] + ἔτι AF`."""
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_SIGN = re.compile(r"(?![IVXLC]+$)[^\W\d_a-z]{1,4}")
"""Manuscripts are called by capitals, as AF or MAH."""
_MIN_SIGNS = 0.05
"""The share of words that are signs of witnesses: 7 % and more in editions, 2 % in commentaries."""
_MIN_LEMMAS, _MANY_LEMMAS = 0.5, 2
"""Words with readings, for each note. A commentary has one in each, and no signs of witnesses."""
_MAX_SIGN_CHARACTERS = 12


def find_apparatus(root: Element) -> dict[int, str]:
    """Return the notes that are the apparatus or signs in the margin, by id, and which they are."""
    by_kind: dict[str, list[Element]] = {}
    for note in elements(root, "note"):
        by_kind.setdefault(note.get("type", "") or note.get("place", ""), []).append(note)
    found = {
        id(note): APPARATUS
        for notes in by_kind.values()
        if _are_readings(map(_text, notes), len(notes))
        for note in notes
    }
    if found:
        margin = (note for kind in by_kind if kind.startswith("mar") for note in by_kind[kind])
        short = (note for note in margin if len(_text(note)) <= _MAX_SIGN_CHARACTERS)
        found |= {id(note): SIGNS for note in short}
    return found


def _are_readings(texts: Iterable[str], count: int) -> bool:
    lemmas = words = signs = 0
    for text in texts:
        lemmas += len(_LEMMA.findall(_BRACKETS.sub("", text)))
        of_text = re.findall(r"\w+", text)
        words += len(of_text)
        signs += sum(word.isupper() and bool(_SIGN.fullmatch(word)) for word in of_text)
    if lemmas < _MIN_LEMMAS * count:
        return False
    return lemmas >= _MANY_LEMMAS * count or signs >= _MIN_SIGNS * words


def _text(note: Element) -> str:
    return " ".join("".join(note.itertext()).split())
