"""A question and its hits become an answer that cites them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from fabula.errors import FabulaError
from fabula.model import Answer, Hit, Passage, Quote
from fabula.names import quoted
from fabula.providers import Reply
from fabula.providers.counted import Meter

CITED = re.compile(r"\[(\d+(?:\s*[,;]\s*\d+)*)\]")


class AnswerStream:
    """An answer as it is written: iterate over its pieces, then read `answer`.

    Where no model is asked, its `quotes` are there at once. `sought` is the question that was
    searched with, which of a conversation's stands alone. `context` grows where whoever answers
    reads on as it goes.
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

    def __repr__(self) -> str:
        return f"<AnswerStream to {quoted(self.question)} from {len(self.context)} passages>"

    def __iter__(self) -> Iterator[str]:
        """The pieces of the text that have not been read yet."""
        try:
            for piece in self._pieces:
                if isinstance(piece, Passage):
                    self.context = (*self.context, piece)
                    continue
                self._said.append(piece.text)
                yield piece.text
        except FabulaError as error:
            self._failure = error
            raise

    def close(self) -> None:
        """Ends it: what was read until now is the answer, and the model is asked for no more."""
        if isinstance(self._pieces, Generator):
            self._pieces.close()
        self._pieces = iter(())

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
            usage=self._meter.usage(),
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
