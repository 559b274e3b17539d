"""The report of a run, from the files in its folder alone."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from fabula.errors import FabulaError
from fabula.export.markdown import escape_markdown
from fabula.models.prices import Price
from fabula.models.usage import Usage
from fabula_bench.model import Result
from fabula_bench.report import markdown, write_report
from fabula_bench.report.about import Data, Measure, Run, RunQuestion, Stage, SweepPoint, System
from fabula_bench.report.charts import BAR_CHARACTERS
from fabula_bench.report.published import read_published

HOSTILE = "graph | <b>wide</b> & `deep` _all_"
PRICES = {"storyteller": Price(2.0, 10.0)}
QUESTIONS = tuple(
    RunQuestion(f"q{number}", f"text {number % 4}", "who" if number % 2 else "why", number < 4)
    for number in range(12)
)
ACCURACY = Measure("answer_accuracy", 0, 1, "a paper of <2025>", "Whether it was luck.")
TOKENS = Measure("context_tokens", 0, None, "Fabula's own", "What they were worth.")


def system(name: str, swept: SweepPoint | None = None, **settings: object) -> System:
    usage = Usage(24, prompt_tokens=1_000_000, completion_tokens=200_000, cached_tokens=400_000)
    spent = {"storyteller": usage}
    stages = {"ingest": Stage(90.0), "ask": Stage(60.0, spent)}
    return System(
        name, {"mode": "naive", "k": 5} | settings, {"model": "storyteller"}, stages, swept
    )


def result(system: str, number: int, scores: dict[str, float]) -> Result:
    return Result(system, f"q{number}", "Yes.", None, (), (), 100, 2, 500, 20, 1.5, scores)


RUN = Run(
    suite="graphrag-bench-novel",
    purpose="Whether a graph is worth it.",
    ask="answer",
    command="fabula bench run graphrag-bench-novel --out here",
    offline=False,
    started="2026-11-21T10:00:00+00:00",
    finished="2026-11-21T11:00:00+00:00",
    data=Data("novels", 4, {"questions.json": "5e" * 32}),
    questions=QUESTIONS,
    systems=(
        system("naive"),
        system(HOSTILE, mode="details"),
        system("graph, k 1", SweepPoint("k", 1, "graph"), k=1),
        system("graph, k 10", SweepPoint("k", 10, "graph"), k=10),
    ),
    metrics=(ACCURACY, TOKENS),
    seeds={"questions": 7},
    versions={"fabula": "0.1.0", "neo4j server": "2026.10"},
)
RESULTS = [
    # 0.25 and 0.75 in turn: 0.5. Those of the other are 0.25 higher, and it answers but ten.
    *(
        result("naive", n, {"answer_accuracy": 0.25 + n % 2 / 2, "context_tokens": 100})
        for n in range(12)
    ),
    *(result(HOSTILE, n, {"answer_accuracy": 0.5 + n % 2 / 2}) for n in range(10)),
    *(result("graph, k 1", n, {"answer_accuracy": 0.125}) for n in range(12)),
    *(result("graph, k 10", n, {"answer_accuracy": 0.875}) for n in range(12)),
]


def recorded(folder: Path, run: Run, results: list[Result]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(asdict(run) | {"of the runner": 1}))
    lines = [json.dumps(asdict(result) | {"asked": "Who?"}) + "\n" for result in results]
    (folder / "results.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, reported once."""
    folder = recorded(tmp_path_factory.mktemp("run"), RUN, RESULTS)
    assert write_report(folder, PRICES) == folder / "report.md"
    return folder


def tables(folder: Path) -> dict[str, list[list[str]]]:
    """The rows of the report's tables by caption, as texts."""
    page = html.fromstring(MarkdownIt().enable("table").render(text_of(folder)))
    found = {}
    for one in page.xpath("//table"):
        [caption] = one.xpath("./preceding-sibling::*[1]")
        rows = [[cell.text_content() for cell in row.xpath("./*")] for row in one.xpath(".//tr")]
        found[caption.text_content()] = rows
    return found


def text_of(folder: Path) -> str:
    return (folder / "report.md").read_text(encoding="utf-8")


