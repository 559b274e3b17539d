"""Several suites as one run: what they need, and what comes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import run as run_command
from fabula.errors import SettingsError
from fabula_bench import series
from fabula_bench.plan import BenchRun, read_data
from fabula_bench.series import check_runs, plan_series, read_series
from fabula_bench.suite import DataOverrides, read_suite

SUITE = """
name = "tiny"
purpose = "A test."
ask = "retrieve"
metrics = ["answer_coverage"]
[data]
set = "own"
part = "questions"
[systems.naive]
preset = "naive"
"""
SERIES = """
[both]
purpose = "Two runs."
part = "questions"
runs = [
  { what = "table 1", suite = "one.toml", set = "own" },
  { what = "figure 1", suite = "two.toml", set = "own" },
]
"""


def common(name: str, folder: Path) -> BenchRun:
    return BenchRun(read_suite("quality"), folder / "runs" / name, {}, folder / "data")


def test_the_thesis_has_each_table_and_figure_of_its_publication(tmp_path: Path) -> None:
    thesis = read_series()["thesis"]
    planned = plan_series(thesis, common("thesis", tmp_path), DataOverrides())
    text = " ".join(planned)
    assert {*re.findall(r"figure 4\.(\d+)", text)} == {str(number) for number in range(1, 14)}
    assert len({bench.folder for bench in planned.values()}) == len(planned)
    for bench in planned.values():
        data = bench.suite.data
        assert (data.part, data.only, bench.data) == (
            "all",
            "gutenberg",
            tmp_path / "data" / data.set,
        )
    few = plan_series(thesis, common("thesis", tmp_path), DataOverrides(set="narrativeqa"))
    assert {bench.suite.data.set for bench in few.values()} == {"narrativeqa"}


def test_all_that_runs_need_is_named_before_the_first_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("fabula.graphs.aspects.cluster.find_spec", lambda name: None)
    planned = plan_series(read_series()["thesis"], common("thesis", tmp_path), DataOverrides())
    with pytest.raises(SettingsError) as caught:
        check_runs(planned.values())
    message = str(caught.value)
    for what in ("documents.csv", "QuALITY.v1.0.1", "fabula[umap]", "fabula[ragas]", "OPENAI"):
        assert what in message
    assert message.count("fabula[umap]") == 1


@pytest.mark.long
def test_runs_are_made_one_after_the_other_and_gone_on_with(
    tmp_path: Path, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data/own").mkdir(parents=True)
    line = '{"document": "Anna found a letter.", "question": "Who found it?", "answers": ["Anna."]}'
    (tmp_path / "data/own/questions.jsonl").write_text(line)
    for name in ("one", "two"):
        Path(f"{name}.toml").write_text(SUITE.replace("tiny", name))
    Path("series.toml").write_text(SERIES)
    monkeypatch.setattr(series, "FILE", Path("series.toml"))
    for _ in range(2):
        output = run_command("bench", "run", "both", "--data", "data").stdout
        assert output.count("1 of 1 results") == 2
    index = Path("runs/both/index.md").read_text()
    assert "| table 1 | [one-own](one-own/report.md) | 1 of 1 |" in index
    assert Path("runs/both/two-own/report.md").is_file()


def test_questions_are_counted_by_a_field_of_their_texts(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(
        '{"document": "The fox ran.", "question": "Who ran?", "metadata": {"genre": "fable"}}\n'
        '{"document": "The sea was calm.", "question": "What was calm?"}\n'
    )
    suite = tmp_path / "by.toml"
    suite.write_text(
        SUITE.replace("[systems", 'by = "genre"\n[systems') + 'where = "year < 1850"\n'
    )
    read = read_suite(str(suite))
    assert [question.kind for question in read_data(read, tmp_path).questions] == ["fable", ""]
    assert read.systems["naive"].where == "year < 1850"
