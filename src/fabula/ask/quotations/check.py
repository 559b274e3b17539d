"""Verify the quotations of an answer: compare each with the text of the documents asked.

`find_quoted` finds what an answer quotes, the store returns the chunks in which it may be, and
`find_matches` compares. Only chunks count: what a summary or a description says is not the book's
text. The question counts for nothing either.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from fabula.ask.answer import CITATION, AnswerPieces, ShorterContext, escape_citations
from fabula.ask.offline_answer import quotations_of
from fabula.ask.query import Quotations
from fabula.ask.quotations.checked import CheckedAnswer, CheckedQuotation, QuotationStatus
from fabula.ask.quotations.marks import QuotationReading, QuotedText, find_open, find_quoted
from fabula.ask.quotations.match import (
    PrintedStretch,
    QuotationMatch,
    find_closest,
    find_matches,
    normalize,
    split_parts,
)
from fabula.ask.quotations.weak_citations import find_weak_citations
from fabula.errors import StoreError
from fabula.graph.hits import Filters, Hit, Passage, Quote, locate
from fabula.graph.structure import TextStructure
from fabula.models import Reply
from fabula.text.folding import search_words

if TYPE_CHECKING:
    from fabula.ask.protocols import AnswerReader

LOG = logging.getLogger("fabula")

PHRASE_WORDS = 6
"""Words of a phrase that is searched for: a phrase of this length seldom stands in a book twice."""
MAX_WHOLE_WORDS = 12
"""Up to this many words a quotation is searched for as one phrase."""
WORDS_PER_PHRASE = 40
"""In a long quotation one phrase is searched for in about this many words; a chunk and its
neighbours are longer, so all of the quotation is read."""
MAX_PHRASES = 6
"""Phrases of a quotation, if it is not longer than this many times `WORDS_PER_PHRASE`: where a word
is printed otherwise, another phrase finds its place."""
MAX_SHORT_WORDS = 14
"""Up to this many words a quotation is also searched for with one or two words left out."""
_SENTENCE_END = re.compile(r"[.!?…。！？]\s+\S|\n\s*\n")


@dataclass(frozen=True, slots=True)
class _Found:
    """A quotation, how it is read, and its places; none if it is not in the books."""

    quoted: QuotedText
    reading: QuotationReading
    matches: tuple[QuotationMatch, ...]


class QuotationCheck:
    """Verifies the quotations of one answer; `answer` makes it, and the stream uses it.

    Attributes:
        setting: What is done with quotations.
    """

    def __init__(
        self,
        setting: Quotations,
        store: AnswerReader,
        filters: Filters,
        context: Sequence[Passage],
        structures: Mapping[str, TextStructure],
    ) -> None:
        """Remember where to look.

        Args:
            setting: What to do with quotations.
            store: The graph.
            filters: The documents that are asked.
            context: The passages that the answer is given to read.
            structures: The structures of their documents.
        """
        self.setting = setting
        self._store = store
        # Only chunks are the text of a book, whatever kinds of passages were asked for.
        self._filters = replace(filters, kinds=(), aspects=(), lowest=0, highest=99)
        self._context = [*context]
        self._structures = dict(structures)
        self._repaired: list[CheckedQuotation] = []

    def hold_back(self, pieces: AnswerPieces) -> AnswerPieces:
        """Return the pieces as they may be shown.

        If the setting is "strict", a paragraph is held back from its first quotation on, until all
        of it is written and its quotations are verified and repaired.
        """
        return self._repair_pieces(pieces) if self.setting == "strict" else pieces

    def finish(
        self,
        text: str,
        context: Sequence[Passage],
        quotes: Sequence[Quote] = (),
        stripped: int = 0,
    ) -> CheckedAnswer:
        """Return the quotations and the weak citations of an answer that is written.

        Args:
            text: The answer.
            context: The passages that it was given to read.
            quotes: Without a chat model, the passages that it consists of.
            stripped: How many characters of white space were before the text.
        """
        if self.setting == "off":
            return CheckedAnswer()
        if quotes:
            return CheckedAnswer(tuple(quotations_of(text, quotes)))
        weak = tuple(find_weak_citations(text, context))
        if self.setting == "strict":
            return CheckedAnswer(tuple(self._read_repaired(text, stripped)), weak)
        try:
            return CheckedAnswer(tuple(self.check(text, context)), weak)
        except StoreError as error:
            # The answer is paid for, and must not be lost because it can't be verified now.
            LOG.warning("The quotations of an answer could not be verified: %s", error)
            return CheckedAnswer(tuple(_list_unchecked(text)), weak)

    def check(self, text: str, context: Sequence[Passage]) -> list[CheckedQuotation]:
        """Return the quotations of a text, compared with the documents asked.

        Raises:
            StoreError: The graph can't be read.
        """
        return [checked for _, checked in self._check(text, find_quoted(text), context)]

    def _check(
        self, text: str, quoted: Sequence[QuotedText], context: Sequence[Passage]
    ) -> list[tuple[_Found, CheckedQuotation]]:
        if not quoted:
            return []
        numbers = {
            int(number) for group in CITATION.findall(text) for number in re.findall(r"\d+", group)
        }
        chunks = [each.hit.id for each in context if each.number in numbers]
        hits = self._store.find_quoted(
            self._filters, chunks, [phrase for each in quoted for phrase in _phrases_of(each)]
        )
        stretches = _join(hits)
        found = [_match(each, stretches) for each in quoted]
        if missing := [each for each in found if not each.matches]:
            further = self._find_resembling(missing)
            hits = [*{hit.id: hit for hit in (*hits, *further)}.values()]
            stretches = _join(hits)
            found = [each if each.matches else _match(each.quoted, stretches) for each in found]
        found = [each for each in _outermost(found) if not _is_title(each, hits, context)]
        results = []
        places = _Places(hits, context, self._locate)
        for each in found:
            results.append((each, places.describe(text, each, stretches)))
        return results

    def _find_resembling(self, missing: Sequence[_Found]) -> list[Hit]:
        """Return chunks in which quotations may be whose words are printed otherwise."""
        readings = [reading for each in missing for reading in each.quoted.readings[:2]]
        phrases = [_shortened_phrases(reading.text) for reading in readings]
        halves = [[[half]] for reading in readings for half in _halves(reading.text)]
        texts = [reading.text for reading in readings]
        searches = [each for each in (*phrases, *halves) if each]
        return self._store.find_quoted(self._filters, (), searches, texts)

    def _locate(self, hit: Hit, spans: Sequence[tuple[int, int]]) -> Hit:
        if hit.document not in self._structures:
            collection = self._filters.collection
            self._structures |= self._store.structures(collection, [hit.document])
        relative = [(start - hit.start, end - hit.start) for start, end in spans]
        return locate(hit, self._structures, relative)

    def _repair_pieces(self, pieces: AnswerPieces) -> AnswerPieces:
        written = ""
        position = shown = 0
        is_held = False
        last = Reply("")
        try:
            for piece in pieces:
                if isinstance(piece, Passage):
                    self._context.append(piece)
                    yield piece
                    continue
                if isinstance(piece, ShorterContext):
                    self._context = list(piece.passages)
                    yield piece
                    continue
                if not piece.text:
                    # A step of a mode that reads on has ended, or the reply has.
                    yield piece
                    continue
                last = piece
                written += piece.text
                # What is held back waits for the end of its paragraph.
                if is_held and "\n" not in piece.text:
                    continue
                ready = max(position, find_open(written))
                is_held = ready < len(written)
                if ready > position:
                    text = self._repair(written, position, ready, shown)
                    position, shown = ready, shown + len(text)
                    yield replace(piece, text=text)
            if position < len(written):
                text = self._repair(written, position, len(written), shown)
                # The last piece says whether the model's reply was cut off.
                yield replace(last, text=text)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()

    def _repair(self, written: str, position: int, ready: int, shown: int) -> str:
        """Return characters `position` to `ready` of an answer as shown; keep its quotations."""
        quoted = [each for each in find_quoted(written[:ready]) if each.start >= position]
        if not quoted:
            return written[position:ready]
        edits: list[tuple[int, int, str]] = []
        results = self._check(written[:ready], quoted, self._context)
        kept = []
        for found, checked in results:
            new = _edits_of(written, found, checked)
            edits += new
            kept.append((found, checked, bool(new)))
        text, move = _apply(written, position, ready, edits)
        for found, checked, is_changed in kept:
            start, end = move(found.quoted.start), move(found.reading.end)
            change: Literal["", "repaired", "unmarked"] = ""
            if is_changed:
                change = "unmarked" if checked.status == "not found" else "repaired"
            inner = text[move(found.reading.inner[0]) : move(found.reading.inner[1])]
            self._repaired.append(
                replace(
                    checked,
                    text=_plain(inner) if change == "repaired" else checked.text,
                    start=shown + start,
                    end=shown + end,
                    change=change,
                    original=checked.text if change == "repaired" else "",
                )
            )
        return text

    def _read_repaired(self, text: str, stripped: int) -> Iterator[CheckedQuotation]:
        """Yield the quotations of the part of a repaired answer that was read."""
        for each in self._repaired:
            start, end = each.start - stripped, each.end - stripped
            if start < len(text):
                yield replace(each, start=max(0, start), end=min(end, len(text)))


class _Places:
    """Says where the matches of quotations are, and whether that is the place that is cited."""

    def __init__(
        self,
        hits: Sequence[Hit],
        context: Sequence[Passage],
        locate: Callable[[Hit, Sequence[tuple[int, int]]], Hit],
    ) -> None:
        self._hits = hits
        self._context = {passage.number: passage.hit for passage in context}
        self._locate = locate

    def describe(
        self, text: str, found: _Found, stretches: Sequence[PrintedStretch]
    ) -> CheckedQuotation:
        """Return a quotation with its status and its place."""
        quoted, reading = found.quoted, found.reading
        cited = tuple(
            number
            for number in _cited_with(text, quoted.start, reading.end)
            if number in self._context
        )
        bare = CheckedQuotation(reading.text, quoted.start, reading.end, "not found", cited=cited)
        if not found.matches:
            closest = find_closest(reading.text, stretches)
            if closest is None:
                return bare
            hit = self._hit(closest.document, (closest.span,))
            return replace(bare, printed=closest.printed).place_at(hit, (closest.span,))
        at_place = [each for each in found.matches if self._is_cited(each, cited)]
        # The fewer differences the better; the first place in the text if they are equal.
        best = min(at_place or found.matches, key=lambda match: len(match.differences))
        status: QuotationStatus = "near" if best.differences else "exact"
        if cited and not at_place:
            status = "elsewhere"
        read = replace(
            bare,
            status=status,
            printed=" … ".join(best.printed),
            differences=tuple(best.differences),
        )
        return read.place_at(self._hit(best.document, best.spans), best.spans)

    def _is_cited(self, match: QuotationMatch, cited: Sequence[int]) -> bool:
        return any(
            hit.document == match.document
            and any(start < hit.end and end > hit.start for start, end in match.spans)
            for hit in map(self._context.__getitem__, cited)
        )

    def _hit(self, document: str, spans: tuple[tuple[int, int], ...]) -> Hit | None:
        for hit in self._hits:
            if hit.document == document and hit.start <= spans[0][0] < hit.end:
                return self._locate(hit, spans)
        return None


def _match(quoted: QuotedText, stretches: Sequence[PrintedStretch]) -> _Found:
    """Return a quotation as it is read with a place in the books; the longest such reading."""
    for reading in sorted(quoted.readings, key=lambda each: -len(each.text)):
        if matches := find_matches(normalize(reading.text), stretches):
            return _Found(quoted, reading, tuple(matches))
    return _Found(quoted, quoted.readings[0], ())


def _outermost(found: Sequence[_Found]) -> list[_Found]:
    """Return the quotations without those inside one that is in the books."""
    kept: list[_Found] = []
    covered = 0
    for each in found:
        if each.quoted.start < covered:
            continue
        kept.append(each)
        if each.matches:
            covered = max(covered, each.reading.end)
    return kept


def _is_title(found: _Found, hits: Sequence[Hit], context: Sequence[Passage]) -> bool:
    """Return whether what is in marks is the title of a document or of a section."""
    if found.quoted.is_block:
        return False
    words = search_words(found.reading.text)
    titles = {hit.title for hit in hits} | {passage.hit.title for passage in context}
    for hit in (*hits, *(passage.hit for passage in context)):
        titles.update(hit.section.split(" · "))
    return any(words == search_words(title) for title in titles)


def _join(hits: Sequence[Hit]) -> list[PrintedStretch]:
    """Return chunks that follow each other as one stretch, in text order."""
    stretches: list[PrintedStretch] = []
    texts: list[str] = []
    begin: Hit | None = None
    end = 0
    for hit in [*sorted(hits, key=lambda hit: (hit.document, hit.start)), None]:
        if begin and hit and hit.document == begin.document and hit.start == end:
            texts.append(hit.text)
            end = hit.end
            continue
        if begin:
            text = "".join(texts)
            stretches.append(PrintedStretch(begin.document, begin.start, begin.language, text))
        if hit:
            begin, texts, end = hit, [hit.text], hit.end
    return stretches


def _phrases_of(quoted: QuotedText) -> Iterator[list[list[str]]]:
    """Yield searches for phrases of a quotation, each with its only alternative."""
    longest = max(quoted.readings, key=lambda reading: len(reading.text))
    for reading in dict.fromkeys((quoted.readings[0], longest)):
        text = normalize(reading.text)
        for start, end in split_parts(text) or [(0, len(text))]:
            for phrase in _phrases(search_words(text[start:end])):
                yield [[phrase]]


def _phrases(words: Sequence[str]) -> Iterator[str]:
    """Yield phrases spread over some words."""
    if len(words) <= MAX_WHOLE_WORDS:
        yield " ".join(words)
        if len(words) < PHRASE_WORDS:
            return
        # A quotation may go over from one chunk to the next: then one half of it is in one of them.
        middle = len(words) // 2
        yield " ".join(words[:middle])
        yield " ".join(words[middle:])
        return
    number = max(MAX_PHRASES, len(words) // WORDS_PER_PHRASE)
    last = len(words) - PHRASE_WORDS
    for start in sorted({round(place * last / (number - 1)) for place in range(number)}):
        yield " ".join(words[start : start + PHRASE_WORDS])


def _shortened_phrases(text: str) -> list[list[str]]:
    """Return what is before and after each word, or each two words, of a short quotation."""
    words = search_words(text)
    if len(words) > MAX_SHORT_WORDS:
        return []
    alternatives = []
    # So a word that is printed otherwise is left out.
    for length in (1, 2):
        for at in range(len(words) - length + 1):
            before, after = words[:at], words[at + length :]
            if len(before) + len(after) >= 2:
                alternatives.append([" ".join(each) for each in (before, after) if each])
    return alternatives


def _halves(text: str) -> list[str]:
    """Return the ends of a short quotation, one of which is in one chunk."""
    words = search_words(text)
    if len(words) >= PHRASE_WORDS or len(words) < 3:
        return []
    middle = len(words) // 2
    return [" ".join(each) for each in (words[: max(2, middle)], words[middle:]) if len(each) > 1]


def _cited_with(text: str, start: int, end: int) -> list[int]:
    """Return the numbers cited in a quotation, next after it in its sentence, or last before it."""
    inside = CITATION.findall(text[start:end])
    if not inside:
        after = CITATION.search(text, end)
        between = text[end : after.start()] if after else ""
        if after and (not between.strip(" \n.!?…") or not _SENTENCE_END.search(between)):
            inside = _groups_from(text, after.start())
    if not inside:
        # A block quotation is mostly introduced by a line that ends with a colon.
        before = text[:start].rstrip() if text[:start].rstrip().endswith(":") else text[:start]
        ends = (match.end() for match in _SENTENCE_END.finditer(f"{before}x"))
        begin = max(ends, default=0)
        inside = CITATION.findall(before[max(0, begin - 1) :])[-1:]
    return [int(number) for group in inside for number in re.findall(r"\d+", group)]


def _groups_from(text: str, start: int) -> list[str]:
    """Return citations that follow each other, as [1][2]."""
    groups = []
    while match := CITATION.match(text, start):
        groups.append(match[1])
        start = match.end()
        while text[start : start + 1] in (" ", ",") and CITATION.match(text, start + 1):
            start += 1
    return groups


def _edits_of(written: str, found: _Found, checked: CheckedQuotation) -> list[tuple[int, int, str]]:
    """Return what is changed about a quotation: ranges of the answer, and what replaces them."""
    quoted, reading = found.quoted, found.reading
    first, last = reading.inner
    if checked.status == "not found":
        if quoted.is_block:
            prefixes = re.finditer(r"(?m)^[ ]{0,3}(?:>[ ]?)+", written[quoted.start : reading.end])
            return [
                (quoted.start + each.start(), quoted.start + each.end(), "") for each in prefixes
            ]
        opening = (quoted.start, quoted.start + 1, "")
        closing = (reading.end - 1, reading.end, "")
        # A quotation that nothing closes has no mark at its end.
        return [opening, closing] if reading.end > last else [opening]
    if not checked.differences:
        return []
    best = next(each for each in found.matches if each.spans == checked.spans)
    new = _repaired_text(normalize(reading.text), best, is_block=quoted.is_block)
    citations = "".join(f" {match[0]}" for match in CITATION.finditer(written, first, last))
    opening_mark = "" if quoted.is_block else written[quoted.start]
    new = _inside_marks(new, opening_mark) + citations
    return [(first, last, new)] if new != written[first:last] else []


def _repaired_text(text: str, match: QuotationMatch, *, is_block: bool) -> str:
    """Return a quotation with the book's own words in the place of its parts."""
    parts = split_parts(text)
    if len(match.printed) == 1:
        parts = [(parts[0][0], parts[-1][1])]
    pieces = []
    at = 0
    for (start, end), printed in zip(parts, match.printed, strict=True):
        words = escape_citations(printed)
        if is_block:
            words = re.sub(r"[^\S\n]*\n[^\S\n]*", "\n> ", words)
        elif " / " in text:
            words = " / ".join(filter(None, map(str.strip, words.splitlines())))
        pieces += [text[at:start], words if is_block else " ".join(words.split())]
        at = end
    ending = text[at:]
    if "punctuation" in match.differences:
        ending = ending.lstrip("?!")
    return "".join([*pieces, ending])


