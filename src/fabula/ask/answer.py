"""An answer: the whole one, and the one that is still being written."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fabula.ask.quotations.checked import CheckedAnswer, CheckedQuotation, WeakCitation
from fabula.ask.scope import EVERYTHING, AskedTurn, QuestionScope
from fabula.errors import FabulaError
from fabula.graph.hits import Hit, Passage, Quote, locate, name_place
from fabula.graph.structure import TextStructure
from fabula.models import NO_ANSWER, Reply, Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text.document import excerpt
from fabula.text.names import quote_name


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the numbered passages that it was given to read, and the numbers that it cites.

    Attributes:
        question: The question as it was asked.
        sought: The question that was searched with: in a conversation, one that stands alone.
        text: The answer, with citations as [2] or [1, 3].
        hits: What was found and is shown, best first.
        context: The passages that the answer was given to read, by number.
        cited: The numbers of the passages that `text` cites, in order of first use.
        usage: What was asked of models, by step.
        quotes: Without a chat model, the passages that `text` consists of, the closest first.
        structures: Where sections, pages and lines of the documents begin, by the documents' ids.
        until: How many characters of the document the reader had read, if the question said so:
            nothing of what comes later was used.
        scope: What the question was asked of, with that place in words.
        note: What was assumed to understand a follow-up without a model; '' if nothing was.
        cut: Whether the text ends at a limit of tokens, and not where the model would have ended.
        brief: The summaries of whole documents that the answer was given beside the passages.
        quotations: What `text` quotes, compared with the documents asked, in the order of the text;
            empty if the option `quotations` is "off".
        weak_citations: The citations whose passages have nothing to do with what cites them.
    """

    question: str
    text: str
    hits: tuple[Hit, ...]
    context: tuple[Passage, ...]
    cited: tuple[int, ...]
    usage: Mapping[str, Usage] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    structures: Mapping[str, TextStructure] = field(default_factory=dict, repr=False)
    until: int | None = None
    cut: bool = False
    brief: str = ""
    quotations: tuple[CheckedQuotation, ...] = ()
    weak_citations: tuple[WeakCitation, ...] = ()
    scope: QuestionScope = EVERYTHING
    note: str = ""
    sought: str = ""

    def __repr__(self) -> str:
        cited = f"{len(self.cited)} of {len(self.context)} passages cited"
        return f"<Answer to {quote_name(self.question)}, {cited}: {excerpt(self.text)}>"

    def _repr_html_(self) -> str:
        from fabula.ask.notebook import show_answer

        return show_answer(
            self.question, self.text, self.quotes, self._passages_cited, self.quotations
        )

    @property
    def citation_warning(self) -> str:
        """What a reader has to know of the citations: numbers without a passage, or that none is.

        Where nothing is cited, the passages that are closest to the question are named.

        It is '' for an answer that no model wrote, for one that says in the words of our prompts
        that the passages do not answer, and where there was no passage to cite.
        """
        if self.quotes or not (self.text and self.context):
            return ""
        if unknown := self.missing_citations:
            listed = ", ".join(f"[{number}]" for number in unknown[:MAX_LISTED])
            more = f" and {len(unknown) - MAX_LISTED} more" if len(unknown) > MAX_LISTED else ""
            what = "is no passage" if len(unknown) == 1 else "are no passages"
            return f"{listed}{more} {what} of this answer."
        if self.cited or NO_ANSWER in self.text:
            return ""
        rank = {hit.id: at for at, hit in enumerate(self.hits)}
        closest = sorted(self.context, key=lambda each: rank.get(each.hit.id, len(rank)))
        named = (
            f"[{each.number}] {name_place(each.hit, with_title=True)}"
            for each in closest[:MAX_CLOSEST]
        )
        return f"This answer cites no passage. The closest that it was given: {'; '.join(named)}."

    @property
    def missing_citations(self) -> tuple[int, ...]:
        """The numbers that are cited and that no passage has; none where no model wrote."""
        numbers = () if self.quotes else dict.fromkeys(_cited_numbers(self.text))
        return tuple(number for number in numbers if number not in self.cited)

    @property
    def _passages_cited(self) -> list[Passage]:
        return [passage for passage in self.context if passage.number in self.cited]


