"""Texts and the questions about them, from the data sets' folders: what coverage is measured on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabula.text.stems import Stemmer
from fabula_bench.data import read
from fabula_bench.metrics.coverage import content_stems
from fabula_bench.model import DataSet


@dataclass(frozen=True, slots=True)
class Item:
    """A question about a text, and what its context should hold: answers, or evidence.

    `kind` is the data set's own; empty where that has none by what is asked for.
    """

    text: str
    question: str
    references: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by name, and questions about them; those whose references say nothing new are out."""

    texts: Mapping[str, str]
    items: tuple[Item, ...]


def stories(data: Path) -> Texts:
    """SQuALITY's stories with the answers people wrote, and QuALITY's with the right option."""
    squality = read("squality", data / "squality", "dev")
    texts, items = (
        _texts(squality),
        [
            Item(question.text, question.question, question.answers)
            for question in squality.questions
        ],
    )
    for line in (data / "quality" / "sample.jsonl").read_text(encoding="utf-8").splitlines():
        article = json.loads(line)
        texts[article["article_id"]] = article["article"]
        for question in article["questions"]:
            right = question["options"][question["gold_label"] - 1]
            items.append(Item(article["article_id"], question["question"], (right,)))
    return _kept(texts, items)


def novels(data: Path) -> Texts:
    """GraphRAG-Bench's novels, with the evidence of each question as one text."""
    bench = read("graphrag-bench", data / "graphrag-bench", "novel")
    items = [
        Item(question.text, question.question, (" ".join(question.evidence),), question.kind)
        for question in bench.questions
    ]
    return _kept(_texts(bench), items)


def _texts(data: DataSet) -> dict[str, str]:
    return {text.id: text.text for text in data.texts}


def _kept(texts: Mapping[str, str], items: list[Item]) -> Texts:
    stemmer = Stemmer("en")
    return Texts(
        texts,
        tuple(item for item in items if content_stems(item.references, item.question, stemmer)),
    )
