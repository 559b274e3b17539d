"""Store questions and the citations of each terminal's last answer in Fabula's folder.

The citations are for `fabula read 3`, the questions for `fabula history`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.ask.answer import Answer
from fabula.errors import NotFound
from fabula.graph.hits import Quote, document_spans
from fabula.models.clean import clean_text
from fabula.server.private_files import append_private, make_private, write_private
from fabula.server.state import Home

if TYPE_CHECKING:
    from filelock import FileLock

    from fabula.ask.query import Query
    from fabula.library.collection import Collection

log = logging.getLogger(__name__)
MAX_CITATIONS = MAX_QUESTION = 200
"""How many citations, and how many characters of the question, are stored."""
MAX_TERMINALS = 20
"""Of how many terminals the last answer is stored: of those that were used last."""
LOCK_SECONDS = 10
"""How long to wait for another process that adds a question."""
MAX_KEPT_CHARACTERS = 4_000
"""Of a question, and of an answer, in the list of questions."""
TRIMMED_SHARE = 10
"""The list is cut when it is longer than it may be by one part of so many: seldom."""


class Citation(BaseModel):
    """A number in an answer, and the place in a document that it stands for."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    document: str
    at: str
    collection: str = ""
    """Where it is, if that is not the collection of the answer: several were asked."""


class LastAnswer(BaseModel):
    """A question, the citations of its answer, and the other passages that it was made from.

    All of them have numbers on the screen, so all of them can be opened.
    """

    model_config = ConfigDict(frozen=True)

    collection: str
    question: str
    citations: tuple[Citation, ...]
    passages: tuple[Citation, ...] = ()
    until: str = ""
    """The place up to which the text was read by who asked; '' if it was not limited."""

    def citation(self, number: int) -> Citation:
        """Return the place of a number; if there is none, raise NotFound with all numbers."""
        for citation in (*self.citations, *self.passages):
            if citation.number == number:
                return citation
        numbers = ", ".join(str(citation.number) for citation in self.citations)
        count = len({citation.number for citation in (*self.citations, *self.passages)})
        raise NotFound(
            f"The last answer, to {self.question!r}, does not cite [{number}]: it cites "
            f"{numbers or 'nothing'}."
            + (f" Its passages are numbered 1 to {count}." if self.passages else "")
        )


def _to_last_answer(answer: Answer, collection: str) -> LastAnswer:
    """Collect the citations; passages that share a number, as those below a summary, are one."""
    from fabula.ask.quotations.passage_quotes import quote_cited

    places: dict[tuple[int, str, str], list[str]] = {}
    for quote in answer.quotes or quote_cited(answer):
        where = (quote.number, quote.hit.document, quote.hit.collection)
        places.setdefault(where, []).append(_place(quote))
    citations = tuple(
        Citation(number=number, document=document, at=", ".join(spans), collection=of)
        for (number, document, of), spans in places.items()
    )
    cited = {citation.number for citation in citations}
    passages = tuple(
        Citation(
            number=passage.number,
            document=passage.hit.document,
            at=_place(Quote(passage.number, passage.hit, passage.spans)),
            collection=passage.hit.collection,
        )
        for passage in answer.context
        if passage.number not in cited
    )
    return LastAnswer(
        collection=collection,
        question=clean_text(answer.question)[:MAX_QUESTION],
        citations=citations[:MAX_CITATIONS],
        passages=passages[:MAX_CITATIONS],
        until="" if answer.until is None else str(answer.until),
    )


def keep_answer(answer: Answer, collection: Collection) -> LastAnswer:
    """Store the citations of an answer for `fabula read`; a failure is only logged."""
    last = _to_last_answer(answer, collection.name)
    _keep(last, collection)
    return last


def keep_places(
    question: str, places: Sequence[tuple[int, str, str]], collection: Collection
) -> None:
    """Store places that a command printed with numbers, as `keep_answer` stores citations.

    Args:
        question: What the command answered, in words.
        places: The number, the document's id and the place of each.
        collection: The collection of the documents, as far as the reader has read.
    """
    citations = tuple(Citation(number=number, document=id, at=at) for number, id, at in places)
    _keep(
        LastAnswer(
            collection=collection.name,
            question=clean_text(question)[:MAX_QUESTION],
            citations=citations[:MAX_CITATIONS],
            until=str(collection.place.end) if collection.place else "",
        ),
        collection,
    )


