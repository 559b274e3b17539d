"""Find what is quoted in a text: between marks of many styles, or after a dash.

An apostrophe is no mark, and words between marks that nobody says, such as a title, are no
quotation. A mark is read by what stands around it, and a quotation ends with its paragraph at the
latest: a mark that was forgotten can't turn the rest of a book around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabula_graphs.speech.values import DASH, MARKS, Quotation
from fabula_graphs.speech.words import SpeechWords

_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")
_CLOSES = {
    "“": "”“",
    "„": "“”„",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    '"': '"',
    "'": "'",
}
"""What may close a quotation that a mark opens."""
_MARKS = re.compile(f"[{''.join(_CLOSES)}’」』]")
_SINGLE = re.compile(r"(?:^|(?<=[\s—(\"]))'(?=[^\W\d_])[^'\n]*(?:\n[^'\n]+)*[.!?,]'")
"""Finds a quotation between straight single marks."""
_EITHER = '"”'
"""Marks that may open and close."""
_BEFORE_OPENING = re.compile(r"[\s(\[{—–―\-_*/“‘\"'«„:,]")
_ELISION = re.compile(
    r"['’‘](?:tis|twas|twere|twill|twould|tisn|twasn|em|cause|round|bout|gainst|neath|til|till|im|"
    r"er|e|n|s|d|ll|re|ve|m|t|un|stead|spect|most|way|fore|cross|pon|twixt|tween|prentice|"
    r"\d\ds?)\b",
    re.IGNORECASE,
)
_BEFORE_GUILLEMET = {
    "«": re.compile(r"(?<![^\s(—–])«"),
    "»": re.compile(r"(?<![^\s(—–])»(?=\w)"),
}
"""Find the guillemets that open quotations: French ones have a space inside."""
_SENTENCE_MARK = ".!?,;:…—–-"
_PARAGRAPH_DASH = re.compile(r"[ \t_*]*(?:[—–―]|--|-(?=[ \t]))[ \t]*(?=\S)")
_INNER_DASH = re.compile(r"(?:(?<=[\s.,!?…;:»”\"])|(?<=\w))(?:[—–―]|--|(?<=\s)-(?=\s))")
MIN_DASHES = 2
"""Paragraphs that begin with a dash, from which a text writes dialogues so."""
MAX_LABEL_WORDS = 4
"""Words between marks without a mark of a sentence that may be a title or a word as a word."""
MAX_HEADING_WORDS = 3
"""Words of a heading within a tale."""


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the paragraphs of a text as (start, end) without the white space around them."""
    found = []
    for match in _PARAGRAPH.finditer(text):
        start, end = match.span()
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start < end:
            found.append((start, end))
    return found


def find_quotations(text: str, words: SpeechWords) -> list[Quotation]:
    """Return the quotations of a text in the order of their starts.

    Quotations inside others have a `depth`. What a paragraph leaves open, the next one carries on
    if it begins with the same mark; each paragraph has a quotation of its own then.
    """
    whole = paragraphs(text)
    reader = _Reader(text, words, whole)
    found: list[Quotation] = []
    open_mark = ""
    turn = 0
    for start, end in whole:
        turn += 1
        if reader.uses_dashes and (dash := _PARAGRAPH_DASH.match(text, start, end)):
            found += reader.read_dashes(start, dash.end(), end, turn)
            open_mark = ""
            continue
        in_paragraph, left_open = reader.read_marks(start, end)
        # A tale goes on after a heading within it: "II", "Chapter IV."
        if open_mark and not in_paragraph and len(text[start:end].split()) <= MAX_HEADING_WORDS:
            continue
        carries_on = bool(open_mark) and text.startswith(open_mark, start)
        if carries_on:
            turn = found[-1].turn if found else turn
        previous = start
        for span in in_paragraph:
            quotation = Quotation(span.start, span.end, MARKS, turn, span.depth)
            if carries_on and span.start == start:
                quotation = replace(quotation, continues=True)
            elif not reader.is_said(span, start, previous):
                continue
            if not span.depth:
                previous = span.end
            found += reader.split_turns(quotation) if words.turns_inside_marks else [quotation]
        open_mark = left_open
    return sorted(found, key=lambda quotation: (quotation.start, -quotation.end))


@dataclass(slots=True)
class _Span:
    """A quotation between marks as it is read; `closed` if its closing mark is there."""

    mark: str
    start: int
    end: int = -1
    depth: int = 0
    closed: bool = False


