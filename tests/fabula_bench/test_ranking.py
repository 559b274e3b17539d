"""Retrieval by document: BEIR's files, what is measured of a ranking, and a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run as run_command
from fabula.errors import DataError
from fabula_bench.data import read
from fabula_bench.metrics import Judges, metric
from fabula_bench.model import BenchQuestion, Result, Retrieved

# Sentences of A Christmas Carol.
POSTS = {
    "1": "Marley was dead, to begin with. There is no doubt whatever about that.",
    "2": "The cold within him froze his old features, and nipped his pointed nose.",
    "3": "The door of Scrooge's counting-house was open, so that he might see his clerk.",
    "4": "",
    "5": "Old Marley was as dead as a door-nail.",
    "6": "Nobody judged whether this is relevant to anything.",
}
JUDGED = "query-id\tcorpus-id\tscore\nq1\t1\t2\nq1\t5\t1\nq1\t4\t1\nq2\t3\t1\nq2\t2\t0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "fiqa"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": id, "title": "", "text": text, "metadata": {}} for id, text in POSTS.items()]
    queries = [
        {"_id": "q1", "text": "Was Marley dead?"},
        {"_id": "q2", "text": "Whose door was open?"},
        {"_id": "q3", "text": "Who asked this in another part?"},
    ]
    for name, lines in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "qrels/test.tsv").write_text(JUDGED)
    return folder


def test_beir_s_files_have_all_texts_and_the_questions_of_a_part(folder: Path) -> None:
    data = read("beir", folder, "test")
    assert [text.id for text in data.texts] == ["1", "2", "3", "5", "6"], "one has no words"
    first, second = data.questions
    assert (first.id, first.relevant) == ("q1", {"1": 2, "5": 1})
    assert first.answers == (POSTS["1"], POSTS["5"])
    assert (second.text, second.answers) == ("3", (POSTS["3"],))


def test_a_judgment_that_is_not_in_the_format_is_named(folder: Path) -> None:
    (folder / "qrels/test.tsv").write_text(JUDGED + "q2\t3\tyes\n")
    with pytest.raises(DataError, match=r"test\.tsv, line 7: expected a question"):
        read("beir", folder, "test")


def score(name: str, *found: str) -> float | None:
    context = [Retrieved(id, "chunk", "", 0, "", 0, 1, 0.5, "Text.", id) for id in found]
    result = Result("s", "q", "", None, tuple(context), (), 0, 0, 0, 0, 0.0)
    question = BenchQuestion("q", "1", "?", relevant={"1": 2, "5": 1, "9": 1, "2": 0})
    return metric(name).score(question, result, Judges())


def test_a_ranking_is_measured_by_its_texts_each_where_its_first_passage_is() -> None:
    found = ("7", "5", "7", "1", "5", "2")
    assert score("recall_5", *found) == pytest.approx(2 / 3)
    assert score("mrr_10", *found) == 1 / 2
    # 5 has grade 1 at place 2, 1 has grade 2 at place 3; the best order is 2, 1, 1.
    gained, best = 1 / 1.5849625 + 2 / 2, 2 + 1 / 1.5849625 + 1 / 2
    assert score("ndcg_10", *found) == pytest.approx(gained / best)
    assert score("recall_10", *map(str, range(10, 20)), "1") == 0, "beyond the tenth"
    assert [score(name) for name in ("recall_100", "mrr_10", "ndcg_10")] == [0, 0, 0]


def test_documents_of_a_question_are_ranked_beside_published_figures(
    folder: Path, graph_url: str
) -> None:
    run_command("bench", "run", "fiqa-documents", "--data", folder)
    runs = Path("runs/fiqa-documents")
    lines = [json.loads(line) for line in (runs / "results.jsonl").read_text().splitlines()]
    first = lines[0]
    assert {passage["source"] for passage in first["context"]} == {"1", "2", "3", "5", "6"}
    assert first["scores"]["recall_100"] == 1
    report = (runs / "report.md").read_text()
    assert "BM25 with reranker | 34.70" in report and "can be set against" not in report


def test_documents_of_one_s_own_are_ranked_too(tmp_path: Path) -> None:
    lines = [
        {
            "document": "Marley was dead.",
            "question": "Who was dead?",
            "relevant": ["The ghost came."],
        },
        {"document": "Nobody asks about this."},
    ]
    (tmp_path / "mine.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = read("own", tmp_path, "mine")
    [question] = data.questions
    assert len(data.texts) == 3
    [relevant] = question.relevant
    assert relevant == data.texts[1].id
