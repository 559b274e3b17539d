"""BEIR's form of a data set: a corpus, questions, and which texts are relevant to which.

FiQA-2018 (Maia et al. 2018), questions about money and the posts of a forum that answer them, is
one of BEIR's (Thakur et al. 2021). Relevant texts are the reference answers, as in FiQA they are.
"""

from __future__ import annotations

import csv
import io

from pydantic import BaseModel, Field

from fabula.errors import DataError
from fabula.load.clean import one_line
from fabula_bench.data.files import Files, Release
from fabula_bench.model import BenchQuestion, Text

RELEASE = Release(
    "BEIR's data set",
    "Put corpus.jsonl, queries.jsonl and the folder qrels there, as in the archive of a data set "
    "at https://github.com/beir-cellar/beir, such as fiqa.zip.",
)
PARTS = ("train", "dev", "test")


class _Line(BaseModel):
    id: str = Field(alias="_id")
    title: str = ""
    text: str


def read(files: Files, part: str) -> tuple[list[Text], list[BenchQuestion]]:
    """Read all texts that have words, and the questions of `qrels/PART.tsv`."""
    texts = {
        line.id: Text(line.id, one_line(line.title), "", "en", line.text)
        for _, line in files.lines("corpus.jsonl", _Line)
        if line.text.strip()
    }
    relevant = _read_judgments(files, f"qrels/{part}.tsv")
    questions = []
    for _, line in files.lines("queries.jsonl", _Line):
        grades = {id: grade for id, grade in relevant.get(line.id, {}).items() if id in texts}
        right = [id for id, grade in grades.items() if grade]
        if right:
            answers = tuple(texts[id].text for id in right)
            question = one_line(line.text)
            questions.append(BenchQuestion(line.id, right[0], question, answers, relevant=grades))
    return list(texts.values()), questions


def _read_judgments(files: Files, name: str) -> dict[str, dict[str, int]]:
    """Read how relevant texts are, by question and text."""
    grades: dict[str, dict[str, int]] = {}
    rows = csv.reader(io.StringIO(files.text(name)), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 1):
        if number == 1 or not row:  # The first line has the names of the columns.
            continue
        try:
            question, text, grade = row
            grades.setdefault(question, {})[text] = int(grade)
        except ValueError as error:
            place = files.place(name, f"line {number}")
            raise DataError(f"{place}: expected a question, a text and a number.") from error
    return grades
