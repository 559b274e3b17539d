"""The citations of the last answer, kept in Fabula's folder, so that `fabula read 3` opens one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.ask.answer import Answer
from fabula.errors import NotFound
from fabula.graph.hits import Quote, in_document
from fabula.models.clean import clean_text
from fabula.server.private_files import make_private, write_private
from fabula.server.state import Home

if TYPE_CHECKING:
    from fabula.app.collection import Collection

log = logging.getLogger(__name__)
MOST = 200
"""Citations that are kept, and characters of the question."""
LARGEST = 1_000_000
"""Bytes of the file; a larger one is none of ours."""


class Citation(BaseModel):
    """What a number in an answer stands for: a place in a document, as `fabula read` takes it."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    document: str
    at: str


class LastAnswer(BaseModel):
    """A question, and the citations of its answer."""

    model_config = ConfigDict(frozen=True)

    collection: str
    question: str
    citations: tuple[Citation, ...]

    def citation(self, number: int) -> Citation:
        """The one of that number. Raises NotFound, which names those that there are."""
        for citation in self.citations:
            if citation.number == number:
                return citation
        there = ", ".join(str(citation.number) for citation in self.citations)
        raise NotFound(
            f"The last answer, to {self.question!r}, cites no [{number}]: it cites "
            f"{there or 'nothing'}."
        )


def last_answer(answer: Answer, collection: str) -> LastAnswer:
    """An answer's citations as they are kept.

    Passages that share a number, as those that a summary rests on, are one place.
    """
    from fabula.ask.quotes import quote_cited

    places: dict[tuple[int, str], list[str]] = {}
    for quote in answer.quotes or quote_cited(answer):
        places.setdefault((quote.number, quote.hit.document), []).append(_place(quote))
    citations = tuple(
        Citation(number=number, document=document, at=", ".join(found))
        for (number, document), found in places.items()
    )
    return LastAnswer(
        collection=collection,
        question=clean_text(answer.question)[:MOST],
        citations=citations[:MOST],
    )


def keep(answer: Answer, collection: Collection) -> LastAnswer:
    """Keeps an answer's citations for `fabula read`; the answer stands where they can't be."""
    kept = last_answer(answer, collection.name)
    home = Home(collection.settings.home)
    try:
        if not home.path.is_dir():
            make_private(home.path)
        write_private(home.last_answer, kept.model_dump_json())
    except OSError as error:
        log.debug("%s can't be written: %s", home.last_answer, error)
    return kept


def recall(home: Path) -> LastAnswer:
    """The citations of the last answer. Raises NotFound where there are none, or no more."""
    file = Home(home).last_answer
    try:
        if file.stat().st_size > LARGEST:
            raise ValueError
        return LastAnswer.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise NotFound("There is no last answer: `fabula query` leaves one.") from None
    except (ValidationError, ValueError, OSError) as error:
        raise NotFound(
            f"The citations of the last answer can't be read from {file}: ask again."
        ) from error


def _place(quote: Quote) -> str:
    if quote.hit.kind != "chunk":
        return quote.hit.id
    return ", ".join(f"{start}-{end}" for start, end in in_document(quote.hit, quote.matches))