def table(folder: Path, beginning: str) -> list[list[str]]:
    [rows] = [rows for caption, rows in tables(folder).items() if caption.startswith(beginning)]
    return rows


def test_the_summary_has_each_mean_and_its_difference_on_shared_questions(folder: Path) -> None:
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as stream:
        rows = {(one["system"], one["metric"], one["group"]): one for one in csv.DictReader(stream)}
    base = rows["naive", "answer_accuracy", "all"]
    assert (base["n"], float(base["mean"]), base["difference"]) == ("12", 0.5, "")
    assert float(base["low"]) < 0.5 < float(base["high"])
    other = rows[HOSTILE, "answer_accuracy", "all"]
    assert (other["n"], other["pairs"], float(other["mean"])) == ("10", "10", 0.75)
    assert [float(other[f"difference{end}"]) for end in ("", "_low", "_high")] == [0.25] * 3
    assert float(rows["naive", "answer_accuracy", "kind: why"]["mean"]) == 0.25
    assert rows["naive", "answer_accuracy", "hard"]["n"] == "4"
    assert (HOSTILE, "context_tokens", "all") not in rows
    # Four texts: at best one of eight flips of signs, of three systems.
    assert {rows[name, "answer_accuracy", "all"]["p"] for name in (HOSTILE, "graph, k 10")} == {
        "0.375"
    }


def test_both_pages_have_the_scores_with_intervals_and_differences(folder: Path) -> None:
    scores = table(folder, "Means over 12 questions")
    assert scores[0] == ["system", "answer accuracy, %", "context tokens"]
    assert re.fullmatch(r"50\.0 \[\d\d\.\d, \d\d\.\d\]", scores[1][1])
    assert scores[1][2] == "100 [100, 100]"
    assert (scores[2][0], scores[2][1][:4], scores[2][1][-6:]) == (HOSTILE, "75.0", "n = 10")
    assert scores[2][2] == "–"
    differences = table(folder, "Each system less naive")
    assert differences[1][1] == "+25.0 [25.0, 25.0] p = 0.38 n = 10"
    assert r"| +25.0 *\[25.0, 25.0\]* *p = 0.38* *n = 10* |" in text_of(folder)
    assert re.search(
        r"^\| naive \| 50\.0 \*\\\[.*100 \*\\\[100, 100\\\]\* \|$", text_of(folder), re.M
    )


def test_published_numbers_are_in_a_table_of_their_own(folder: Path) -> None:
    foreign = table(folder, "Published, not measured here: GraphRAG-Bench")
    assert foreign[1][:3] == ["HippoRAG 2", "56.48", "60.14"]
    own = [rows for caption, rows in tables(folder).items() if not caption.startswith("Published")]
    assert not any("HippoRAG" in cell for rows in own for row in rows for cell in row)
    assert {row[0] for row in foreign}.isdisjoint({"naive", HOSTILE})


def test_published_numbers_stand_beside_the_data_that_they_are_of() -> None:
    assert read_published("quality", "quality", hard=True) == read_published(
        "quality-hard", "quality", hard=True
    )
    [stories] = read_published("quality", "narrativeqa")
    assert stories.source.endswith("NarrativeQA")
    assert read_published("quality", "squality") == []
    assert read_published("sweep-top-k", "quality") == []


def test_a_subset_and_the_nodes_of_the_graphs_are_reported(tmp_path: Path) -> None:
    data = replace(RUN.data, part="all", hard=True, subset="Project Gutenberg's texts: 9 texts.")
    with_nodes = replace(RUN.systems[1], nodes={"chunk": 1200, "entity": 80})
    others = (replace(RUN.systems[0], nodes={"chunk": 1200}), with_nodes, *RUN.systems[2:])
    folder = recorded(tmp_path / "run", replace(RUN, data=data, systems=others), RESULTS)
    write_report(folder, PRICES)
    rows = dict(row for row in table(folder, "The run.") if len(row) == 2)
    assert rows["data"] == "novels, all, hard questions: 4 texts, 12 questions"
    assert rows["subset"] == "Project Gutenberg's texts: 9 texts."
    assert table(folder, "Nodes of each kind") == [
        ["system", "chunk", "entity"],
        ["naive", "1,200", "0"],
        [HOSTILE, "1,200", "80"],
    ]


