"""Find what an answer puts in quotation marks of any language, and its block quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabula.ask.answer import CITATION
from fabula.text.folding import clusters, search_pieces, search_words

MIN_QUOTED_WORDS = 3
"""Fewer words in quotation marks are a name, a title or a word that is spoken of."""
MAX_READINGS = 12
"""How many ends of one quotation are tried where its closing mark may also be an apostrophe."""

_PAIRS = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    "«": "»",
    "‹": "›",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
    "｢": "｣",
    "‚": "‘’",
    "‛": "’",
    "‘": "’",
    '"': '"',
    "＂": "＂",
    "'": "'",
    # The marks of Sweden and Finland, and the German use of guillemets.
    "”": "”",
    "’": "’",
    "»": "«»",
    "›": "‹›",
}
"""Each mark that opens a quotation, with those that close it."""
_ALSO_CLOSES = {"“": '"', '"': "”", "‘": "'", "'": "’", "„": '"'}
"""What closes it if nothing else does: typewriter marks and printed ones are often mixed."""
_BOTH_WAYS = frozenset("\"＂'”’»›")
"""Marks that may close a quotation as well: they open one only where a word begins."""
_APOSTROPHES = frozenset("'’‘‚‛")
"""Marks that may be an apostrophe, or close with one."""
_ELIDED = re.compile(
    r"(?:em|tis|twas|twere|twill|twould|til|till|cause|bout|round|cos|tween|neath|gainst|n|d|s|t)\b"
    r"|\d\ds?\b",
    re.IGNORECASE,
)
"""What an apostrophe begins: 'tis, 'em, the '90s."""
_ALSO_A_WORD = re.compile(r"(?:till|cause|bout|round)\b", re.IGNORECASE)
"""Those of them that are words without an apostrophe, too, so that a quotation may begin there."""
_MAY_BE_ELIDED = re.compile(r"(?:s|x|z|in|\bo|\bth|\ban)\Z", re.IGNORECASE)
"""What an apostrophe at the end of a word may follow."""
_BEFORE_OPENING = re.compile(r"[\s(\[{<>|/*_~—–―\-=:;,.!?“„«\"‘'「『。，、：；（]")
_AFTER_CLOSING = re.compile(r"[\s)\]}<>|/*_~—–―\-=:;,.!?…”»\"’'」』。，、：；）\[]")
_UNDECIDED = re.compile(rf"[{re.escape(''.join(_PAIRS))}]\w*\Z")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_BLOCK = re.compile(r"(?m)(?:^[ ]{0,3}>.*(?:\n|\Z))+")
_BLOCK_PREFIX = re.compile(r"(?m)^[ ]{0,3}(?:>[ ]?)+")
_ATTRIBUTION = re.compile(r"\n\s*(?:[—–―]|--?)\s*[^\n]*\s*\Z")
"""A last line of a block quotation that names its author or its place."""
_MARKUP = re.compile(r"[*_`]+|<br\s*/?>|(?<=\s)\\(?=\s)")
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&#39;": "'", "&nbsp;": " "}


@dataclass(frozen=True, slots=True)
class QuotationReading:
    """One way to read where a quotation ends.

    Attributes:
        inner: The characters of the answer between the marks.
        end: The end of the quotation, with its closing mark.
        text: What is quoted, without Markdown, citations and marks of a block.
    """

    inner: tuple[int, int]
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A quotation in an answer.

    Attributes:
        start: The character of the answer at which it begins, with its opening mark.
        readings: Where it may end; the first is the most likely one.
        is_block: Whether it is a block quotation of Markdown.
        is_nested: Whether it is inside another quotation.
    """

    start: int
    readings: tuple[QuotationReading, ...]
    is_block: bool = False
    is_nested: bool = False

    @property
    def end(self) -> int:
        """The end of its first reading."""
        return self.readings[0].end


def find_quoted(text: str) -> list[QuotedText]:
    """Return the quotations of at least three words in an answer, in order.

    One inside another follows that one; it counts if the outer one is not in the book.
    """
    quoted: list[QuotedText] = []
    position = 0
    for start, end, is_block in _regions(text):
        # A quotation that began before may reach into this region.
        if is_block:
            quoted += _read_block(text, start, end)
        else:
            first = max(start, position)
            found = list(_read_marks(text, first, end))
            quoted += found
            position = max([position, *(each.end for each in found)])
    return [each for each in quoted if each.readings]


def find_open(text: str) -> int:
    """Return from where on the beginning of an answer can't be shown before more of it is written.

    It is the start of the first quotation of the last paragraph, of a block quotation that may go
    on, or of a quotation that is not closed; the length of the text if nothing has to wait.
    """
    start = max([match.end() for match in _PARAGRAPH_END.finditer(text)], default=0)
    open_from = _first_mark(text, start, len(text), is_written=False)
    quoted = [each for each in find_quoted(text) if not each.is_nested and not each.is_block]
    # What nothing closes may be closed in any later paragraph, unless another quotation follows.
    if quoted and quoted[-1].readings[0].inner[1] == quoted[-1].end:
        open_from = min(open_from, quoted[-1].start)
    for block in _BLOCK.finditer(text):
        if block.end() >= start:
            open_from = min(open_from, block.start())
    # What follows a mark says whether it is an apostrophe, as in 'tis, and may still be written.
    if undecided := _UNDECIDED.search(text):
        open_from = min(open_from, undecided.start())
    # A line may still become a block quotation, or a blank line.
    last_line = text.rfind("\n") + 1
    if not text[last_line:].strip() and last_line < len(text):
        open_from = min(open_from, last_line)
    return open_from


def count_quoted_words(text: str) -> int:
    """Return how many words a quotation has; two letters of a script without spaces are one."""
    solid = sum(len(clusters(piece)) for piece, is_solid in search_pieces(text) if is_solid)
    return max(len(search_words(text)), solid // 2)


def _regions(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield block quotations and the text between them, in order."""
    at = 0
    for block in _BLOCK.finditer(text):
        if at < block.start():
            yield at, block.start(), False
        yield block.start(), block.end(), True
        at = block.end()
    if at < len(text):
        yield at, len(text), False


