"""An answer: the whole one, and the one that is still being written."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabula.errors import FabulaError
from fabula.graph.hits import Hit, Passage, Quote, locate
from fabula.graph.structure import TextStructure
from fabula.models import Reply
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
        text: The answer, with citations as [2] or [1, 3].
        hits: What was found and is shown, best first.
        context: The passages that the answer was given to read, by number.
        cited: The numbers of the passages that `text` cites, in order of first use.
        usage: What was asked of models, by step.
        quotes: Without a chat model, the passages that `text` consists of, the closest first.
        structures: Where sections, pages and lines of the documents begin, by the documents' ids.

    """

    question: str
    text: str
    hits: tuple[Hit, ...]
    context: tuple[Passage, ...]
    cited: tuple[int, ...]
    usage: Mapping[str, Usage] = field(default_factory=dict)
    quotes: tuple[Quote, ...] = ()
    structures: Mapping[str, TextStructure] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        cited = f"{len(self.cited)} of {len(self.context)} passages cited"
        return f"<Answer to {quote_name(self.question)}, {cited}: {excerpt(self.text)}>"

    def _repr_html_(self) -> str:
        from fabula.ask.notebook import show_answer

        return show_answer(self.question, self.text, self.quotes, self._passages_cited)

    @property
    def _passages_cited(self) -> list[Passage]:
        return [passage for passage in self.context if passage.number in self.cited]


CITATION = re.compile(r"\[(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\]")
"""One citation or several in one pair of brackets, as [2] or [1, 3]."""


class AnswerStream:
    """An answer that is being written: iterate over its pieces, then read `answer`.

    One thread iterates; any thread may `close`.

    Attributes:
        question: The question as it was asked.
        sought: The question that was searched with: in a conversation, one that stands alone.
        hits: What was found and is shown, best first.
        context: The passages that the answer is given to read. It grows while a mode reads on.
        quotes: Without a chat model, the passages that the answer consists of; there at once.
        structures: Where sections, pages and lines of the documents begin, by the documents' ids.

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
        structures: Mapping[str, TextStructure] | None = None,
    ) -> None:
        self.question = question
        self.sought = sought or question
        self.hits = tuple(hits)
        self.context = tuple(context)
        self.quotes = tuple(quotes)
        self.structures = structures or {}
        self._pieces = pieces
        self._meter = meter
        self._texts: list[str] = []
        self._failure: FabulaError | None = None
        self._stop = stop or Stop()
        self._is_closed = False
        self._reading = threading.Lock()

    def __repr__(self) -> str:
        return f"<AnswerStream to {quote_name(self.question)} from {len(self.context)} passages>"

    def __iter__(self) -> Iterator[str]:
        """Yield the pieces of the text that have not been read yet."""
        while (piece := self._next()) is not None:
            if isinstance(piece, Passage):
                located = replace(piece, hit=locate(piece.hit, self.structures, piece.spans))
                self.context = (*self.context, located)
                continue
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

    def _next(self) -> Reply | Passage | None:
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

    def usage(self) -> dict[str, Usage]:
        """Return what has been asked of models until now, by step."""
        return self._meter.usage()

    @property
    def text(self) -> str:
        """What was read until now; '' if the model failed, as a part is no answer."""
        return "" if self._failure else "".join(self._texts).strip()

    @property
    def said(self) -> str:
        """The former name of `text`, for programs that use it."""
        return self.text

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
        return Answer(
            question=self.question,
            text=self.text,
            hits=self.hits,
            context=self.context,
            cited=find_citations(self.text, len(self.context)),
            usage=self.usage(),
            quotes=self.quotes,
            structures=self.structures,
        )


def escape_citations(passage: str) -> str:
    """Return a passage's text as a model is given it: where the book prints [3], it reads (3).

    So a number in brackets in an answer is always a citation, even beside a quotation. Searching
    for the quotations instead would lose the citations that stand where the book has a note.
    """
    return CITATION.sub(r"(\1)", passage)


def find_citations(text: str, passages: int) -> tuple[int, ...]:
    """Return the numbers that a text cites, as [2] or [1, 3], in order of first use.

    A number beyond the last of the `passages` cites nothing, and is left out.
    """
    numbers = (
        int(number) for group in CITATION.findall(text) for number in re.findall(r"\d+", group)
    )
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= passages))
