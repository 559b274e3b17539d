"""Where sentences end."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from fabula.text.speakers import ends_speaker

_LONGEST = 400
"""Characters; a longer sentence is cut where another seems to begin inside it."""
_PIECE = 20_000
"""Characters given to the library at once: unclosed quotes cost it the square of the length."""
_SOLID = 2_000
"""As many, where there is no white space: there all ends of sentences do."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_LINE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*\s*\n\s*")
_INNER_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+(?=[\"'“‘„«([—–-]*\s?[^\W\d_a-zà-öø-ÿ])")
_ANY_LINE_END = re.compile(r"\n\s*")
_SHORT_WORD = re.compile(r"(?<!\w)(\w{1,6})\.\s+$")
_TITLE_WORDS = (
    "mr mrs ms dr st prof rev messrs capt col gen lt sgt mme mlle hr sr sra"
    " inż mgr ks św płk kpt np tzn"
)
_TITLES = frozenset(_TITLE_WORDS.split())
"""Short forms that stand before a name or an example, so that no sentence ends with them."""
_SOLID_END = re.compile("[。！？][”’」』）]*")
_ENDED = re.compile(r"[\s。！？”’」』）]")
_WHITE = re.compile(r"\s+")


def spans(text: str, language: str) -> list[tuple[int, int]]:
    """The sentences of `text` as (start, end) in characters; they tile it, in order.

    Each has the white space after it. A blank line always ends a sentence; a single line break
    does after a mark that ends or halts one, or in a sentence that is long already, so that verse
    keeps its sentences and a list is cut. `language` is ISO 639-1; '' is read as English.
    """
    starts: list[int] = []
    place = 0
    for end in [*(found.end() for found in _PARAGRAPH_END.finditer(text)), len(text)]:
        if text[place:end].strip():
            starts += _starts(text, place, end, language or "en")
        place = end
    starts[:1] = [0] if text else []
    return list(zip(starts, [*starts[1:], len(text)], strict=True)) if text else []


def sentences(text: str, language: str) -> list[str]:
    """The sentences of `text` without the white space around them; none is empty."""
    found = (text[start:end].strip() for start, end in spans(text, language))
    return [sentence for sentence in found if sentence]


def _starts(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """Where the sentences of one paragraph, `text[start:end]`, begin."""
    from sentencex import get_sentence_boundaries

    for piece, until in _pieces(text, start, end):
        # A line break is a boundary to the library; here it is a space of the same length.
        joined = text[piece:until].replace("\n", " ")
        places = (piece + one["start_index"] for one in get_sentence_boundaries(language, joined))
        found = [place for place in places if place == piece or not _within(text, place)]
        for first, last in zip(found, [*found[1:], until], strict=True):
            if text[first:last].strip():
                if first != piece or first == start or _ENDED.match(text, first - 1):
                    yield first
                yield from _inner(text, first, last)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A paragraph in pieces that end at a sentence's end, or at white space, if it has any."""
    while end - start > _SOLID:
        is_solid = not _WHITE.search(text, start, start + _SOLID)
        near = start + (_SOLID if is_solid else _PIECE)
        if near >= end:
            break
        reach = min(end, near + 4 * _LONGEST)
        patterns = (_INNER_END, _SOLID_END, _WHITE)
        cuts = (found.end() for one in patterns if (found := one.search(text, near, reach)))
        cut = next(cuts, near)
        while cut < end and _splits(text, cut):
            cut += 1
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _inner(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts inside what the library takes for one sentence: at lines, and in long quotations."""
    cuts = _ends(_LINE_END, text, start, end)
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        if first > start:
            yield first
        if last - first > _LONGEST:
            within = _ends(_INNER_END, text, first, last)
            yield from within or _ends(_ANY_LINE_END, text, first, last)


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[int]:
    """Where matches end, but for one that ends with the span or splits a character."""
    found = (match.end() for match in pattern.finditer(text, start, end))
    return [place for place in found if place < end and not _within(text, place)]


def _within(text: str, place: int) -> bool:
    """Whether `place` is no boundary: within a character, after a title, an initial or the name of
    who speaks in a play.
    """
    if _splits(text, place) or ends_speaker(text, place):
        return True
    before = _SHORT_WORD.search(text, max(0, place - 12), place)
    word = before[1] if before else ""
    return word.lower() in _TITLES or (len(word) == 1 and word.isupper() and word != "I")


def _splits(text: str, place: int) -> bool:
    return text[place] == "\u200d" or unicodedata.category(text[place])[0] == "M"