class KeptQuestion(BaseModel):
    """A question of `fabula query`, its answer, and what it was asked of; no setting is kept."""

    model_config = ConfigDict(frozen=True)

    at: str
    collection: str
    question: str
    answer: str
    mode: str = ""
    document: str = ""
    until: str = ""
    across: str = ""
    """The collections that were asked together, as `--across` names them."""


def keep_question(query: Query, answer: Answer, collection: Collection, across: str = "") -> None:
    """Add a question to those that `fabula history` lists; a failure is only logged.

    `across` are the names of the collections where several were asked, as "novels,plays".
    """
    most = collection.settings.question_history
    if not most:
        return
    kept = KeptQuestion(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        collection=collection.name,
        question=clean_text(query.question)[:MAX_KEPT_CHARACTERS],
        answer=clean_text(answer.text)[:MAX_KEPT_CHARACTERS],
        mode=query.mode,
        document=query.only_document,
        until=query.until,
        across=across,
    )
    home = Home(collection.settings.home)
    try:
        if not home.path.is_dir():
            make_private(home.path)
        # Locked: what another process adds while the list is cut would be lost.
        with _lock_questions(home):
            line = json.dumps(kept.model_dump(), ensure_ascii=False)
            append_private(home.questions, line + "\n")
            lines = home.questions.read_bytes().split(b"\n")[:-1]
            if len(lines) > most + most // TRIMMED_SHARE:
                kept_lines = b"\n".join(lines[-most:])
                write_private(home.questions, kept_lines.decode("utf-8", "replace"))
    except OSError as error:
        log.debug("%s can't be written: %s", home.questions, error)


def delete_questions(home: Path) -> None:
    """Delete all questions that were kept."""
    if home.is_dir():
        with _lock_questions(Home(home)):
            Home(home).questions.unlink(missing_ok=True)


def _lock_questions(home: Home) -> FileLock:
    from filelock import FileLock

    return FileLock(home.path / f".{home.questions.name}.lock", timeout=LOCK_SECONDS)


def recall_questions(home: Path) -> list[KeptQuestion]:
    """Return the questions that were kept, the first one first, without lines that are damaged."""
    file = Home(home).questions
    try:
        # An answer may have signs that `splitlines` takes for the end of a line.
        lines = file.read_text("utf-8", "replace").split("\n")
    except OSError:
        return []
    questions = []
    for line in lines:
        with suppress(ValidationError):
            questions.append(KeptQuestion.model_validate_json(line))
    return questions


def _keep(last: LastAnswer, collection: Collection) -> None:
    home = Home(collection.settings.home)
    file = _terminal_file(home.last_answers)
    try:
        if not home.path.is_dir():
            make_private(home.path)
        make_private(file.parent)
        write_private(file, last.model_dump_json())
        for old in _newest_first(file.parent)[MAX_TERMINALS:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        log.debug("%s can't be written: %s", file, error)


def recall_answer(home: Path) -> LastAnswer:
    """Return the citations of the last answer in this terminal, or else in any.

    Raises:
        NotFound: There are none.
    """
    folder = Home(home).last_answers
    file = _terminal_file(folder)
    try:
        if not file.exists():
            file = next(iter(_newest_first(folder)), file)
        return LastAnswer.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise NotFound("There is no last answer yet: ask with `fabula query`.") from None
    except (ValidationError, OSError) as error:
        raise NotFound(
            f"The citations of the last answer can't be read from {file}: ask again."
        ) from error


def _terminal_file(folder: Path) -> Path:
    """Return the file of this terminal, all of whose commands are in one session."""
    # Windows has no sessions: its terminals share a file.
    session = os.getsid(0) if os.name == "posix" else 0
    return folder / f"{session}.json"


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)


def _place(quote: Quote) -> str:
    if quote.hit.kind != "chunk":
        return quote.hit.id
    return ", ".join(f"{start}-{end}" for start, end in document_spans(quote.hit, quote.matches))
