"""`fabula bench run gold`: the graphs that can be measured are built in memory, and reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import main
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC
from fabula_bench.gold.run import find_rule_gaps, gold_settings, measured_graphs
from gold_data import write_litbank, write_play


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_litbank(tmp_path / "data" / "litbank")
    write_play(tmp_path / "data" / "poldracor")
    return tmp_path / "data"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["bench", *arguments])
    return result.exit_code, result.output


def test_figures_are_printed_and_written_with_their_intervals(data: Path, tmp_path: Path) -> None:
    code, output = run("run", "gold", "--data", str(data), "--out", str(tmp_path / "out"))
    assert code == 0, output
    assert "| aliases, names given, precision | 1.000 [1.000, 1.000]" in output
    assert "| edges of the network, F1 | 1.000 [1.000, 1.000] | 6 |" in output
    written = json.loads((tmp_path / "out" / "gold.json").read_text(encoding="utf-8"))
    [system] = written["systems"]
    assert system["system"] == "offline"
    assert system["figures"]["speeches kept as lines"] == {
        "mean": 1.0, "low": 1.0, "high": 1.0, "questions": 11, "texts": 1,
    }  # fmt: skip
    assert system["settings"]["model"] == "offline"
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in report
    assert "Published, not measured here: BookNLP" in report
    assert "| speaker attribution, B3 | 86.4 | 89.9 |" in report
    assert "| 1_tale_brat | 0.857 (7) | 0.857 (7) | 1.000 (8) | – |" in report
    assert "| dom | – | – | – | 1.000 (6) |" in report
    assert "Whole books" not in report


def test_rules_read_whole_books_and_what_they_fail_on_is_told(data: Path, tmp_path: Path) -> None:
    books = data / "books"
    books.mkdir()
    (books / "tale.txt").write_text("Anna Bell went out. Anna saw Tom.\n", encoding="utf-8")
    (books / "broken.txt").write_bytes(bytes(20))
    code, output = run("run", "gold", "--data", str(data), "--out", str(tmp_path / "out"))
    assert code == 0, output
    books_read = json.loads((tmp_path / "out" / "gold.json").read_text(encoding="utf-8"))["books"]
    assert books_read["tale"] == []
    [why] = books_read["broken"]
    assert "broken.txt" in why
    assert f"- broken: {why}" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_a_rule_that_fails_is_a_gap_with_its_place_and_ends_no_run(
    data: Path, faults: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    (data / "novels").mkdir()
    for name in ("one", "two"):
        text = "Anna Bell met Tom Moss. Tom Moss saw Anna Bell.\n"
        (data / "novels" / f"{name}.txt").write_text(text, encoding="utf-8")
    monkeypatch.setattr("fabula.graphs.communities.build.find_communities", fail)
    models = ModelFactory(gold_settings({"model": OFFLINE, "embedding_model": STATIC}))
    found = find_rule_gaps(data, models)
    assert list(found) == ["one", "two"]
    for [gap] in found.values():
        assert gap.startswith("communities, from character 0: a rule failed with IndexError")
    assert len(faults) == 2


def test_one_of_both_data_sets_is_enough(data: Path, tmp_path: Path) -> None:
    plays = tmp_path / "plays"
    plays.mkdir()
    (data / "poldracor").rename(plays / "poldracor")
    code, output = run("run", "gold", "--data", str(plays), "--out", str(tmp_path / "out"))
    assert code == 0, output
    assert "edges of the network" in output
    assert "aliases" not in output


def test_missing_data_and_flags_of_questions_are_refused(tmp_path: Path) -> None:
    code, output = run("run", "gold", "--data", str(tmp_path))
    assert code != 0
    assert "has neither litbank/ nor poldracor/" in output
    code, output = run("run", "gold", "--data", str(tmp_path), "--limit", "3")
    assert code == 2
    assert "asks no questions" in output


def test_it_is_listed_beside_the_suites() -> None:
    code, output = run("list")
    assert code == 0
    [line] = [line for line in output.splitlines() if line.startswith("gold ")]
    assert line.endswith("against annotations that others made.")


def test_graphs_declare_how_they_are_measured() -> None:
    names = [graph.name for graph in measured_graphs() if graph.find]
    assert {"entities", "discourse"} <= set(names)