def _read_block(text: str, start: int, end: int) -> list[QuotedText]:
    """Return a block quotation, with and without a last line that names its author."""
    cleaned = _BLOCK_PREFIX.sub(lambda match: " " * len(match[0]), text[start:end])
    attribution = _ATTRIBUTION.search(cleaned.rstrip())
    readings = []
    for until in (len(cleaned), attribution.start() if attribution else 0):
        first, last = _strip_range(cleaned, 0, until)
        inner = _clean(_strip_marks(cleaned[first:last]))
        if count_quoted_words(inner) >= MIN_QUOTED_WORDS:
            readings.append(QuotationReading((start + first, start + last), end, inner))
    nested = _read_marks(text, start, end, is_nested=bool(readings))
    block = [QuotedText(start, tuple(readings), is_block=True)] if readings else []
    return [*block, *nested]


def _strip_marks(text: str) -> str:
    """Return a block quotation without marks around all of it."""
    stripped = CITATION.sub("", text).strip()
    if len(stripped) > 1 and stripped[-1] in _PAIRS.get(stripped[0], ""):
        inside = stripped[1:-1]
        if stripped[0] not in inside and stripped[-1] not in inside:
            return inside
    return text


def _read_marks(
    text: str, start: int, end: int, *, is_nested: bool = False
) -> Iterator[QuotedText]:
    """Yield what is in quotation marks in a stretch of an answer."""
    at = start
    while at < end:
        at = _first_mark(text, at, end)
        if at >= end:
            return
        readings = [
            reading
            for closing, length in _closings(text, at, end)
            if (reading := _reading(text, at, closing, length)) is not None
        ]
        long = [r for r in readings if count_quoted_words(r.text) >= MIN_QUOTED_WORDS]
        if not readings:
            at += 1
            continue
        is_apostrophe = text[at] in _APOSTROPHES
        if long:
            yield QuotedText(at, tuple(long[:MAX_READINGS]), is_nested=is_nested)
            inner = long[0].inner
            yield from _read_marks(text, *inner, is_nested=True)
            at = max(long[0].end, at + 1)
        elif is_apostrophe:
            at = max(readings[0].end, at + 1)
        else:
            yield from _read_marks(text, *readings[0].inner, is_nested=True)
            at = max(readings[0].end, at + 1)


def _first_mark(text: str, start: int, end: int, *, is_written: bool = True) -> int:
    """Return where the first quotation may begin; `end` if none does."""
    for at in range(start, end):
        if text[at] not in _PAIRS:
            continue
        if _opens(text, at):
            return at
        # Before a word as 'round, it begins one if something closes it, or still may.
        may_open = _ALSO_A_WORD.match(text, at + 1) and _opens(text, at, may_be_elided=True)
        if may_open and (not is_written or _is_closed(text, at, end)):
            return at
    return end