def test_published_numbers_are_as_their_sources_have_them() -> None:
    [quality] = read_published("quality", "quality")
    [hard] = read_published("quality-hard", "quality", hard=True)
    [stories] = read_published("narrativeqa", "narrativeqa")
    assert list(quality.values.values()) == [(52, 61), (76, 86), (81, 91)]
    assert list(hard.values.values()) == [(39, 52), (70, 80), (77, 87)]
    assert list(stories.values.values()) == [(33, 47), (64, 74), (67, 77)]
    names = ("graphrag-bench-novel", "agent", "agent-medical")
    for one in (quality, hard, stories, *chain.from_iterable(map(read_published, names))):
        assert {len(values) for values in one.values.values()} == {len(one.columns)}


def test_the_agent_is_reported_beside_the_board_and_a_rag() -> None:
    board, small, large = read_published("agent", "graphrag-bench")
    assert list(board.values.values())[:4] == [(66.09,), (63.72,), (58.94,), (56.48,)]
    assert (small.values["A-RAG"], large.values["A-RAG"]) == ((72.7,), (85.3,))
    assert [column.metric for column in board.columns] == ["answer_accuracy"]
    assert [column.metric for column in small.columns] == ["judged_accuracy"]


def test_markup_in_a_name_is_text(folder: Path) -> None:
    parsed = html.fromstring(MarkdownIt().enable("table").render(text_of(folder)))
    assert not parsed.xpath("//b")
    assert HOSTILE in {cell.text_content().strip() for cell in parsed.xpath("//th | //td")}
    assert {len(row.xpath("./td")) for row in parsed.xpath("//table[1]//tr[td]")} == {2}


MARKS = st.text(alphabet="ab1 *_`[]()<>!&;|\\-+#=.~:/\"'\n", max_size=24)


@given(MARKS.map(lambda text: " ".join(text.split())).filter(bool))
@example("1. <script>alert(1)</script>")
@example("___")
@example("![a](b.png) &lt; https://a.b #")
def test_any_text_is_read_as_it_stands(text: str) -> None:
    row = (text, markdown.Cell(text, (text,)))
    written = markdown.join(
        escape_markdown(text),
        markdown.note(text, warning=True),
        markdown.table(text, (text,), [(text,)]),
        markdown.table(text, (text, "a"), [row], is_heading=True),
    )
    shown = html.fromstring(f"<div>{MarkdownIt().enable('table').render(written)}</div>")
    leaves = shown.xpath("//h3 | //p | //th[1] | //td[1] | //td/em")
    assert [leaf.text_content() for leaf in leaves] == [text] * 9
    tags = {element.tag for element in shown.iterdescendants()}
    in_tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert tags == {"p", "blockquote", "strong", "em", "h3"} | in_tables


def test_what_it_cost_is_told_in_tokens_money_and_time(folder: Path) -> None:
    rows = table(folder, "Models, the whole run: ask")
    assert rows[1] == ["naive", "24", "0", "1,000,000", "400,000", "200,000", "4.00"]
    assert table(folder, "Time")[1] == ["naive", "90 s", "60 s"]
    question = table(folder, "A question, on the average")
    assert question[1] == ["naive", "100", "2.0", "500", "20.0", "1.50 s"]


def test_what_the_cache_answered_costs_the_same_and_has_no_time(tmp_path: Path) -> None:
    paid = {"storyteller": Usage(24, 1_000_000, 200_000)}
    kept = {
        "storyteller": Usage(
            4, 400_000, saved=20, saved_prompt_tokens=600_000, saved_completion_tokens=200_000
        )
    }
    systems = tuple(
        replace(system(name), stages={"ask": Stage(seconds, spent)})
        for name, seconds, spent in (("first", 60.0, paid), ("second", 9.0, kept))
    )
    results = [result(name, n, {}) for name in ("first", "second") for n in range(2)]
    results = [
        replace(one, seconds=0.1, spent={"storyteller": Usage(1, saved=1)})
        if (one.system, one.question) in {("first", "q1"), ("second", "q0"), ("second", "q1")}
        else one
        for one in results
    ]
    write_report(recorded(tmp_path, replace(RUN, systems=systems), results), PRICES)
    first, second = table(tmp_path, "Models, the whole run: ask")[1:]
    assert first == ["first", "24", "0", "1,000,000", "0", "200,000", "4.00"]
    assert second == ["second", "24", "20", "1,000,000", "0", "200,000", "4.00"]
    assert [row[-1] for row in table(tmp_path, "A question, on the average")[1:]] == [
        "1.50 s n = 1",
        "–",
    ]
    assert table(tmp_path, "Time")[2] == ["second", "9.00 s 20 of 24 calls from the cache"]
    assert "whether a model or the response cache answered" in text_of(tmp_path)


