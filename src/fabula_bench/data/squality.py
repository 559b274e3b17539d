"""SQuALITY: stories, a question about the whole plot and four others, long answers by people."""

from __future__ import annotations

import re

from pydantic import BaseModel

from fabula.load.clean import one_line
from fabula_bench.data.files import Files, Release
from fabula_bench.data.texts import story, text
from fabula_bench.model import BenchQuestion, Text

RELEASE = Release(
    "SQuALITY v1.3",
    "Put train.jsonl, dev.jsonl and test.jsonl there, as released at "
    "https://github.com/nyu-mll/SQuALITY, data/v1-3/txt (Wang et al. 2022, SQuALITY: Building a "
    "Long-Document Summarization Dataset the Hard Way).",
)
PARTS = ("train", "dev", "test")

_PLOT = 1
"""The number of the question about the whole plot."""
_HEAD = re.compile(r"\s*(\S[^\n]{0,99})\s*\n\s*by\s+(\S[^\n]{0,59})", re.IGNORECASE)


_BREAK = re.compile(r"(?<=\S)\n(?: {3}\n {2})?(?=\S)")
"""A break of lines within a paragraph: where the page was wrapped, or around italics."""


class _Metadata(BaseModel):
    passage_id: str


class _Response(BaseModel):
    response_text: str


class _Question(BaseModel):
    question_text: str
    question_number: int
    responses: list[_Response] = []


class _Line(BaseModel):
    metadata: _Metadata
    document: str
    questions: list[_Question]


def read(files: Files, part: str) -> tuple[list[Text], list[BenchQuestion]]:
    """Read the stories and their questions, whose kind is 'plot' or 'specific'."""
    texts: dict[str, Text] = {}
    questions: list[BenchQuestion] = []
    for place, line in files.lines(f"{part}.jsonl", _Line):
        id = line.metadata.passage_id
        if id not in texts:
            title, author, body = _split_heading(story(line.document))
            texts[id] = text(id, _BREAK.sub(" ", body), place, title=title, author=author)
        questions += (_question(question, id) for question in line.questions)
    return list(texts.values()), questions


def _split_heading(raw: str) -> tuple[str, str, str]:
    """Return the title and author, which are in the text above a story, and the story."""
    match = _HEAD.match(raw)
    if not match:
        return "", "", raw
    return one_line(match[1]), one_line(match[2]), raw[match.end() :]


def _question(row: _Question, story: str) -> BenchQuestion:
    return BenchQuestion(
        id=f"{story}-{row.question_number}",
        text=story,
        question=one_line(row.question_text),
        answers=tuple(one_line(response.response_text) for response in row.responses),
        kind="plot" if row.question_number == _PLOT else "specific",
    )
