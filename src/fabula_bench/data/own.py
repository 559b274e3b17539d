"""Your own questions: JSON lines of a document, and a question or facts that it states."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import DataError, LoadError
from fabula.load import SUFFIXES, load
from fabula.load.clean import one_line
from fabula.text.metadata import state_metadata
from fabula_bench.data.files import Files, Release
from fabula_bench.data.texts import text
from fabula_bench.model import BenchQuestion, GoldTriple, Text

RELEASE = Release(
    "Your own data set",
    'It is a file that you write, a line a question: {"document": "book.txt", "question": "...", '
    '"answers": ["..."], "options": ["...", "..."]}; documents are files beside it, or texts. A '
    'line of {"document": "book.txt", "triples": [["Fred", "nephew of", "Scrooge"]]} says what '
    'facts a graph should have; one of {"document": "book.txt"} only adds the document. A question '
    'may name the documents that answer it: "relevant": ["book.txt"]. "metadata": {"genre": '
    '"gothic"} describes the document, beside what its file states.',
)
NAMES_FILE = "names.jsonl"
_MAX_BYTES = 200_000_000
_LONGEST_PATH = 1000


Name = Annotated[str, Field(min_length=1)]
Names = Name | Annotated[list[Name], Field(min_length=1)]


class _Line(BaseModel):
    """`document` is a file, by its path from this one, or a text; all else may be left out.

    Each of the three parts of a triple is a name, or a list of names for the same.
    """

    model_config = ConfigDict(extra="forbid")

    document: str = Field(min_length=1)
    question: str = Field("", min_length=1)
    answers: list[str] = []
    options: list[str] = []
    triples: list[tuple[Names, Names, Names]] = []
    metadata: dict[str, str | int | float | list[str]] = {}
    relevant: list[str] = []


class _NamesLine(BaseModel):
    """Names of one thing."""

    model_config = ConfigDict(extra="forbid")

    names: list[Name] = Field(min_length=1)


def read(files: Files, part: str) -> tuple[list[Text], list[BenchQuestion]]:
    """Read the documents, each once, and the questions of `PART.jsonl`, numbered by their lines.

    Where `names.jsonl` is beside it, a name of a triple stands for all names on its line.
    """
    name = f"{part}.jsonl"
    known = _read_names(files) if files.has(NAMES_FILE) else {}
    texts: dict[str, Text] = {}
    questions: list[BenchQuestion] = []
    for number, (place, line) in enumerate(files.lines(name, _Line), 1):
        for each in (line.document, *line.relevant):
            texts[each] = texts.get(each) or _text(files, each, place)
        if line.metadata:
            of_line = texts[line.document]
            fields = {**of_line.metadata, **state_metadata(line.metadata)}
            texts[line.document] = replace(of_line, metadata=fields)
        if line.question or line.triples:
            questions.append(_question(line, f"{part}-{number}", texts, place, known))
        elif line.answers or line.options:
            raise DataError(f"{place}: there are answers or options, and no question.")
    return list(texts.values()), questions


def _text(files: Files, path_or_text: str, place: str) -> Text:
    if not _is_path(path_or_text):
        digest = hashlib.sha256(path_or_text.encode("utf-8", "replace")).hexdigest()
        return text(f"text-{digest[:8]}", path_or_text, place)
    try:
        document = load(files.folder / path_or_text, "", _MAX_BYTES)
    except LoadError as error:
        raise DataError(f"{place}: {error}") from error
    files.content(path_or_text)
    described = (document.title, document.author, document.language)
    return Text(path_or_text, *described, document.text, document.metadata)


def _is_path(text: str) -> bool:
    """Return whether it names a file: on one line, with a suffix that can be read, or one word."""
    if "\n" in text or len(text) > _LONGEST_PATH:
        return False
    return PurePath(text).suffix.lower() in SUFFIXES or not any(map(str.isspace, text))


def _question(
    line: _Line,
    id: str,
    texts: Mapping[str, Text],
    place: str,
    known: Mapping[str, tuple[str, ...]],
) -> BenchQuestion:
    answers = tuple(map(one_line, line.answers))
    options = tuple(map(one_line, line.options))
    right = next((index for index, option in enumerate(options) if option in answers), None)
    if options and answers and right is None:
        raise DataError(f"{place}: none of the answers is one of the options, word for word.")
    triples = tuple(
        GoldTriple(*(_expand_names(part, known) for part in triple)) for triple in line.triples
    )
    return BenchQuestion(
        *(id, texts[line.document].id, one_line(line.question), answers, options, right),
        triples=triples,
        relevant={texts[each].id: 1 for each in line.relevant},
    )


def _read_names(files: Files) -> dict[str, tuple[str, ...]]:
    """Read the names that are for one thing, by each of them."""
    lines = (line for _, line in files.lines(NAMES_FILE, _NamesLine))
    groups = (tuple(map(one_line, line.names)) for line in lines)
    return {name: group for group in groups for name in group}


def _expand_names(part: str | list[str], known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    names = map(one_line, [part] if isinstance(part, str) else part)
    return tuple(dict.fromkeys(each for name in names for each in known.get(name, (name,))))
