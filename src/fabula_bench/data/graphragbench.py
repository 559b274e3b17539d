"""GraphRAG-Bench: questions of four kinds about twenty old books, or about a medical text.

Each question has its evidence.
"""

from __future__ import annotations

from pydantic import BaseModel

from fabula.errors import DataError, LoadError
from fabula.load import text as plain
from fabula.load.clean import one_line
from fabula.load.document import document
from fabula_bench.data.files import Files, Release
from fabula_bench.data.texts import text
from fabula_bench.model import BenchQuestion, Text

RELEASE = Release(
    "GraphRAG-Bench",
    "Put Datasets/Corpus/novel.json and Datasets/Questions/novel_questions.json there, as "
    "released at https://github.com/GraphRAG-Bench/GraphRAG-Benchmark (Xiang et al. 2025, When to "
    "use Graphs in RAG, arXiv 2506.05690), likewise medical.json and medical_questions.json; or "
    "novel_questions.json with the books as Project Gutenberg offers them, in novels/NUMBER.txt.",
)
PARTS = ("novel", "medical")

_CORPUS = "Datasets/Corpus/{}.json"
_QUESTIONS = "Datasets/Questions/{}_questions.json"
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


def read(files: Files, part: str) -> tuple[list[Text], list[BenchQuestion]]:
    """Read the texts of a part that questions are about, and the questions."""
    if part == "novel" and files.has(_BARE_QUESTIONS):
        rows = list(files.array(_BARE_QUESTIONS, _Question))
        texts = {name: _book(files, name) for name in _sources(rows)}
    else:
        rows = list(files.array(_QUESTIONS.format(part), _Question))
        texts = _corpus(files, part, set(_sources(rows)))
    for place, question in rows:
        if question.source not in texts:
            raise DataError(f"{place}: {_CORPUS.format(part)} has no {part} {question.source}.")
    return list(texts.values()), [_question(question) for _, question in rows]


def _sources(rows: list[tuple[str, _Question]]) -> list[str]:
    return list(dict.fromkeys(question.source for _, question in rows))


def _corpus(files: Files, part: str, names: set[str]) -> dict[str, Text]:
    """Read the texts of these names. The medical part is one text, in a file without an array."""
    rows = files.array(_CORPUS.format(part), _Novel, allow_one=True)
    return {
        row.corpus_name: text(row.corpus_name, row.context, place, title=row.corpus_name)
        for place, row in rows
        if row.corpus_name in names
    }


def _book(files: Files, name: str) -> Text:
    """Read a novel from Project Gutenberg's file, whose name says its encoding: 10321-8.txt."""
    number = name.rpartition("-")[2]
    paths = [*files.matching(f"novels/{number}.txt"), *files.matching(f"novels/{number}-*.txt")]
    file = paths[0] if paths else f"novels/{number}.txt"
    try:
        book = document(plain.read(files.content(file), file), file, "")
    except LoadError as error:
        raise DataError(f"{RELEASE.name}: {error}") from error
    return Text(name, book.title, book.author, book.language, book.text)


def _question(row: _Question) -> BenchQuestion:
    evidence = [row.evidence] if isinstance(row.evidence, str) else row.evidence
    return BenchQuestion(
        id=row.id,
        text=row.source,
        question=one_line(row.question),
        answers=(one_line(row.answer),),
        evidence=tuple(map(one_line, evidence)),
        kind=row.question_type,
    )
