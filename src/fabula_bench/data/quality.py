"""QuALITY: long stories and articles, with multiple-choice questions that need all of them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from fabula.errors import DataError
from fabula.load.clean import one_line
from fabula_bench.data.files import Files, Release
from fabula_bench.data.subsets import Only, PublishedCounts
from fabula_bench.data.texts import story, text
from fabula_bench.model import BenchQuestion, Text

RELEASE = Release(
    "QuALITY v1.0.1",
    "Put QuALITY.v1.0.1.htmlstripped.train, .dev and .test there, as released at "
    "https://github.com/nyu-mll/quality, data/v1.0.1 (Pang et al. 2022, QuALITY: Question "
    "Answering with Long Input Texts, Yes!).",
)
PARTS = ("train", "dev", "test")
GUTENBERG = PublishedCounts(texts=259, questions=4923, hard=2606)


class _Question(BaseModel):
    question: str
    question_unique_id: str
    options: list[str] = Field(min_length=2)
    gold_label: int | None = None
    """From 1; the test part has none."""
    difficult: int | None = None


class _Line(BaseModel):
    """An article with the questions of one writer; a second writer's are on another line."""

    article_id: str
    source: str = ""
    """'Gutenberg', 'Slate' and others."""
    title: str
    author: str | None = None
    article: str
    questions: list[_Question]


def read(files: Files, part: str, only: Only = "") -> tuple[list[Text], list[BenchQuestion]]:
    """Read the articles, each once, and the questions of all lines.

    `only` limits them to those whose `source` is Project Gutenberg.
    """
    texts: dict[str, Text] = {}
    questions: list[BenchQuestion] = []
    for place, line in files.lines(f"QuALITY.v1.0.1.htmlstripped.{part}", _Line):
        if only and line.source.casefold() != only:
            continue
        if line.article_id not in texts:
            texts[line.article_id] = text(
                line.article_id,
                story(line.article),
                place,
                title=one_line(line.title),
                author=one_line(line.author or ""),
            )
        questions += (_question(question, line.article_id, place) for question in line.questions)
    return list(texts.values()), questions


def _question(row: _Question, article: str, place: str) -> BenchQuestion:
    options = tuple(map(one_line, row.options))
    right = None if row.gold_label is None else row.gold_label - 1
    if right is not None and not 0 <= right < len(options):
        raise DataError(
            f"{place}: question {row.question_unique_id} has {len(options)} options, and its "
            f"gold_label is {row.gold_label}."
        )
    return BenchQuestion(
        id=row.question_unique_id,
        text=article,
        question=one_line(row.question),
        answers=() if right is None else (options[right],),
        options=options,
        right=right,
        is_hard=None if row.difficult is None else bool(row.difficult),
    )