def _is_closed(text: str, at: int, end: int) -> bool:
    """Return whether a mark before a word as 'round is closed, so that it is no apostrophe."""
    paragraph = _PARAGRAPH_END.search(text, at, end)
    closings = _apostrophe_closings(text, at, paragraph.start() if paragraph else end)
    # What closes it can be no apostrophe itself, as that of "the dogs' tails".
    return bool(closings) and not _MAY_BE_ELIDED.search(
        text, max(at, closings[-1] - 4), closings[-1]
    )


def _opens(text: str, at: int, *, may_be_elided: bool = False) -> bool:
    """Return whether a mark begins a quotation, and closes none."""
    mark, following = text[at], text[at + 1 : at + 2]
    before = text[at - 1] if at else " "
    if following.isspace() and mark not in "«‹":  # French has a space inside its guillemets
        return False
    if mark in _BOTH_WAYS and not _begins_word(mark, before, following):
        return False
    if mark not in _APOSTROPHES:
        return True
    if not following or not _BEFORE_OPENING.match(before):
        return False
    # Before a word as 'round it is an apostrophe, unless `may_be_elided`.
    return mark == "‘" or may_be_elided or not _ELIDED.match(text, at + 1)


def _begins_word(mark: str, before: str, following: str) -> bool:
    """Return whether a mark that may also close a quotation stands before a word."""
    if mark in "»›":
        return before.isspace() or before in "([—–"
    if not _BEFORE_OPENING.match(before):
        return False
    # A closing mark after the end of a sentence, as in `... gone." He`, follows no space.
    if before in ".!?,;:…":
        return mark == '"' and bool(following)
    return True


def _closings(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where a quotation may end, most likely first, and the length of its closing mark."""
    mark = text[at]
    paragraph = _PARAGRAPH_END.search(text, at, end)
    until = paragraph.start() if paragraph else end
    if mark in _APOSTROPHES:
        # Only this mark is no apostrophe, so that it may open a quotation of several paragraphs.
        last = end if mark == "‘" else until
        yield from ((place, 1) for place in _apostrophe_closings(text, at, last))
        return
    closing = _find_closing(text, at, until, _PAIRS[mark])
    if closing < 0 and paragraph:
        # A quotation of several paragraphs: each begins with the mark, the last one ends with one.
        after = _find_closing(text, at, end, _PAIRS[mark])
        opening = next(
            (place for place in range(until, end) if text[place] == mark and _opens(text, place)),
            end,
        )
        if 0 <= after < opening:
            closing = after
    if closing < 0 and mark in _ALSO_CLOSES:
        closing = _find_closing(text, at, until, _ALSO_CLOSES[mark])
    # One that nothing closes reaches to the end of the paragraph.
    yield (closing, 1) if closing >= 0 else (until, 0)


def _find_closing(text: str, at: int, end: int, closers: str) -> int:
    """Return where a closing mark is, past quotations of the same marks inside; -1 if none is."""
    mark = text[at]
    depth = 0
    first = -1
    for place in range(at + 1, end):
        character = text[place]
        if character == mark and mark not in closers:
            depth += 1
        elif character in closers:
            if mark in closers and text[place - 1].isspace() and mark not in "»›":
                continue
            if first < 0:
                first = place
            if not depth:
                return place
            depth -= 1
    return first


def _apostrophe_closings(text: str, at: int, until: int) -> list[int]:
    """Return where a quotation in single marks may end, before another one begins."""
    closers = _PAIRS[text[at]] + _ALSO_CLOSES.get(text[at], "")
    places = []
    for place in range(at + 1, until):
        if text[place] in _PAIRS and text[place] in _APOSTROPHES and _opens(text, place):
            break
        if text[place] not in closers or text[place - 1].isspace():
            continue
        if place + 1 < len(text) and not _AFTER_CLOSING.match(text[place + 1]):
            continue
        after = text[place + 1 : place + 3].strip()
        # After an s, and in goin’, a mark is mostly an apostrophe, unless punctuation follows.
        ends_phrase = not after or after[0] in ".,;:!?[()—–"
        if ends_phrase or not _MAY_BE_ELIDED.search(text, max(at, place - 4), place):
            return [place]
        places.append(place)
    return places


def _reading(text: str, at: int, closing: int, length: int) -> QuotationReading | None:
    first, last = _strip_range(text, at + 1, closing)
    if first >= last:
        return None
    return QuotationReading((first, last), closing + length, _clean(text[first:last]))


def _strip_range(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a range without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _clean(text: str) -> str:
    """Return a quotation without what is no part of it: Markdown, citations, marks of a block."""
    text = "\n".join(map(str.strip, _BLOCK_PREFIX.sub("", text).split("\n")))
    text = CITATION.sub("", text)
    text = _MARKUP.sub(lambda match: "\n" if match[0][0] == "<" else "", text)
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text.strip()