def _inside_marks(text: str, opening: str) -> str:
    """Return the book's words without the marks that they stand in, so that these stay one pair."""
    if opening in ("“", "”", "„", '"'):
        inner = {"“": "‘", "”": "’", "„": "‚", '"': "'"}
        return "".join(inner.get(character, character) for character in text)
    if opening in ("«", "»"):
        return text.replace("«", "‹").replace("»", "›")
    return text


def _apply(
    written: str, position: int, ready: int, edits: Sequence[tuple[int, int, str]]
) -> tuple[str, Callable[[int], int]]:
    """Return a part of an answer with changes, and what moves a place of it to the new one."""
    ordered = sorted(edits)
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    at, length = position, 0
    for start, end, new in ordered:
        pieces += [written[at:start], new]
        length += start - at
        marks.append((start, length))
        length += len(new)
        marks.append((end, length))
        at = end
    pieces.append(written[at:ready])

    def move(place: int) -> int:
        old, moved = position, 0
        for before, after in marks:
            if before > place:
                break
            old, moved = before, after
        return moved + place - old

    return "".join(pieces), move


def _plain(text: str) -> str:
    return CITATION.sub("", text).replace("\n> ", "\n").strip()


def _list_unchecked(text: str) -> Iterator[CheckedQuotation]:
    for each in find_quoted(text):
        if not each.is_nested:
            reading = each.readings[0]
            yield CheckedQuotation(reading.text, each.start, reading.end, "unchecked")
