"""`fabula bench` as a user types it: a suite of their own, run, stopped, gone on with, reported."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from commands import run as run_command
from database import cypher, wipe
from endpoint import Endpoint
from endpoint.faults import Fault
from fabula.build.outcome import SilentListener
from fabula.cli import main
from fabula.config.settings import SECRET
from fabula.errors import BudgetSpent, ModelError
from fabula.store import Store
from fabula_bench.data import SMOKE
from fabula_bench.plan import BenchRun
from fabula_bench.run import run
from fabula_bench.suite import read_suite
from forked import Forked

pytestmark = pytest.mark.long

PLACES = ("harbour", "mill", "church", "forest")
SUITE = """
name = "tiny"
purpose = "Two systems on two short tales."
ask = "{ask}"
metrics = ["answer_coverage", "context_tokens"{metrics}]

[data]
set = "own"
part = "questions"
folder = "tales"

[settings]
chunk_tokens = 32
context = "passages"
# The tests' model answers with the first passage: that has to be the best one.
order = "rank"
fill = false

[systems.naive]
preset = "naive"

[systems.graph]
aspects = ["plot"]
settings = {{ levels = 1, details = 1 }}
"""


def tale(name: str) -> str:
    return " ".join(
        f"On day {day} {name} walked to the {place} and found a letter of {place} colour there."
        for day, place in enumerate(PLACES * 2)
    )


@pytest.fixture
def tales(tmp_path: Path, graph_url: str) -> Path:
    """Two tales of four questions each, and a suite that retrieves."""
    folder = tmp_path / "tales"
    folder.mkdir()
    lines = [
        {
            "document": tale(name),
            "question": f"What did {name} find at the {place}?",
            "answers": [f"A letter of {place} colour."],
            "options": [f"A letter of {place} colour." for place in PLACES],
        }
        for name in ("Anna", "Boris")
        for place in PLACES
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return suite(tmp_path, "retrieve")


def suite(folder: Path, ask: str, metrics: str = "") -> Path:
    path = folder / "tiny.toml"
    path.write_text(SUITE.format(ask=ask, metrics=metrics))
    return path


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("FABULA_CONCURRENCY", "4")
        yield server


bench = partial(run_command, "bench")


def go(path: Path, out: str = "runs/tiny", questions: int | None = None, **given: Any) -> None:
    """A run without a report, as drawing takes longer than all else."""
    run(BenchRun(read_suite(str(path)), Path(out), given, questions=questions), SilentListener())


def lines(folder: Path = Path("runs/tiny")) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def lasting(folder: Path = Path("runs/tiny")) -> list[dict[str, Any]]:
    """The results, less what differs from run to run: time, and what the cache saved."""
    fleeting = ("seconds", "calls", "prompt_tokens", "completion_tokens", "spent", "judged")
    return [{key: line[key] for key in line if key not in fleeting} for line in lines(folder)]


def recorded(folder: Path = Path("runs/tiny")) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return read


def prompts(endpoint: Endpoint) -> Counter[str]:
    """How often each prompt was sent."""
    return Counter(json.dumps(body, sort_keys=True) for body in endpoint.bodies)


# A run


@pytest.mark.journey
def test_a_run_leaves_results_a_record_and_a_report_that_can_be_written_again(tales: Path) -> None:
    result = bench("run", tales, "--limit", "8")
    assert "16 of 16 results are in runs/tiny." in result.stdout
    Path("runs/tiny/report.md").unlink()
    bench("report", "runs/tiny")
    found = lines()
    assert [one["system"] for one in found] == ["naive"] * 8 + ["graph"] * 8
    assert found[0]["asked"] == "What did Anna find at the harbour?"
    assert found[0]["context"][0]["kind"] == "chunk"
    assert found[0]["scores"].keys() == {"answer_coverage", "context_tokens"}
    passages = [one for line in found[8:] for one in line["context"]]
    assert {passage["kind"] for passage in passages} > {"chunk"}
    assert {passage["aspect"] for passage in passages} <= {"", "plot"}
    run = recorded()
    assert run["finished"] and run["offline"]
    assert run["versions"].keys() >= {"fabula", "python", "neo4j", "numpy"}
    assert list(run["data"]["sha256"]) == ["questions.jsonl"]
    assert run["systems"][0]["settings"]["chunk_tokens"] == 32
    assert not {"api_key", "neo4j_password"} & run["systems"][0]["settings"].keys()
    files = {file.name for file in Path("runs/tiny").iterdir()}
    assert {"report.md", "summary.csv"} <= files


def test_texts_are_apart_a_second_run_asks_nothing_and_documents_serve_other_runs(
    tales: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    go(tales)
    for line in lines():
        name = line["asked"].split()[2]
        assert all(
            name in passage["text"] for passage in line["context"] if passage["kind"] == "chunk"
        )
    before = Path("runs/tiny/results.jsonl").read_bytes()
    capsys.readouterr()
    go(tales)
    assert capsys.readouterr().out == ""
    assert Path("runs/tiny/results.jsonl").read_bytes() == before
    go(tales, "again")
    assert lasting(Path("again")) == lasting()
    count = "MATCH (d:Document) RETURN count(d) AS n, count(DISTINCT d.collection) AS c"
    assert cypher(store, count) == [{"n": 4, "c": 2}]


def test_a_limit_takes_some_of_each_text_and_can_grow(tales: Path) -> None:
    go(tales, questions=2)
    few = lasting()
    assert [one["asked"].split()[2] for one in few] == ["Anna", "Boris"] * 2
    go(tales, questions=4)
    assert len(lines()) == 8
    assert all(one in lasting() for one in few)


def test_the_suites_are_listed_with_what_they_are_for() -> None:
    shown = bench("list").stdout
    assert "smoke " in shown
    assert "Every mode of retrieval on the same graphs" in shown


# With a model


def test_an_option_is_chosen_from_the_context(
    tales: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    go(suite(tmp_path, "choose", ', "accuracy"'))
    found = lines()
    assert all(one["choice"] in range(4) and "accuracy" in one["scores"] for one in found)
    # The question and the choice. The second system finds the question's embedding in the cache,
    # and costs no less for it.
    assert {one["calls"] for one in found} == {2}
    saved = [sum(usage["saved"] for usage in one["spent"].values()) for one in found]
    assert saved == [0] * 8 + [1] * 8
    [first, *_] = recorded()["systems"]
    assert first["stages"]["ask"]["spent"].keys() == {"gpt-4.1-mini", "text-embedding-3-small"}
    assert first["stages"]["ingest"]["spent"]["text-embedding-3-small"]["calls"] == 2
    assert first["settings"]["base_url"] == os.environ["OPENAI_BASE_URL"]
    assert not {*SECRET} & first["settings"].keys()


def test_an_answer_is_kept_with_what_it_cites(
    tales: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    go(suite(tmp_path, "answer", ', "token_f1"'))
    assert all("[1]" in line["answer"] and line["cited"] for line in lines())
    assert all(line["scores"]["token_f1"] > 0 for line in lines())


def test_graphs_are_built_by_batches_and_questions_are_asked_directly(
    tales: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "0")
    first = bench("run", tales, "--batch", code=75)
    assert "2 of 2 texts wait for batches" in first.output
    assert "0 of 16 results are in runs/tiny." in first.output
    waited = ("--batch", "--wait", "--poll", "0.05")
    assert "16 of 16 results are in runs/tiny." in bench("run", tales, *waited).output
    assert max(endpoint.batches.paid.values()) == 1
    # Both texts of a system share batches: their chunks are in the first.
    chunks = next(iter(endpoint.batches.batches.values()))["lines"]
    texts = " ".join(line["body"]["input"][0] for line in chunks)
    assert "Anna" in texts and "Boris" in texts
    spent = [used for models in recorded()["graphs"].values() for used in models.values()]
    assert sum(used["batch_prompt_tokens"] for used in spent) > 0


def test_answers_are_compared_with_those_of_the_first_system(
    tales: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    go(suite(tmp_path, "answer", ', "win_directness", "answer_relevance"'))
    found = lines()
    assert [set(one["scores"]) & {"win_directness"} for one in found[:8]] == [set()] * 8
    assert {one["scores"]["win_directness"] for one in found[8:]} <= {0.0, 0.5, 1.0}
    assert all("answer_relevance" in one["scores"] for one in found)
    compared = [
        body["messages"][-1]["content"]
        for body in endpoint.bodies
        if "Which answer is better by this criterion?" in json.dumps(body)
    ]
    assert 0 < len(compared) <= 16, "two orders of eight answers; equal calls are cached"


def test_without_a_model_only_contexts_are_compared(tales: Path, tmp_path: Path) -> None:
    go(suite(tmp_path, "choose", ', "accuracy"'))
    assert "here nothing is chosen" in recorded()["left_out"]["accuracy"]
    assert all(line["choice"] is None and "accuracy" not in line["scores"] for line in lines())


# Stopped, and gone on with


@pytest.fixture
def choosing(tales: Path, tmp_path: Path) -> Path:
    """A suite that asks a model for a choice."""
    return suite(tmp_path, "choose", ', "accuracy"')


def test_a_run_that_an_endpoint_ends_asks_nothing_twice(choosing: Path, endpoint: Endpoint) -> None:
    def plan(number: int) -> Fault | None:
        return "quota" if number > 30 else None

    endpoint.plan = plan
    with pytest.raises(ModelError):
        go(choosing)
    kept, refused = lasting(), endpoint.refused
    assert 0 < len(kept) < 16
    endpoint.plan = lambda _: None
    go(choosing)
    assert len(lines()) == 16
    assert all(one in lasting() for one in kept)
    # What was refused is all that had to be sent again.
    assert endpoint.calls - len(prompts(endpoint)) <= refused


def test_a_killed_run_goes_on_where_it_was(
    choosing: Path, endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    go(choosing, "whole", cache_folder="other")
    wipe(store)
    # The last questions wait for it: however late this process sees the lines, some are missing.
    endpoint.held_from = 2 * endpoint.calls - 3
    victim = Forked(tmp_path / "said", "bench", "run", "tiny.toml", environment=os.environ)
    log = Path("runs/tiny/results.jsonl")
    while victim.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        time.sleep(0.01)
    victim.kill()
    victim.wait()
    kept = log.read_bytes().split(b"\n")[:-1]
    assert 3 <= len(kept) < 16
    endpoint.release()
    go(choosing)
    assert lasting() == lasting(Path("whole"))
    assert set(kept) <= set(log.read_bytes().split(b"\n"))


def test_a_second_run_into_a_folder_is_refused_while_the_first_goes_on(
    choosing: Path, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.held_from = 1
    first = Forked(tmp_path / "said", "bench", "run", "tiny.toml", environment=os.environ)
    while first.poll() is None and not Path("runs/tiny/run.json").exists():
        time.sleep(0.01)
    output = bench("run", choosing, code=1).stderr
    assert "Another run is writing into runs/tiny" in output
    assert "--out" in output
    bench("report", "runs/tiny")
    endpoint.release()
    assert first.wait() == 0
    assert len(lines()) == 16
    assert len({(line["system"], line["question"]) for line in lines()}) == 16


def test_a_run_stops_before_more_calls_than_it_may(choosing: Path, endpoint: Endpoint) -> None:
    result = bench("run", choosing, "--max-calls", "9", code=1)
    assert "Stopped after 9 model calls, which is the limit" in result.stderr
    assert "--max-calls 9" in result.stderr
    assert endpoint.calls == 9
    with pytest.raises(BudgetSpent):
        go(choosing, max_calls=20)
    go(choosing)
    assert len(lines()) == 16
    assert max(prompts(endpoint).values()) == 1


# What can go wrong


def test_a_folder_of_another_run_is_refused(tales: Path) -> None:
    go(tales, questions=1)
    tales.write_text(tales.read_text().replace("chunk_tokens = 32", "chunk_tokens = 64"))
    output = bench("run", tales, code=1).stderr
    differing = "chunk_tokens 32 for 'naive', and this one 64"
    assert f"runs/tiny contains another run, with {differing}" in output
    assert "--out" in output
    assert len(lines()) == 2


def test_a_run_of_another_version_is_not_gone_on_with(
    tales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(tales, questions=1)
    run = recorded()
    now = run["identity"]["made_with"]
    assert now["fabula"] == run["versions"]["fabula"]
    older = {"made_with": now | {"fabula": "0.0.9"}}
    changed = run | {
        "identity": run["identity"] | older,
        "versions": run["versions"] | {"fabula": "0.0.9"},
    }
    Path("runs/tiny/run.json").write_text(json.dumps(changed))
    output = bench("run", tales, code=1).stderr
    assert f"runs/tiny was made with Fabula 0.0.9, and this is Fabula {now['fabula']}" in output
    assert "--out" in output
    assert "fabula bench report runs/tiny" in output
    assert len(lines()) == 2


def test_other_data_is_another_run(tales: Path, tmp_path: Path) -> None:
    go(tales, questions=1)
    questions = tmp_path / "tales" / "questions.jsonl"
    questions.write_text(questions.read_text().replace("letter", "parcel"))
    assert "contains another run, with data" in bench("run", tales, code=1).stderr


def test_another_data_set_of_a_suite_is_another_run(tales: Path) -> None:
    data = ("--data", SMOKE / "narrativeqa", "--limit", "1")
    words = ("run", tales, "--set", "narrativeqa", "--only", "gutenberg", *data)
    result = bench(*words, "--set", "top_k=2")
    assert "706 texts with 21,894 questions" in result.stderr
    folder = Path("runs/tiny-narrativeqa-gutenberg")
    assert [line["question"].rpartition("-")[0] for line in lines(folder)] == ["sleepy-hollow"] * 2
    run = recorded(folder)
    named = {"set": "narrativeqa", "part": "test", "hard": False, "only": "gutenberg"}
    assert run["identity"]["data"].items() >= named.items()
    assert run["plan"]["data"].items() >= named.items()
    assert run["systems"][0]["settings"]["top_k"] == 2
    assert "706 texts with 21,894 questions" in run["data"]["subset"]
    assert "706 texts with 21,894 questions" in (folder / "report.md").read_text()
    output = bench("run", tales, "--out", folder, code=1).stderr
    assert "contains another run, with data" in output
    output = bench("run", tales, "--set", "narrativeqa", "--out", folder, *data, code=1).stderr
    assert "contains another run, with data" in output, "all texts, and not those of the library"


def test_a_data_set_that_is_not_there_is_named(tales: Path) -> None:
    result = CliRunner().invoke(main, ["bench", "run", str(tales), "--set", "narative"])
    assert result.exit_code == 2
    assert "'narative' is no data set (quality, narrativeqa," in result.output


def test_a_wrong_key_of_a_suite_is_named(tales: Path) -> None:
    tales.write_text(tales.read_text() + "presett = 'naive'\n")
    assert "systems.graph.presett: there is no such key" in bench("run", tales, code=1).stderr


def test_data_that_is_missing_is_said_with_where_it_goes(tmp_path: Path) -> None:
    assert "QuALITY.v1.0.1" in bench("run", "quality", "--data", tmp_path, code=1).stderr
