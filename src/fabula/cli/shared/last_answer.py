"""Store the citations of the last answer in Fabula's folder, for `fabula read 3`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.ask.answer import Answer
from fabula.errors import NotFound
from fabula.graph.hits import Quote, document_spans
from fabula.models.clean import clean_text
from fabula.server.private_files import make_private, write_private
from fabula.server.state import Home

if TYPE_CHECKING:
    from fabula.app.collection import Collection

log = logging.getLogger(__name__)
MAX_CITATIONS = MAX_QUESTION = 200
"""How many citations, and how many characters of the question, are stored."""
MAX_BYTES = 1_000_000
"""A larger file is not one of ours."""


class Citation(BaseModel):
    """A number in an answer, and the place in a document that it stands for."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    document: str
    at: str


class LastAnswer(BaseModel):
    """A question and the citations of its answer."""

    model_config = ConfigDict(frozen=True)

    collection: str
    question: str
    citations: tuple[Citation, ...]

    def citation(self, number: int) -> Citation:
        """Return the citation of a number; if there is none, raise NotFound with all numbers."""
        for citation in self.citations:
            if citation.number == number:
                return citation
        numbers = ", ".join(str(citation.number) for citation in self.citations)
        raise NotFound(
            f"The last answer, to {self.question!r}, does not cite [{number}]: it cites "
            f"{numbers or 'nothing'}."
        )


def _to_last_answer(answer: Answer, collection: str) -> LastAnswer:
    """Collect the citations; passages that share a number, as those below a summary, are one."""
    from fabula.ask.quotes import quote_cited

    places: dict[tuple[int, str], list[str]] = {}
    for quote in answer.quotes or quote_cited(answer):
        places.setdefault((quote.number, quote.hit.document), []).append(_place(quote))
    citations = tuple(
        Citation(number=number, document=document, at=", ".join(spans))
        for (number, document), spans in places.items()
    )
    return LastAnswer(
        collection=collection,
        question=clean_text(answer.question)[:MAX_QUESTION],
        citations=citations[:MAX_CITATIONS],
    )


def keep_answer(answer: Answer, collection: Collection) -> LastAnswer:
    """Store the citations of an answer for `fabula read`; a failure is only logged."""
    last = _to_last_answer(answer, collection.name)
    home = Home(collection.settings.home)
    try:
        if not home.path.is_dir():
            make_private(home.path)
        write_private(home.last_answer, last.model_dump_json())
    except OSError as error:
        log.debug("%s can't be written: %s", home.last_answer, error)
    return last


def recall_answer(home: Path) -> LastAnswer:
    """Return the citations of the last answer. Raise NotFound if there are none."""
    file = Home(home).last_answer
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError
        return LastAnswer.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise NotFound("There is no last answer yet: ask with `fabula query`.") from None
    except (ValidationError, ValueError, OSError) as error:
        raise NotFound(
            f"The citations of the last answer can't be read from {file}: ask again."
        ) from error


def _place(quote: Quote) -> str:
    if quote.hit.kind != "chunk":
        return quote.hit.id
    return ", ".join(f"{start}-{end}" for start, end in document_spans(quote.hit, quote.matches))
