"""Questions at the command line are kept, listed, shown, repeated, and not kept if so set."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import name_server
from fabula import Fabula
from fabula.ask.query import Query
from fabula.cli import main
from fabula.cli.shared.last_answer import keep_question, recall_questions
from fabula.config.settings import OFFLINE
from fabula.server import Address
from offline import offline_app
from stories import LIGHTHOUSE


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with offline_app(address, home=tmp_path_factory.mktemp("history"), chunk_tokens=200) as app:
        book = app.collection("default")
        book.ingest_text(LIGHTHOUSE, source="lighthouse.txt", title="The Lighthouse")
        yield


@pytest.fixture
def run(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    name_server(monkeypatch, address)
    monkeypatch.setenv("FABULA_MODEL", OFFLINE)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


@pytest.mark.journey
def test_questions_are_listed_shown_repeated_and_deleted(run: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run("history", "list").stdout.startswith("There are no questions yet")
    assert run("query", "Who keeps the light?", "--mode", "naive").exit_code == 0
    assert run("query", "What is on the rock?", "--json").exit_code == 0
    listed = json.loads(run("history", "list", "--json").stdout)
    assert [(row["number"], row["question"]) for row in listed] == [
        (1, "Who keeps the light?"),
        (2, "What is on the rock?"),
    ]
    assert listed[0]["mode"] == "naive"
    assert "Who keeps the light?" in run("history", "list").stdout
    shown = run("history", "show", "1").stdout
    assert "Who keeps the light?" in shown and "mode naive" in shown
    assert run("history", "show", "9").exit_code == 1
    again = run("history", "repeat", "1")
    assert again.exit_code == 0, again.output
    assert [kept.question for kept in recall_questions(home)][-1] == "Who keeps the light?"
    assert recall_questions(home)[-1].mode == "naive"
    assert stat.S_IMODE((home / "questions.jsonl").stat().st_mode) == 0o600
    assert run("history", "clear", "--yes").exit_code == 0
    assert recall_questions(home) == []


def test_times_are_those_of_the_reader_and_a_missing_number_says_what_is_there(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = run("history", "show", "1")
    assert empty.exit_code == 1 and "No question is kept yet" in empty.output
    assert run("query", "Who keeps the light?").exit_code == 0
    [kept] = recall_questions(tmp_path / "home")
    file = tmp_path / "home" / "questions.jsonl"
    file.write_text(file.read_text().replace(kept.at, "2026-03-01T02:30:00+00:00"))
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "America/New_York")
        time.tzset()
        listed, shown = (run("history", *what).stdout for what in (["list"], ["show", "1"]))
    time.tzset()
    assert "2026-02-28 21:30" in listed and "2026-02-28 21:30, collection" in shown
    assert "There is no question 9: 1 question kept" in run("history", "show", "9").output


def test_nothing_is_kept_if_so_set_and_never_more_than_so_many(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
    assert run("query", "Who?", "--set", "question_history=0").exit_code == 0
    assert recall_questions(home) == []
    for number in range(3):
        question = f"Who keeps light {number}?"
        assert run("query", question, "--set", "question_history=2").exit_code == 0
    assert [kept.question[-2] for kept in recall_questions(home)] == ["1", "2"]
    assert "sk-secret" not in (home / "questions.jsonl").read_text("utf-8")


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    kept = {"at": "2026", "collection": "c", "question": "q", "answer": "a"}
    # A line ends with a line feed: other signs that end lines may stand in an answer.
    kept["answer"] = "a\x85b"
    lines = ["{", json.dumps(kept, ensure_ascii=False).encode().decode("latin-1"), "[]", "\xff"]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), "latin-1")
    assert [(k.question, k.answer) for k in recall_questions(tmp_path)] == [("q", "a\x85b")]


def test_of_questions_that_are_asked_at_once_none_is_lost(run: Any, tmp_path: Path) -> None:
    """Also while the list is cut: it is read and written whole then."""
    with Fabula(question_history=100) as fabula:
        answer = fabula.query("Who keeps the light?")
        queries = [Query.of(f"Who keeps light {n}?", fabula.settings) for n in range(200)]
        for query in queries[:100]:
            keep_question(query, answer, fabula)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda query: keep_question(query, answer, fabula), queries[100:]))
    kept = {question.question for question in recall_questions(tmp_path / "home")}
    assert {query.question for query in queries[100:]} <= kept
    assert len(kept) <= 110
