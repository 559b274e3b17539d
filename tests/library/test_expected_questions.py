"""What a question would ask of models, before it is asked: no call, and the calls of each mode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from database import connect, name_server, wipe
from endpoint import Endpoint
from fabula import Fabula
from fabula.ask.modes import modes
from fabula.cli import main
from fabula.models.usage import Usage
from fabula.server import Address
from stories import HOUSE, MILL

QUESTION = "Who spoke with whom?"
GRAPHS = "aspects,entities,communities,discourse,episodes,facts"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    # Not the dimensions of the static vectors that stand in for the endpoint's.
    with Endpoint(dimensions=96) as server:
        yield server


def environment(address: Address, endpoint: Endpoint, patch: pytest.MonkeyPatch) -> None:
    name_server(patch, address)
    patch.setenv("OPENAI_BASE_URL", endpoint.url)
    patch.setenv("OPENAI_API_KEY", "sk-test")
    patch.setenv("FABULA_CHUNK_TOKENS", "40")
    patch.setenv("FABULA_GRAPHS", GRAPHS)
    patch.setenv("FABULA_CACHE", "off")


@pytest.fixture(scope="module")
def book(
    address: Address, endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    file = tmp_path_factory.mktemp("books") / "autumn.txt"
    chapters = (
        f"CHAPTER {numeral}\n\n"
        + " ".join(
            f"It was day {number} of autumn when {first} spoke with {second} for a long while."
            for number, (first, second) in enumerate((a, b) for a in group for b in group if a < b)
        )
        for numeral, group in zip(("I", "II"), (HOUSE, MILL), strict=True)
    )
    file.write_text("\n\n".join(["Title: Autumn", "Language: en", *chapters]) + "\n")
    with connect(address) as store, pytest.MonkeyPatch.context() as patch:
        wipe(store)
        environment(address, endpoint, patch)
        with Fabula() as fabula:
            fabula.ingest(file)
        yield


@pytest.fixture(autouse=True)
def reached(
    book: None, address: Address, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(address, endpoint, monkeypatch)


def chat_calls(endpoint: Endpoint) -> int:
    return sum("messages" in body for body in endpoint.bodies)


def total(steps: dict[str, Usage]) -> Usage:
    return sum(steps.values(), Usage())


@pytest.mark.parametrize("mode", modes())
def test_a_dry_run_calls_nothing_and_expects_what_is_then_called(
    mode: str, endpoint: Endpoint
) -> None:
    with Fabula() as fabula:
        before = endpoint.calls
        expected = fabula.expect_query(QUESTION, mode=mode)
        assert endpoint.calls == before
        called = chat_calls(endpoint)
        answer = fabula.query(QUESTION, mode=mode)
    called = chat_calls(endpoint) - called
    of_chats = {step: usage for step, usage in expected.items() if step != "embeddings"}
    assert called == sum(usage.calls for step, usage in answer.usage.items() if step in of_chats)
    assert total(of_chats).prompt_tokens > 0
    if mode == "drift":
        # What it looks up depends on replies; at most 1 + 5 + 20 + 1 calls are made.
        assert 3 < called <= 27
        assert 3 < total(of_chats).calls <= 27
    elif mode in ("dynamic", "agent"):
        # They decide by replies what else they ask, so this is an upper bound.
        assert called <= total(of_chats).calls <= 60
    else:
        assert called == total(of_chats).calls


def test_the_command_shows_calls_tokens_and_money_of_the_mode(
    endpoint: Endpoint,
) -> None:
    before = endpoint.calls
    words = ["query", QUESTION, "--mode", "global", "--dry-run"]
    shown = CliRunner().invoke(main, [*words, "--json"])
    assert shown.exit_code == 0, shown.output
    estimate = json.loads(shown.stdout)
    assert (estimate["question"], estimate["mode"]) == (QUESTION, "global")
    assert estimate["usage"]["map"]["calls"] == 1
    table = CliRunner().invoke(main, words)
    assert table.exit_code == 0, table.output
    assert "reduce" in table.stdout
    assert "These are estimates" in table.stdout
    assert endpoint.calls == before
    wrong = CliRunner().invoke(main, [*words, "--explain"])
    assert wrong.exit_code == 2
    assert "--dry-run shows an estimate alone" in wrong.stderr


def test_without_a_model_there_is_nothing_to_expect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("FABULA_COLLECTION", "offline")
    monkeypatch.setenv("FABULA_GRAPHS", "aspects")
    file = tmp_path / "short.txt"
    file.write_text("Title: Short\nLanguage: en\n\nAnna spoke with Berta for a long while.\n")
    with Fabula() as fabula:
        fabula.ingest(file)
    shown = CliRunner().invoke(main, ["query", QUESTION, "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert "No model would be asked anything." in shown.stdout
