"""How many rounds and batches a dry run expects."""

from __future__ import annotations

import pytest

from fabula.models import batch_estimate
from fabula.models.batch_estimate import BatchEstimate


def ask(
    estimate: BatchEstimate, kind: str, count: int, text: str = "word", model: str = "m"
) -> None:
    for number in range(count):
        estimate.ask(f"{kind} {model} {number} {text}".encode(), kind, model, [text])


def test_each_model_and_kind_of_call_has_a_batch_of_its_own_in_a_round() -> None:
    estimate = BatchEstimate()
    ask(estimate, "chat", 3)
    ask(estimate, "chat", 2, model="n")
    ask(estimate, "embeddings", 2)
    estimate.end_round()
    ask(estimate, "chat", 3)
    estimate.end_round()
    assert (estimate.rounds, estimate.batches) == (1, 3)


def test_what_no_single_file_holds_takes_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_estimate, "MAX_LINES", 10)
    monkeypatch.setattr(batch_estimate, "MAX_FILE_BYTES", 1000)
    estimate = BatchEstimate()
    ask(estimate, "chat", 25)
    estimate.end_round()
    assert (estimate.rounds, estimate.batches) == (1, 3)
    ask(estimate, "embeddings", 9, "é" * 200)
    estimate.end_round()
    assert (estimate.rounds, estimate.batches) == (2, 3 + 4)


def test_what_is_asked_directly_is_no_round() -> None:
    estimate = BatchEstimate(min_tokens=100, min_calls=5)
    ask(estimate, "embeddings", 99)
    ask(estimate, "chat", 4)
    estimate.end_round()
    assert (estimate.rounds, estimate.batches) == (0, 0)
    ask(estimate, "embeddings", 100, "other")
    ask(estimate, "chat", 5, "other")
    estimate.end_round()
    assert (estimate.rounds, estimate.batches) == (1, 2)
