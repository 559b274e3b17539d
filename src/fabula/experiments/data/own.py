"""One's own questions: JSON lines of document, question, answers, and options if there are any."""

from __future__ import annotations

import hashlib
from pathlib import PurePath

from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import DataError, LoadError
from fabula.experiments.data.files import Files, Release
from fabula.experiments.data.texts import text
from fabula.experiments.model import Question, Text
from fabula.load import SUFFIXES, load
from fabula.load.clean import one_line

RELEASE = Release(
    "Your own data set",
    'It is a file that you write, a line a question: {"document": "book.txt", "question": "...", '
    '"answers": ["..."], "options": ["...", "..."]}; documents are files beside it, or texts.',
)
_MOST_BYTES = 200_000_000
_LONGEST_PATH = 1000


class _Line(BaseModel):
    """`document` is a file, by its path from this one, or a text; `options` may be left out."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answers: list[str] = []
    options: list[str] = []


def read(files: Files, part: str) -> tuple[list[Text], list[Question]]:
    """The documents, each once, and the questions of `PART.jsonl`, numbered by their lines."""
    name = f"{part}.jsonl"
    texts: dict[str, Text] = {}
    questions: list[Question] = []
    for number, (place, line) in enumerate(files.lines(name, _Line), 1):
        if line.document not in texts:
            texts[line.document] = _text(files, line.document, place)
        questions.append(_question(line, f"{part}-{number}", texts[line.document].id, place))
    return list(texts.values()), questions


def _text(files: Files, path_or_text: str, place: str) -> Text:
    if not _is_path(path_or_text):
        digest = hashlib.sha256(path_or_text.encode("utf-8", "replace")).hexdigest()
        return text(f"text-{digest[:8]}", path_or_text, place)
    try:
        document = load(files.folder / path_or_text, "", _MOST_BYTES)
    except LoadError as error:
        raise DataError(f"{place}: {error}") from error
    files.content(path_or_text)
    return Text(path_or_text, document.title, document.author, document.language, document.text)


def _is_path(text: str) -> bool:
    """Whether it names a file: on one line, with a suffix that can be read, or one word."""
    if "\n" in text or len(text) > _LONGEST_PATH:
        return False
    return PurePath(text).suffix.lower() in SUFFIXES or not any(map(str.isspace, text))


def _question(line: _Line, id: str, document: str, place: str) -> Question:
    answers = tuple(map(one_line, line.answers))
    options = tuple(map(one_line, line.options))
    right = next((index for index, option in enumerate(options) if option in answers), None)
    if options and answers and right is None:
        raise DataError(f"{place}: none of the answers is one of the options, word for word.")
    return Question(id, document, one_line(line.question), answers, options, right)