class _Reader:
    """Reads the marks of one text, in the style that this text has."""

    def __init__(self, text: str, words: SpeechWords, whole: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._words = words
        opening = len(_BEFORE_GUILLEMET["«"].findall(text))
        reversed_ = len(_BEFORE_GUILLEMET["»"].findall(text))
        self._is_reversed = reversed_ > opening
        self._has_single = bool(_SINGLE.search(text))
        dashes = [start for start, end in whole if _PARAGRAPH_DASH.match(text, start, end)]
        # A list has hyphens, too: they count only where the language writes dialogues so.
        if not words.dash_dialogue:
            dashes = [start for start in dashes if text[start] != "-" or text[start + 1] == "-"]
        self.uses_dashes = len(dashes) >= (1 if words.dash_dialogue else MIN_DASHES)

    def _around(self, at: int) -> tuple[str, str]:
        before = self._text[at - 1] if at else ""
        return before, self._text[at + 1 : at + 2]

    def read_marks(self, start: int, end: int) -> tuple[list[_Span], str]:
        """Return the quotations of a paragraph, and the mark of one that it leaves open, or ''."""
        text = self._text
        stack: list[_Span] = []
        found: list[_Span] = []
        for match in _MARKS.finditer(text, start, end):
            at, mark = match.start(), match[0]
            role = self._role(at, mark, stack, start, end)
            if role == "open":
                if any(span.mark == mark for span in stack):
                    self._break_off(stack, mark, at, found)
                stack.append(_Span(mark, at, depth=len(stack)))
            elif role == "close":
                # What was opened inside and not closed may be an apostrophe.
                while mark not in _CLOSES[stack[-1].mark]:
                    stack.pop()
                span = stack.pop()
                span.end, span.closed = at + 1, True
                found.append(span)
        left_open = self._end_open(stack, found, end)
        found.sort(key=lambda span: span.start)
        return found, left_open

    def _end_open(self, stack: Sequence[_Span], found: list[_Span], end: int) -> str:
        """End what a paragraph leaves open, and return its mark, or ''."""
        if not stack:
            return ""
        stack[0].end = end
        found.append(stack[0])
        return stack[0].mark

    def _break_off(self, stack: list[_Span], mark: str, at: int, found: list[_Span]) -> None:
        """End a quotation whose mark is opened anew in its paragraph: its closing mark is lost."""
        while stack[-1].mark != mark:
            stack.pop()
        span = stack.pop()
        span.end = at
        while span.end > span.start and self._text[span.end - 1].isspace():
            span.end -= 1
        found.append(span)

    def _role(self, at: int, mark: str, stack: Sequence[_Span], start: int, end: int) -> str:
        """Return whether a mark opens or closes a quotation, or '' if it does neither."""
        before, after = self._around(at)
        if at == start:
            before = ""
        closes = any(mark in _CLOSES[span.mark] for span in stack)
        if mark in "‘’'":
            return self._single_role(at, mark, stack, closes, before, after, end)
        if mark in _EITHER:
            is_new = mark == '"' and bool(before) and before.isspace()
            if closes and not (is_new and _opens(before, after)):
                return "close"
            return "open" if _opens(before, after) else ""
        if mark == "“":
            return "close" if any(span.mark == "„" for span in stack) else "open"
        if mark in "«»":
            return "open" if (mark == "»") == self._is_reversed else "close" if closes else ""
        if mark in "‹›":
            return "close" if closes else "open"
        if mark in "」』":
            return "close" if closes else ""
        return "" if mark == "‚" and (not after or after.isspace()) else "open"

    def _single_role(
        self,
        at: int,
        mark: str,
        stack: Sequence[_Span],
        closes: bool,
        before: str,
        after: str,
        end: int,
    ) -> str:
        """The role of a single mark, which may be an apostrophe."""
        if before.isalnum() and after.isalnum():
            return ""
        if mark == "'" and not self._has_single and not any(span.mark in '"“„«»' for span in stack):
            return ""
        if mark == "‘" and any(span.mark == "‚" for span in stack):
            return "close"
        if mark in "‘'" and _opens(before, after):
            if mark == "'" and closes and not before:
                return ""
            return "" if _ELISION.match(self._text, at) and mark == "'" else "open"
        if mark == "‘" or not closes:
            return ""
        if before in _SENTENCE_MARK + '”"*_)»' or before in "?!":
            return "close"
        if before.isspace():
            return "close" if not after.isalpha() else ""
        return "close" if not self._is_closed_later(at, mark, end) else ""

    def _is_closed_later(self, at: int, mark: str, end: int) -> bool:
        """Whether a surer mark closes what this one may close: this is an apostrophe then."""
        for match in re.finditer("[‘'’]", self._text[at + 1 : end]):
            place = at + 1 + match.start()
            before, after = self._around(place)
            if before.isalnum() and after.isalnum():
                continue
            if match[0] == mark and before in _SENTENCE_MARK and not after.isalnum():
                return True
            if match[0] in "‘'" and _opens(before, after) and not _ELISION.match(self._text, place):
                return False
        return False

    def is_said(self, span: _Span, paragraph: int, previous: int) -> bool:
        """Return whether somebody says what is between marks: it is no title, and no mere word.

        Args:
            span: What is between marks.
            paragraph: Where its paragraph starts.
            previous: Where the quotation before it in its paragraph ends; `paragraph` if there is
                none.
        """
        text = self._text
        inner = text[span.start + 1 : span.end - (1 if span.closed else 0)].strip()
        if not any(char.isalpha() for char in inner):
            return False
        if span.depth or span.start == paragraph:
            return True
        before = text[paragraph : span.start].rstrip(" \t\n_*(")
        if not before:
            return True
        # A comma or a stop before it, or a quotation that ends there, lets a new one begin.
        ends_clause = before[-1] in ".!?…,:;”\"’'»“„—–-"
        count = len(inner.split())
        first = next(char for char in inner if char.isalpha())
        if first.islower():
            between = text[previous : span.start]
            carries_on = (
                previous > paragraph
                and not re.search(r"[.!?]\s", between)
                and (self._has_verb(between) or before[-1] in ",;:")
            )
            if carries_on or self._is_named_after(span.end, inner):
                return True
            return self._is_tagged(before) and count > MAX_LABEL_WORDS
        if self._is_named_after(span.end, inner):
            return True
        if ends_clause:
            has_mark = inner[-1] in ".!?,;:…—–-"
            return has_mark or count > MAX_LABEL_WORDS or self._is_tagged(before)
        if inner[-1] in "!?…" or inner.endswith("..."):
            return count > 1 or self._is_tagged(before)
        # Some printers put the comma or stop of the sentence around it before the mark.
        return self._is_tagged(before) and count > 1

    def _is_tagged(self, before: str) -> bool:
        """Whether what precedes ends with a verb of speech."""
        last = [word.casefold() for word in re.findall(r"[^\W\d_]+", before[-80:])[-4:]]
        return any(map(self._words.is_verb, last))

    def _has_verb(self, text: str) -> bool:
        return any(
            self._words.is_verb(word.casefold()) for word in re.findall(r"[^\W\d_]+", text)[:8]
        )

    def _is_named_after(self, end: int, inner: str) -> bool:
        """Whether "said Jo" follows what is between marks."""
        if inner[-1] not in ",!?…—–-.":
            return False
        after = re.split(r"[.!?;:\"“‘«]", self._text[end : end + 60].lstrip(" ,"))[0]
        soon = [word.casefold() for word in re.findall(r"[^\W\d_]+", after)[:3]]
        verbs = [word for word in soon if self._words.is_verb(word)]
        return bool(verbs) and soon[0] not in self._words.prepositions

    def split_turns(self, quotation: Quotation) -> list[Quotation]:
        """Return the turns of a dialogue that stands between one pair of marks, as in French."""
        text = self._text
        starts = [quotation.start]
        starts += [
            match.end()
            for match in re.finditer(r"[.!?…]\s*(?=[—–]\s)", text[: quotation.end])
            if match.start() > quotation.start
        ]
        if len(starts) == 1:
            return [quotation]
        ends = [*starts[1:], quotation.end]
        turns = []
        for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
            piece = text[start:end].rstrip()
            turns.append(replace(quotation, start=start, end=start + len(piece)))
            if row:
                turns[-1] = replace(turns[-1], form=DASH)
        return turns

    def read_dashes(self, start: int, first: int, end: int, turn: int) -> list[Quotation]:
        """Return the pieces of a paragraph that begins with a dash: speech and narration in turn.

        After an inner dash the narrator speaks if a verb of speech follows soon, or a small letter
        where a sentence or its comma ended; after the next dash somebody speaks again.
        """
        text = self._text
        cuts = [match for match in _INNER_DASH.finditer(text, first, end) if match.start() > first]
        pieces: list[tuple[int, int]] = []
        begin, is_speech = start, True
        for cut in cuts:
            if is_speech and self._is_narration(cut.end(), end):
                pieces.append((begin, cut.start()))
                is_speech = False
            elif not is_speech and cut.start() > first:
                begin, is_speech = cut.start(), True
        if is_speech:
            pieces.append((begin, end))
        found = []
        for piece_start, piece_end in pieces:
            stripped = text[piece_start:piece_end].rstrip()
            if any(char.isalpha() for char in stripped):
                found.append(Quotation(piece_start, piece_start + len(stripped), DASH, turn))
        return [piece for quotation in found for piece in self._cut_tags(quotation)]

    def _cut_tags(self, quotation: Quotation) -> Iterator[Quotation]:
        """Cut out "dit Jean" between commas, or at the end: French has no dash before it."""
        text = self._text
        begin = quotation.start
        for match in self._words.inner_tag.finditer(text, quotation.start, quotation.end):
            if match.start() < begin:
                continue
            yield replace(quotation, start=begin, end=match.start("cut"))
            begin = match.end()
            while begin < quotation.end and text[begin].isspace():
                begin += 1
        if any(char.isalpha() for char in text[begin : quotation.end]):
            yield replace(quotation, start=begin)

    def _is_narration(self, at: int, end: int) -> bool:
        """Whether the narrator speaks after an inner dash."""
        rest = self._text[at:end].lstrip()
        soon = [word.casefold() for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", rest[:80])]
        if any(self._words.is_verb(word) for word in soon[:4]):
            return True
        before = self._text[:at].rstrip().rstrip("—–―-").rstrip()
        return rest[:1].islower() and before[-1:] in ",!?….»”"


def _opens(before: str, after: str) -> bool:
    """Whether what stands around a mark lets it open a quotation."""
    return (
        (not before or bool(_BEFORE_OPENING.match(before)))
        and bool(after)
        and not (after.isspace() or after in ",;:)]}")
    )
