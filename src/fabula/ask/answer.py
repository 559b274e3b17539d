"""A question and its hits become an answer that cites them."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.ask.notebook import show_answer
from fabula.errors import FabulaError
from fabula.graph.hits import Hit, Passage, Quote
from fabula.models import Reply
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.text.document import excerpt
from fabula.text.names import quoted


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the numbered passages it was given, and the numbers it cites.

    Where no model was asked, `quotes` are the passages that it is made of, the closest first.
    """

    question: str
    text: str
    hits: tuple[Hit, ...]
    context: tuple[Passage, ...]
    cited: tuple[int, ...]
    usage: Mapping[str, Usage] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()

    def __repr__(self) -> str:
        cited = f"{len(self.cited)} of {len(self.context)} passages cited"
        return f"<Answer to {quoted(self.question)}, {cited}: {excerpt(self.text)}>"

    def _repr_html_(self) -> str:
        return show_answer(self.question, self.text, self.quotes, self._passages_cited)

    @property
    def _passages_cited(self) -> list[Passage]:
        return [passage for passage in self.context if passage.number in self.cited]


CITED = re.compile(r"\[(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\]")


class AnswerStream:
    """An answer as it is written: iterate over its pieces, then read `answer`.

    Where no model is asked, its `quotes` are there at once. `sought` is the question that was
    searched with, which of a conversation's stands alone. `context` grows where whoever answers
    reads on as it goes. `stop` ends the calls that `pieces` make.

    One thread iterates; any may `close`.
    """

    def __init__(
        self,
        question: str,
        hits: Sequence[Hit],
        context: Sequence[Passage],
        pieces: Iterator[Reply | Passage],
        meter: Meter,
        quotes: Sequence[Quote] = (),
        sought: str = "",
        stop: Stop | None = None,
    ) -> None:
        self.question = question
        self.sought = sought or question
        self.hits = tuple(hits)
        self.context = tuple(context)
        self.quotes = tuple(quotes)
        self._pieces = pieces
        self._meter = meter
        self._said: list[str] = []
        self._failure: FabulaError | None = None
        self._stop = stop or Stop()
        self._is_closed = False
        self._reading = threading.Lock()

    def __repr__(self) -> str:
        return f"<AnswerStream to {quoted(self.question)} from {len(self.context)} passages>"

    def __iter__(self) -> Iterator[str]:
        """The pieces of the text that have not been read yet."""
        while (piece := self._next()) is not None:
            if isinstance(piece, Passage):
                self.context = (*self.context, piece)
                continue
            self._said.append(piece.text)
            yield piece.text

    def close(self) -> None:
        """Ends it: what was read until now is the answer, and the model is asked for no more.

        From any thread, at any time: whoever waits for the next piece meanwhile has read the last.
        What was asked of the model is cut off at once, and what waits for a turn or to try again
        is given up; only a connection that is just being opened is waited for, by its own thread.
        """
        self._is_closed = True
        self._stop.set()
        # Whoever is reading will end it.
        if self._reading.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._reading.release()

    def _next(self) -> Reply | Passage | None:
        """The next piece; None after the last, or once it was closed."""
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

    def usage(self) -> dict[str, Usage]:
        """What it has asked of models until now, by step."""
        return self._meter.usage()

    @property
    def said(self) -> str:
        """What was read until now; '' where the model failed, as a part is no answer."""
        return "" if self._failure else "".join(self._said).strip()

    @property
    def answer(self) -> Answer:
        """The whole answer; reads what has not been read yet.

        Raises ModelError where the model failed, now or before: a part is no answer.
        """
        for _ in self:
            pass
        if self._failure:
            raise self._failure
        return Answer(
            question=self.question,
            text=self.said,
            hits=self.hits,
            context=self.context,
            cited=citations(self.said, len(self.context)),
            usage=self.usage(),
            quotes=self.quotes,
        )


def shown(passage: str) -> str:
    """A passage's text as whoever answers is shown it: where the book says [3], it reads (3).

    So a number in brackets in an answer is always a citation, even beside a quotation. To look for
    what is quoted instead would lose the citations that stand where the book has a note.
    """
    return CITED.sub(r"(\1)", passage)


def citations(text: str, passages: int) -> tuple[int, ...]:
    """The numbers of the passages that a text cites, as [2] or [1, 3], in order of first use."""
    found = (int(number) for group in CITED.findall(text) for number in re.findall(r"\d+", group))
    return tuple(dict.fromkeys(number for number in found if 1 <= number <= passages))
