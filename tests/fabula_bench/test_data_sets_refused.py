"""Data sets that are missing, or not in their format: what a person is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabula.errors import DataError
from fabula_bench.data import SMOKE, read

DEV = "QuALITY.v1.0.1.htmlstripped.dev"
QUESTION = {"question": "Who?", "question_unique_id": "q1", "options": ["a", "b", "c", "d"]}
ARTICLE = {"article_id": "1", "title": "T", "author": "", "article": "Some words."}


def refused(name: str, folder: Path, part: str) -> str:
    with pytest.raises(DataError) as caught:
        read(name, folder, part)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "part", "file", "place"),
    [
        ("quality", "train", "QuALITY.v1.0.1.htmlstripped.train", "github.com/nyu-mll/quality"),
        ("narrativeqa", "valid", "documents.csv", "github.com/google-deepmind/narrativeqa"),
        ("squality", "test", "test.jsonl", "github.com/nyu-mll/SQuALITY"),
        ("graphrag-bench", "novel", "novel_questions.json", "github.com/GraphRAG-Bench"),
        ("own", "mine", "mine.jsonl", '{"document": "book.txt"'),
    ],
)
def test_a_missing_file_is_named_with_where_it_goes_and_where_it_comes_from(
    tmp_path: Path, name: str, part: str, file: str, place: str
) -> None:
    message = refused(name, tmp_path, part)
    assert f"{file} is missing" in message
    assert str(tmp_path) in message
    assert place in message


def test_a_missing_story_is_named_with_what_fetches_it(tmp_path: Path) -> None:
    shutil.copytree(SMOKE / "narrativeqa", tmp_path / "narrativeqa")
    (tmp_path / "narrativeqa" / "tmp" / "sleepy-hollow.content").unlink()
    message = refused("narrativeqa", tmp_path / "narrativeqa", "test")
    assert "tmp/sleepy-hollow.content is missing" in message
    assert "download_stories.sh" in message


def test_unknown_data_sets_and_parts_are_answered_with_the_known_ones(tmp_path: Path) -> None:
    assert "quality, narrativeqa, squality, graphrag-bench, beir, own" in refused(
        "qualty", tmp_path, ""
    )
    assert "train, dev, test" in refused("quality", tmp_path, "valid")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "this is not JSON"),
        ("[]", "valid dictionary"),
        (json.dumps(ARTICLE), "questions: is missing"),
        (json.dumps({**ARTICLE, "questions": [{}]}), "questions.0.question: is missing"),
        (json.dumps({**ARTICLE, "questions": [], "article": " . "}), "no words"),
        (json.dumps({**ARTICLE, "questions": [{**QUESTION, "gold_label": 5}]}), "gold_label is 5"),
        (json.dumps({**ARTICLE, "questions": [{**QUESTION, "gold_label": 0}]}), "gold_label is 0"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(
    tmp_path: Path, line: str, words: str
) -> None:
    good = json.dumps({**ARTICLE, "article_id": "0", "questions": []})
    (tmp_path / DEV).write_text(f"{good}\n\n{line}\n", encoding="utf-8")
    message = refused("quality", tmp_path, "dev")
    assert f"{DEV}, line 3" in message
    assert words in message


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / DEV).write_bytes(b"\n\n{\xff}\n")
    assert f"{DEV}, line 3: this is not UTF-8" in refused("quality", tmp_path, "dev")


def test_a_row_of_a_table_that_is_too_short_is_named(tmp_path: Path) -> None:
    shutil.copytree(SMOKE / "narrativeqa", tmp_path / "n")
    with (tmp_path / "n" / "qaps.csv").open("a", encoding="utf-8") as file:
        file.write("sleepy-hollow,test,Who?\n")
    message = refused("narrativeqa", tmp_path / "n", "test")
    assert "qaps.csv, line 14" in message
    assert "answer1" in message


def test_questions_that_are_no_array_are_refused(tmp_path: Path) -> None:
    (tmp_path / "novel_questions.json").write_text("{}", encoding="utf-8")
    assert "a JSON array" in refused("graphrag-bench", tmp_path, "novel")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"document": "no-such.txt", "question": "Who?"}, "no-such.txt doesn't exist"),
        ({"document": "A text.", "question": "Who?", "anwsers": ["I"]}, "anwsers"),
        (
            {"document": "A text.", "question": "Who?", "answers": ["I"], "options": ["you", "he"]},
            "none of the answers is one of the options",
        ),
    ],
)
def test_a_mistake_in_ones_own_questions_is_told_with_its_line(
    tmp_path: Path, line: dict[str, Any], words: str
) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps(line), encoding="utf-8")
    message = refused("own", tmp_path, "mine")
    assert "mine.jsonl, line 1" in message
    assert words in message
