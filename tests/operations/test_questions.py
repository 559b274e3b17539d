"""Searches and comparisons at the command line and in a program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import name_server
from fabula.cli import main
from fabula.errors import BadValue, NotFound
from fabula.library.collection import Collection
from fabula.operations.asking import ask, compare, estimate_answer, search
from fabula.server import Address
from offline import WITHOUT_MODEL
from shared_library import shared_library

pytestmark = pytest.mark.shared_library

QUESTION = "Where did Anna walk?"


@pytest.fixture(scope="module")
def collection(address: Address) -> Iterator[Collection]:
    with shared_library(address, "default") as app:
        yield app.collection("default")


@pytest.fixture
def run(
    collection: Collection, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Any:
    name_server(monkeypatch, address)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    for name, value in WITHOUT_MODEL.items():
        monkeypatch.setenv(f"FABULA_{name.upper()}", str(value))

    def run(*words: str, code: int = 0) -> Result:
        result = CliRunner().invoke(main, words)
        assert result.exit_code == code, result.output
        return result

    return run


def test_what_a_search_shows_is_opened_by_its_number(collection: Collection, run: Any) -> None:
    shown = run("search", QUESTION, "--kind", "chunk", "--top-k", "3").stdout
    hits = search(collection, QUESTION, kinds=("chunk",), k=3).rows
    assert [line for line in shown.splitlines() if " · score " in line] == [
        line for line in shown.splitlines() if line.startswith(("1. ", "2. ", "3. "))
    ]
    assert " ".join(hits[1].text.split()[:5]) in " ".join(run("read", "2").stdout.split())
    table = run("search", QUESTION, "--level", "0-0", "--csv").stdout.splitlines()
    assert table[0].startswith("id,kind,document,")
    nothing = run("search", QUESTION, "--level", "7-9").stdout
    assert nothing.strip() == "Nothing in the graph passes these filters."


@pytest.mark.journey
def test_modes_are_compared_and_one_that_cannot_answer_says_why(
    collection: Collection, run: Any
) -> None:
    modes = ("--mode", "naive", "--mode", "hybrid", "--mode", "hippo")
    shown = run("compare", QUESTION, *modes).stdout
    compared = compare(collection, QUESTION, ("naive", "hybrid", "hippo"))
    naive, hybrid, hippo = compared.answers
    assert naive.answer and hybrid.answer and hippo.answer is None
    assert "needs the graph 'entities'" in hippo.problem
    assert hippo.problem in shown
    assert naive.answer.answer.strip() in shown
    assert {each.modes for each in compared.shared} == {("naive", "hybrid")}
    with pytest.raises(NotFound, match="'entities'"):
        compare(collection, QUESTION, ("hippo", "local"))
    with pytest.raises(BadValue, match="modes"):
        compare(collection, QUESTION, ("naive",))


def test_a_program_asks_and_knows_before_what_it_costs(collection: Collection) -> None:
    answer = ask(collection, QUESTION, mode="naive", document="Winter")
    assert (answer.mode, answer.offline) == ("naive", True)
    assert answer.document == collection.document("Winter").id
    expected = estimate_answer(collection, QUESTION, mode="naive")
    assert (expected.mode, expected.money) == ("naive", 0.0)
    with pytest.raises(BadValue, match="no parameter 'until_'"):
        ask(collection, QUESTION, until_="CHAPTER I")