def test_a_model_without_a_price_costs_what_nobody_knows(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, RUN, RESULTS), {})
    assert table(tmp_path, "Models, the whole run: ask")[1][-1] == "not known"


def test_all_that_a_repetition_needs_is_there(folder: Path) -> None:
    assert RUN.command in text_of(folder)
    assert ["questions.json", "5e" * 32] in table(folder, "The data's files")
    assert ["seed of questions", "7"] in table(folder, "Versions and seeds")
    differing = table(folder, "Settings in which the systems differ")
    assert differing[1:] == [
        ["k", "5", "5", "1", "10"],
        ["mode", "naive", "details", "naive", "naive"],
    ]
    assert ["context tokens", "0 to no limit", "Fabula's own", "What they were worth."] in table(
        folder, "Ranges"
    )


def test_a_chart_has_a_bar_for_each_system_as_long_as_its_mean(folder: Path) -> None:
    chart = text_of(folder).partition("*answer accuracy, %*\n\n```text\n")[2].partition("\n```")[0]
    bars = {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in chart.splitlines()}
    assert list(bars) == ["naive", HOSTILE, "graph, k 1", "graph, k 10"]
    lengths = {name: bar.count("█") for name, bar in bars.items()}
    assert max(lengths.values()) == lengths["graph, k 10"] == BAR_CHARACTERS
    assert bars["graph, k 10"].endswith(" 87.5")


def test_an_unfinished_run_says_so_on_top(tmp_path: Path) -> None:
    recorded(tmp_path, replace(RUN, finished=None, offline=True), RESULTS[:9])
    with (tmp_path / "results.jsonl").open("a") as stream:
        stream.write('{"system": "naive", "quest')
    write_report(tmp_path, PRICES)
    first, second = re.findall("^> (.*)$", text_of(tmp_path), re.M)
    assert first.startswith("**Unfinished: 9 of 48 results exist")
    assert "naive 9" in first
    assert second.startswith("**Offline: summaries, details and answers are extracts of the text")


def test_one_system_and_one_question_make_a_report(tmp_path: Path) -> None:
    run = replace(RUN, systems=RUN.systems[:1], questions=QUESTIONS[:1], suite="mine")
    write_report(recorded(tmp_path, run, RESULTS[:1]), PRICES)
    assert (tmp_path / "summary.csv").is_file()
    scores = table(tmp_path, "Means over 1 question,")
    assert scores[1][1] == "25.0 [25.0, 25.0]"
    assert "Differences" not in text_of(tmp_path)
    assert "Published" not in text_of(tmp_path)


def test_a_run_without_a_result_makes_a_report(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, replace(RUN, finished=None), []), PRICES)
    assert "Unfinished: 0 of 48 results" in text_of(tmp_path)
    assert "There are no scores yet." in text_of(tmp_path)


def test_what_is_no_run_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FabulaError, match="holds no run"):
        write_report(tmp_path, PRICES)
    recorded(tmp_path, RUN, RESULTS)
    (tmp_path / "results.jsonl").write_text("{}\n{}\n")
    with pytest.raises(FabulaError, match=r"line 1, is not a result .system: is missing"):
        write_report(tmp_path, PRICES)
    (tmp_path / "run.json").write_text('{"suite": "mine"}')
    with pytest.raises(FabulaError, match=r"run\.json is not a run's: purpose: is missing"):
        write_report(tmp_path, PRICES)
