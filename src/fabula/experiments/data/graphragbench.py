"""GraphRAG-Bench's Novel part: twenty old books, questions of four kinds, with their evidence."""

from __future__ import annotations

from pydantic import BaseModel

from fabula.errors import DataError, LoadError
from fabula.experiments.data.files import Files, Release
from fabula.experiments.data.texts import text
from fabula.experiments.model import Question, Text
from fabula.load import text as plain
from fabula.load.clean import one_line
from fabula.load.document import document

RELEASE = Release(
    "GraphRAG-Bench",
    "Put Datasets/Corpus/novel.json and Datasets/Questions/novel_questions.json there, as "
    "released at https://github.com/GraphRAG-Bench/GraphRAG-Benchmark (Xiang et al. 2025, When to "
    "use Graphs in RAG, arXiv 2506.05690); or novel_questions.json with the books as Project "
    "Gutenberg offers them, in novels/NUMBER.txt.",
)
PARTS = ("novel",)

_CORPUS = "Datasets/Corpus/novel.json"
_QUESTIONS = "Datasets/Questions/novel_questions.json"
_BARE_QUESTIONS = "novel_questions.json"
"""Beside a folder with the books themselves, in place of the corpus."""


class _Novel(BaseModel):
    corpus_name: str
    context: str


class _Question(BaseModel):
    id: str
    source: str
    """A novel's name: 'Novel-' and its number at Project Gutenberg."""
    question: str
    answer: str
    question_type: str
    evidence: list[str] | str
    """The first release had it in one piece."""


def read(files: Files, part: str) -> tuple[list[Text], list[Question]]:
    """The novels that questions are about, and the questions."""
    if files.has(_BARE_QUESTIONS):
        rows = list(files.array(_BARE_QUESTIONS, _Question))
        novels = {name: _book(files, name) for name in _sources(rows)}
    else:
        rows = list(files.array(_QUESTIONS, _Question))
        novels = _corpus(files, set(_sources(rows)))
    for place, question in rows:
        if question.source not in novels:
            raise DataError(f"{place}: {_CORPUS} has no novel {question.source}.")
    return list(novels.values()), [_question(question) for _, question in rows]


def _sources(rows: list[tuple[str, _Question]]) -> list[str]:
    return list(dict.fromkeys(question.source for _, question in rows))


def _corpus(files: Files, names: set[str]) -> dict[str, Text]:
    return {
        novel.corpus_name: text(novel.corpus_name, novel.context, place, title=novel.corpus_name)
        for place, novel in files.array(_CORPUS, _Novel)
        if novel.corpus_name in names
    }


def _book(files: Files, name: str) -> Text:
    """A novel from Project Gutenberg's file, whose name says its encoding too: 10321-8.txt."""
    number = name.rpartition("-")[2]
    paths = [
        *files.matching(f"novels/{number}.txt"),
        *files.matching(f"novels/{number}-*.txt"),
    ]
    file = paths[0] if paths else f"novels/{number}.txt"
    try:
        book = document(plain.read(files.content(file), file), file, "")
    except LoadError as error:
        raise DataError(f"{RELEASE.name}: {error}") from error
    return Text(name, book.title, book.author, book.language, book.text)


def _question(row: _Question) -> Question:
    evidence = [row.evidence] if isinstance(row.evidence, str) else row.evidence
    return Question(
        id=row.id,
        text=row.source,
        question=one_line(row.question),
        answers=(one_line(row.answer),),
        evidence=tuple(map(one_line, evidence)),
        kind=row.question_type,
    )
