"""Graphs compared with gold triples: the format, the measures, and a run without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from endpoint import Endpoint
from fabula.build.outcome import SilentListener
from fabula.config.settings import STATIC
from fabula.errors import DataError, SettingsError
from fabula_bench.data import read
from fabula_bench.metrics import Judges, metric
from fabula_bench.model import BenchQuestion, GoldTriple, Result, Triple
from fabula_bench.plan import BenchRun
from fabula_bench.report import write_report
from fabula_bench.run import run
from fabula_bench.suite import read_suite

GOLD = (
    GoldTriple(("Fred",), ("nephew of", "kin of"), ("Scrooge", "Ebenezer Scrooge")),
    GoldTriple(("Bob Cratchit",), ("works for",), ("Scrooge",)),
)


def score(name: str, *found: Triple) -> float | None:
    question = BenchQuestion("q", "t", "", triples=GOLD)
    result = Result("s", "q", "", None, (), (), 0, 0, 0, 0, 0.0, triples=found)
    return metric(f"triple_{name}").score(question, result, Judges())


def test_a_triple_is_right_if_all_three_parts_are_by_any_of_their_names() -> None:
    found = [("the Fred", "kin_of", "ebenezer scrooge"), ("Fred", "nephew_of", "Marley")]
    assert score("precision", *found) == 0.5
    assert score("recall", *found) == 0.5
    assert score("f1", *found) == 0.5
    assert score("jaccard", *found) == pytest.approx(1 / 3), "of three different triples"
    assert score("f1", ("Scrooge", "nephew_of", "Fred")) == 0, "the direction matters"


def test_a_triple_that_is_stated_twice_counts_once() -> None:
    found = [("Fred", "nephew_of", "Scrooge"), ("fred", "nephew of", "Scrooge.")]
    assert score("precision", *found) == 1
    # Another name for the same end is another triple, and the gold triple is taken.
    found.append(("Fred", "nephew of", "Ebenezer Scrooge"))
    assert score("precision", *found) == 0.5
    assert score("recall", *found) == 0.5
    assert score("f1", *found) == 0.5


def test_a_graph_without_triples_has_found_nothing() -> None:
    assert [score(name) for name in ("precision", "recall", "f1")] == [0, 0, 0]


# The format


def put(folder: Path, *lines: dict[str, Any]) -> Path:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "triples.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_triples_are_read_with_one_name_or_several_for_a_part(tmp_path: Path) -> None:
    triples = [["Fred", ["nephew of", "kin of"], ["Scrooge", "Ebenezer  Scrooge"]]]
    data = read("own", put(tmp_path, {"document": "Fred came in.", "triples": triples}), "triples")
    [question] = data.questions
    assert (question.question, question.triples) == ("", GOLD[:1])


def test_a_name_of_one_s_own_list_stands_for_all_names_on_its_line(tmp_path: Path) -> None:
    (tmp_path / "names.jsonl").write_text('{"names": ["Scrooge", "Ebenezer Scrooge"]}\n')
    line = {"document": "Fred came in.", "triples": [["Fred", "nephew of", "Scrooge"]]}
    [question] = read("own", put(tmp_path, line), "triples").questions
    assert question.triples[0].object == ("Scrooge", "Ebenezer Scrooge")


def test_a_line_of_a_document_alone_adds_a_text_that_nobody_asks_about(tmp_path: Path) -> None:
    lines = ({"document": "Fred came in."}, {"document": "It rained.", "question": "Did it?"})
    data = read("own", put(tmp_path, *lines), "triples")
    assert len(data.texts) == 2
    assert [question.id for question in data.questions] == ["triples-2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"triples": [["Fred", "nephew of"]]}, "triples.0"),
        ({"triples": [["Fred", [], "Scrooge"]]}, "triples.0.1"),
        ({"answers": ["Yes."]}, "there are answers or options, and no question"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, line: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match="line 1") as caught:
        read("own", put(tmp_path, {"document": "Fred came in."} | line), "triples")
    assert message in str(caught.value)


# A run

SUITE = """
name = "ablation"
purpose = "Facts of a tale."
ask = "build"
metrics = ["{metrics}"]

[data]
set = "own"
part = "triples"
folder = "{folder}"

[settings]
graphs = ["entities", "facts"]

[systems.facts]

[systems."no graph"]
preset = "naive"
"""
TALE = (
    "Anna Novak lived in Arnau. Boris Weiss was the brother of Anna Novak. Every morning Anna "
    "Novak went to the mill with Boris Weiss. In Arnau they said that Boris Weiss was the brother "
    "of Anna Novak, and that Anna Novak was good."
)


def put_suite(folder: Path, metrics: str) -> Path:
    path = folder / "ablation.toml"
    path.write_text(SUITE.format(folder=folder, metrics=metrics))
    return path


@pytest.mark.long
def test_graphs_are_built_and_compared(tmp_path: Path, graph_url: str) -> None:
    triples = [["Anna", ["related_to", "is beside"], "Novak"]]
    put(tmp_path, {"document": TALE, "triples": triples}, {"document": TALE, "question": "Who?"})
    suite = read_suite(str(put_suite(tmp_path, 'triple_recall", "triple_f1')))
    folder = tmp_path / "run"
    with Endpoint() as endpoint:
        models = {"model": "m", "base_url": endpoint.url, "embedding_model": STATIC}
        done = run(BenchRun(suite, folder, models), SilentListener())
    assert (done.results, done.expected) == (2, 2)
    facts, nothing = map(json.loads, (folder / "results.jsonl").read_text().splitlines())
    assert [facts["context"], facts["answer"], facts["calls"]] == [[], "", 0]
    assert ["Anna", "related_to", "Novak"] in facts["triples"], facts["triples"]
    assert facts["scores"]["triple_recall"] == 1
    assert (nothing["triples"], nothing["scores"]["triple_f1"]) == ([], 0)
    [first, second] = json.loads((folder / "run.json").read_text())["systems"]
    assert first["nodes"]["fact"] == len(facts["triples"])
    assert first["nodes"]["entity"] > 0
    assert second["nodes"] == {"chunk": first["nodes"]["chunk"]}
    write_report(folder, {})
    report = (folder / "report.md").read_text()
    assert "What the graphs hold" in report
    assert "A question, on the average" not in report


def test_graphs_and_answers_are_not_compared_in_one_suite(tmp_path: Path) -> None:
    put(tmp_path, {"document": TALE, "triples": [["a", "b", "c"]], "question": "Who?"})
    suite = read_suite(str(put_suite(tmp_path, "answer_coverage")))
    with pytest.raises(SettingsError, match="here graphs alone are compared"):
        run(BenchRun(suite, tmp_path / "run", {}), SilentListener())
    wrong = put_suite(tmp_path, "triple_f1")
    wrong.write_text(wrong.read_text().replace('"build"', '"retrieve"'))
    with pytest.raises(SettingsError, match="answers and contexts alone are compared"):
        run(BenchRun(read_suite(str(wrong)), tmp_path / "run", {}), SilentListener())