MAX_LISTED = 5
"""Numbers of citations that a warning names."""
MAX_CLOSEST = 3
"""Passages that a warning names where none is cited."""
CITATION = re.compile(r"\[(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\]")
"""One citation or several in one pair of brackets, as [2] or [1, 3]."""


@dataclass(frozen=True, slots=True)
class ShorterContext:
    """Says in a stream that the answer is given fewer passages than it was to be.

    They keep their numbers, so that those already shown stay right.
    """

    passages: tuple[Passage, ...]


AnswerPieces = Iterator[Reply | Passage | ShorterContext]
"""Pieces of an answer, and what changes its context while it is written."""


class AnswerCheck(Protocol):
    """What verifies a written answer: `fabula.ask.quotations.check.QuotationCheck`."""

    def finish(
        self,
        text: str,
        context: Sequence[Passage],
        quotes: Sequence[Quote] = (),
        stripped: int = 0,
    ) -> CheckedAnswer:
        """Return the quotations of an answer, compared with the books, and its weak citations."""
        ...


class AnswerStream:
    """An answer that is being written: iterate over its pieces, then read `answer`.

    One thread iterates; any thread may `close`.

    Attributes:
        question: The question as it was asked.
        sought: The question that was searched with: in a conversation, one that stands alone.
        hits: What was found and is shown, best first.
        context: The passages that the answer is given to read. It grows while a mode reads on, and
            has fewer once a model has refused them as too long.
        brief: The summaries of whole documents that the answer is given beside them, if any.
        quotes: Without a chat model, the passages that the answer consists of; there at once.
        structures: Where sections, pages and lines of the documents begin, by the documents' ids.
        scope: What the question was asked of, and up to where the reader had read it.
        note: What was assumed to understand a follow-up without a model; '' if nothing was.
    """

    def __init__(
        self,
        question: str,
        hits: Sequence[Hit],
        context: Sequence[Passage],
        pieces: AnswerPieces,
        meter: Meter,
        quotes: Sequence[Quote] = (),
        sought: str = "",
        stop: Stop | None = None,
        structures: Mapping[str, TextStructure] | None = None,
        scope: QuestionScope = EVERYTHING,
        brief: str = "",
        check: AnswerCheck | None = None,
    ) -> None:
        self.question = question
        self.brief = brief
        self.sought = sought or question
        self.hits = tuple(hits)
        self.context = tuple(context)
        self.quotes = tuple(quotes)
        self.structures = structures or {}
        self.scope = scope
        self.note = ""
        self._check = check
        self._checked: tuple[str, CheckedAnswer] = ("", CheckedAnswer())
        self._pieces = pieces
        self._meter = meter
        self._texts: list[str] = []
        self._failure: FabulaError | None = None
        self._stop = stop or Stop()
        self._is_closed = self._is_cut = False
        self._reading = threading.Lock()

    def __repr__(self) -> str:
        return f"<AnswerStream to {quote_name(self.question)} from {len(self.context)} passages>"

    def __iter__(self) -> Iterator[str]:
        """Yield the pieces of the text that have not been read yet."""
        while (piece := self._next()) is not None:
            if isinstance(piece, ShorterContext):
                self.context = piece.passages
                continue
            if isinstance(piece, Passage):
                located = replace(piece, hit=locate(piece.hit, self.structures, piece.spans))
                others = [each for each in self.context if each.number != located.number]
                self.context = tuple(sorted((*others, located), key=lambda each: each.number))
                continue
            # Only the last piece of a reply says whether the reply ended by itself.
            self._is_cut = self._is_cut or piece.incomplete
            self._texts.append(piece.text)
            yield piece.text

    def close(self) -> None:
        """End the answer: what was read until now is all of it, and the model is asked no more.

        Call it from any thread, at any time; a thread that waits for the next piece gets none. A
        call to the model is cut off at once, and one that waits for its turn or for another try is
        given up. Only a connection that is just being opened is waited for, by its own thread.
        """
        self._is_closed = True
        self._stop.set()
        # If another thread is reading, that thread ends the pieces.
        if self._reading.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._reading.release()

    def _next(self) -> Reply | Passage | ShorterContext | None:
        """Return the next piece; None after the last one, or once the stream is closed."""
        with self._reading:
            try:
                piece = None if self._is_closed else next(self._pieces, None)
            except FabulaError as error:
                piece = None
                if not self._is_closed:
                    self._failure = error
                    raise
            if self._is_closed:
                piece = None
                self._end()
            return piece

    def _end(self) -> None:
        if isinstance(self._pieces, Generator):
            self._pieces.close()
        self._pieces = iter(())

    @property
    def until(self) -> int | None:
        """How many characters of the document the reader had read; None if not limited."""
        return self.scope.until

    @property
    def turn(self) -> AskedTurn:
        """The turn of a conversation that this is, as far as it was read."""
        text = self.text
        cited = set(find_citations(text, [passage.number for passage in self.context]))
        documents = {each.hit.document for each in self.context if each.number in cited}
        # Without a model, the answer consists of its quotes, whatever numbers these have.
        documents |= {quote.hit.document for quote in self.quotes}
        return AskedTurn(Turn(self.question, text), self.scope, tuple(sorted(documents - {""})))

    def usage(self) -> dict[str, Usage]:
        """Return what has been asked of models until now, by step."""
        return self._meter.usage()

    @property
    def text(self) -> str:
        """What was read until now; '' if the model failed, as a part is no answer."""
        return "" if self._failure else "".join(self._texts).strip()

    @property
    def cut(self) -> bool:
        """Whether what was read until now ends at a limit of tokens."""
        return self._is_cut

    @property
    def answer(self) -> Answer:
        """The whole answer; what has not been read yet is read now.

        Raises:
            ModelError: The model failed, now or before: a part is no answer.
        """
        for _ in self:
            pass
        if self._failure:
            raise self._failure
        checked = self._verify()
        return Answer(
            question=self.question,
            text=self.text,
            hits=self.hits,
            context=self.context,
            cited=find_citations(self.text, [passage.number for passage in self.context]),
            usage=self.usage(),
            quotes=self.quotes,
            structures=self.structures,
            until=self.until,
            cut=self.cut,
            brief=self.brief,
            quotations=checked.quotations,
            weak_citations=checked.weak_citations,
            scope=self.scope,
            note=self.note,
            sought=self.sought,
        )

    def _verify(self) -> CheckedAnswer:
        """Return what its quotations are; they are compared once, as that reads the graph."""
        text = self.text
        if self._check is not None and text and self._checked[0] != text:
            written = "".join(self._texts)
            stripped = len(written) - len(written.lstrip())
            checked = self._check.finish(text, self.context, self.quotes, stripped)
            self._checked = (text, checked)
        return self._checked[1]


def escape_citations(passage: str) -> str:
    """Return a passage's text as a model is given it: where the book prints [3], it reads (3).

    So a number in brackets in an answer is always a citation, even beside a quotation. Searching
    for the quotations instead would lose the citations that stand where the book has a note.
    """
    return CITATION.sub(r"(\1)", passage)


def find_citations(text: str, passages: int | Collection[int]) -> tuple[int, ...]:
    """Return the numbers that a text cites, as [2] or [1, 3], in order of first use.

    Args:
        text: The answer, or a part of it.
        passages: The numbers of the passages that there are, or how many from 1 on. Any other
            number cites nothing, and is left out.
    """
    known = range(1, passages + 1) if isinstance(passages, int) else set(passages)
    return tuple(dict.fromkeys(number for number in _cited_numbers(text) if number in known))


def _cited_numbers(text: str) -> Iterator[int]:
    """Yield the numbers in all citations of a text, in order."""
    for group in CITATION.findall(text):
        yield from map(int, re.findall(r"\d+", group))
