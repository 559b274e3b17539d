"""Split text into sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from fabula.text.speakers import ends_speaker

_MAX_CHARACTERS = 400
"""A longer sentence is cut where another one seems to begin inside it."""
_PIECE_CHARACTERS = 20_000
"""What the library is given at once: with unclosed quotes, its time grows with the square."""
_UNSPACED_CHARACTERS = 2_000
"""The same in text without white space, where every end of a sentence costs that."""
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
"""Abbreviations before a name or an example, which never end a sentence."""
_UNSPACED_END = re.compile("[。！？][”’」』）]*")
_BOUNDARY_CHARACTER = re.compile(r"[\s。！？”’」』）]")
_WHITE = re.compile(r"\s+")


def spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as (start, end) in characters; they tile it, in order.

    Each includes the white space after it. A blank line always ends a sentence. A single line break
    ends one after punctuation, or if the sentence is long already, so that verse keeps its
    sentences and a list is cut.

    Args:
        text: Any text.
        language: An ISO 639-1 code; '' is treated as English.
    """
    starts: list[int] = []
    position = 0
    for end in [*(match.end() for match in _PARAGRAPH_END.finditer(text)), len(text)]:
        if text[position:end].strip():
            starts += _starts(text, position, end, language or "en")
        position = end
    starts[:1] = [0] if text else []
    return list(zip(starts, [*starts[1:], len(text)], strict=True)) if text else []


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of `text` without the white space around them; none is empty."""
    stripped = (text[start:end].strip() for start, end in spans(text, language))
    return [sentence for sentence in stripped if sentence]


def _starts(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """The offsets where the sentences of one paragraph, `text[start:end]`, begin."""
    from sentencex import get_sentence_boundaries

    for piece, until in _pieces(text, start, end):
        # A line break is a boundary to the library; here it is a space of the same length.
        joined = text[piece:until].replace("\n", " ")
        starts = [piece + b["start_index"] for b in get_sentence_boundaries(language, joined)]
        starts = [at for at in starts if at == piece or not _is_no_boundary(text, at)]
        for first, last in zip(starts, [*starts[1:], until], strict=True):
            if text[first:last].strip():
                if first != piece or first == start or _BOUNDARY_CHARACTER.match(text, first - 1):
                    yield first
                yield from _inner(text, first, last)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a paragraph into pieces that end with a sentence, or else at white space."""
    while end - start > _UNSPACED_CHARACTERS:
        is_unspaced = not _WHITE.search(text, start, start + _UNSPACED_CHARACTERS)
        near = start + (_UNSPACED_CHARACTERS if is_unspaced else _PIECE_CHARACTERS)
        if near >= end:
            break
        limit = min(end, near + 4 * _MAX_CHARACTERS)
        patterns = (_INNER_END, _UNSPACED_END, _WHITE)
        cuts = (match.end() for p in patterns if (match := p.search(text, near, limit)))
        cut = next(cuts, near)
        while cut < end and _splits_character(text, cut):
            cut += 1
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _inner(text: str, start: int, end: int) -> Iterator[int]:
    """Starts of sentences inside one of the library's: at line ends, and in long quotations."""
    cuts = _ends(_LINE_END, text, start, end)
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        if first > start:
            yield first
        if last - first > _MAX_CHARACTERS:
            inner = _ends(_INNER_END, text, first, last)
            yield from inner or _ends(_ANY_LINE_END, text, first, last)


def _ends(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[int]:
    """The ends of a pattern's matches before `end` that may be boundaries of sentences."""
    ends = (match.end() for match in pattern.finditer(text, start, end))
    return [at for at in ends if at < end and not _is_no_boundary(text, at)]


def _is_no_boundary(text: str, position: int) -> bool:
    """Whether a position is in a character, or follows a title, an initial or a speaker's name."""
    if _splits_character(text, position) or ends_speaker(text, position):
        return True
    before = _SHORT_WORD.search(text, max(0, position - 12), position)
    word = before[1] if before else ""
    return word.lower() in _TITLES or (len(word) == 1 and word.isupper() and word != "I")


def _splits_character(text: str, position: int) -> bool:
    """Whether a joiner or a combining mark is here, which belongs to the character before it."""
    return text[position] == "\u200d" or unicodedata.category(text[position])[0] == "M"
