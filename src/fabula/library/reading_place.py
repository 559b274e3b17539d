"""The place up to which a reader has read a text: from what the reader says to a character.

What a reader names is read in this order: a share of the text ("40%"), a character, a printed page
or line, a section by its name as `fabula read --at` takes it, and words of the text. A section,
a page and words count as read: the place is the end of them.
"""

from __future__ import annotations

import re

from fabula.errors import InvalidPlace, NotFound
from fabula.graph.entries import Entry
from fabula.graph.reading_place import MAX_PLACE, ReadingPlace
from fabula.graph.structure import TextStructure
from fabula.library.reading import CHARACTERS, SPAN, find_labelled, find_sections
from fabula.store import Store
from fabula.text.names import quote_name

SHARE = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,4})?)\s*%")
NUMBER = re.compile(r"[0-9]{1,9}")
MIN_PHRASE_CHARACTERS = 6
"""Of words that are looked for in the text: a shorter piece is in too many places."""
_APOSTROPHES = "['’‘ʼ]"
_MARKS = '["“”„«»‟]'
_DASHES = "[-‐‑–—]"


def check_place(named: str) -> str:
    """Return what names a reader's place, without white space around it.

    Who takes a place that means nothing for none, or for another, shows the end of the book.

    Raises:
        InvalidPlace: It is blank, too long, a share outside of 0 to 100 %, or a number in digits
            other than 0 to 9.
    """
    place = named.strip()
    if not place:
        problem = "is blank: leave it out to read the whole text"
    elif len(place) > MAX_PLACE:
        problem = f"has more than {MAX_PLACE} characters"
    elif place.endswith("%") and not _is_share(place):
        problem = "is no share of a text: give one of 0% to 100%"
    elif place.isdecimal() and not place.isascii():
        problem = "is a number: write it with the digits 0 to 9"
    else:
        return place
    raise InvalidPlace(f"The place {quote_name(named)} {problem}.")


def _is_share(place: str) -> bool:
    match = SHARE.fullmatch(place)
    return match is not None and _read_share(match) <= 100


def _read_share(match: re.Match[str]) -> float:
    return float(match[1].replace(",", "."))


def find_reading_place(store: Store, document: Entry, named: str) -> ReadingPlace:
    """Return the place in a document up to which a reader has read.

    Args:
        store: The graph, without a place.
        document: The document.
        named: A section, as "Stave Three"; a page as "p. 113" or lines as "ll. 340-352"; a share as
            "40%"; words of the text; a character, or the last of a range as 120-340.

    Raises:
        InvalidPlace: `named` can't be a place in any text.
        NotFound: The document has no such place, or it is the name of several.
    """
    place = check_place(named)
    length = store.length_of(document)
    if match := SHARE.fullmatch(place):
        end = int(length * _read_share(match) / 100)
        return ReadingPlace(document, end, length, f"character {end:,}", place)
    if NUMBER.fullmatch(place) or CHARACTERS.fullmatch(place):
        ends = [int(end) for _, end in SPAN.findall(place)] or [int(place)]
        end = min(max(ends), length)
        return ReadingPlace(document, end, length, f"character {end:,}", place)
    structure = store.structure(document)
    if spans := find_labelled(structure, place, length):
        end = min(end for _, end in spans)
        return ReadingPlace(document, end, length, f"the end of {place}", place)
    if numbers := find_sections(structure, place):
        path = structure.paths[numbers[0]]
        if len(numbers) > 1:
            # The others are not listed: their headings may come after what was read.
            raise NotFound(
                f"{quote_name(place)} names {len(numbers)} sections of {document.title}, the first "
                f"of which is {path}: name yours with what stands above it, or by a page."
            )
        end = end_of_section(structure, numbers[0], length)
        return ReadingPlace(document, end, length, f"the end of {path}", place)
    return _find_phrase(store, document, place, length)


def end_of_section(structure: TextStructure, number: int, length: int) -> int:
    """Return where a section ends, with all sections inside it."""
    sections, depths = structure.outline.sections, structure.outline.depths
    following = range(number + 1, len(sections))
    return next((sections[at].start for at in following if depths[at] <= depths[number]), length)


def _find_phrase(store: Store, document: Entry, words: str, length: int) -> ReadingPlace:
    """Return the end of the first place with these words of the text, which is the safe one."""
    # A quotation is often given without the comma that the book prints before its mark.
    sought = words.strip(f"{_MARKS[1:-1]} ").split()
    if len(words) >= MIN_PHRASE_CHARACTERS and len(sought) > 1:
        text = "".join(row["text"] for row in store.find_chunks(document))
        # White space, case and the forms of marks make no difference.
        matches = re.finditer(r"\s+".join(map(_pattern, sought)), text, re.IGNORECASE)
        if match := next(matches, None):
            again = " (the first place that has these words)" if next(matches, None) else ""
            shown = words if len(words) <= 60 else f"{words[:59]}…"
            name = f'the end of "{shown}"{again}'
            return ReadingPlace(document, match.end(), length, name, words)
    raise NotFound(
        f"{document.title} has no section, page or words {quote_name(words)}.",
        advice="Name a section, a page as 'p. 113', a share as '40%', or some words of the text. "
        f'`fabula read "{document.title}"` shows it.',
    )


def _pattern(word: str) -> str:
    """Return a regular expression for a word in all forms in which it may be printed."""
    forms = {sign: signs for signs in (_APOSTROPHES, _MARKS, _DASHES) for sign in signs[1:-1]}
    return "".join(forms.get(letter, re.escape(letter)) for letter in word)
