"""What a run would ask of models, before it is paid for, beside what it then asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from commands import run as run_command
from endpoint import Endpoint
from fabula.build.outcome import SilentListener
from fabula.models.usage import Usage, sum_usage
from fabula.store import Store
from fabula_bench.estimate import estimate_run
from fabula_bench.log import Log
from fabula_bench.metrics.ragas_library import make_example
from fabula_bench.plan import BenchRun
from fabula_bench.run import run
from fabula_bench.suite import read_suite

pytestmark = pytest.mark.long

TALE = " ".join(
    f"On day {day} {{name}} walked to the {place} and found a letter of {place} colour there."
    for day, place in enumerate(("harbour", "mill", "church", "forest") * 2)
)
SUITE = """
name = "tiny"
purpose = "Two systems on two short tales."
ask = "answer"
metrics = ["answer_accuracy", "context_relevance", "win_directness", "context_tokens"]
[data]
set = "own"
part = "questions"
folder = "tales"
[settings]
chunk_tokens = 32
[systems.naive]
preset = "naive"
[systems.graph]
settings = { levels = 1, details = 1 }
"""


@pytest.fixture
def bench(tmp_path: Path, graph_url: str, monkeypatch: pytest.MonkeyPatch) -> BenchRun:
    (tmp_path / "tales").mkdir()
    lines = [
        BenchLine(
            document=TALE.format(name=name),
            question=f"What did {name} find at the {place}?",
            answers=[f"A letter of {place} colour."],
        ).model_dump_json()
        for name in ("Anna", "Boris")
        for place in ("mill", "church", "forest")
    ]
    (tmp_path / "tales/questions.jsonl").write_text("\n".join(lines))
    (tmp_path / "tiny.toml").write_text(SUITE)
    return BenchRun(read_suite("tiny.toml"), Path("runs/tiny"), {})


class BenchLine(BaseModel):
    document: str
    question: str
    answers: list[str]


def test_an_estimate_asks_no_model_and_is_what_the_run_then_asks(
    bench: BenchRun, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        estimate = estimate_run("tiny", bench, SilentListener())
        assert endpoint.calls == 0
        assert not bench.folder.exists()
        run(bench, SilentListener())
        log, sent = Log(bench.folder), endpoint.calls
        calls = sum(count_calls(stage.spent) for stage in estimate.stages)
        # How many vectors a graph needs depends on what a model says; the rest is exact.
        assert calls == pytest.approx(sent, rel=0.05)
        expected = {(stage.system, stage.stage): stage.spent for stage in estimate.stages}
        for name in ("naive", "graph"):
            results = log.of(name)
            asked = sum_usage(result.spent for result in results)
            judged = sum_usage(result.judged for result in results)
            assert count_calls(expected[name, "ask"]) == count_calls(asked)
            assert count_calls(expected[name, "score"]) == count_calls(judged)
            for model, usage in asked.items():
                counted = expected[name, "ask"][model].prompt_tokens
                assert counted == pytest.approx(usage.prompt_tokens, rel=0.25)
        output = run_command("bench", "run", "tiny.toml", "--dry-run").stdout
        assert re.search(r"\ball +0 +0 +0 ", output), "what has results is not paid again"
        assert endpoint.calls == sent


def count_calls(spent: Mapping[str, Usage]) -> int:
    return sum(spent.values(), Usage()).calls


class Verdict(BaseModel):
    statement: str
    kind: Literal["right", "wrong"]
    marks: int


class Verdicts(BaseModel):
    verdicts: list[Verdict]


def test_a_reply_in_the_shape_that_a_library_asks_for_is_made_up() -> None:
    made = Verdicts.model_validate(make_example(Verdicts.model_json_schema()))
    assert [verdict.kind for verdict in made.verdicts] == ["right", "right"]
