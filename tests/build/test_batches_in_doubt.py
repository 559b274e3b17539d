"""Batches of which it is not known whether they run, or what became of them: none is paid twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batch_runs import AT_ONCE, ingest, repeat
from endpoint import Endpoint
from fabula import App
from fabula.build.outcome import Outcome
from fabula.cli import main
from fabula.errors import ModelError
from fabula.load.blocks import Block, Draft
from fabula.load.document import document
from fabula.load.source import DocumentSource
from fabula.models import batch_rounds
from fabula.models.batch_interface import InterfaceRefused
from fabula.models.batch_options import BatchOptions
from fabula.models.batch_store import BatchRow, BatchStore, CollectedCall
from fabula.models.cache import ResponseCache
from fabula.models.endpoint.learned import LearnedBehaviour
from fabula.store import Store
from stories import harbour_story

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("batching")]

PAGE = b"<html>Please log in.</html>"
NONE_LISTED = b'{"object": "list", "data": []}'


@pytest.fixture
def book(store: Store, tmp_path: Path) -> Path:
    path = tmp_path / "harbour.txt"
    path.write_text(harbour_story("slept", 3))
    return path


def rows(tmp_path: Path) -> list[BatchRow]:
    with closing(BatchStore(tmp_path / "cache")) as batches:
        return batches.batches(open_only=False)


def first(prefix: str, answer: bytes, times: int = 1) -> Callable[[str], bytes | None]:
    """Answer this to the first requests of this method and path."""
    left = [times]

    def shown(name: str) -> bytes | None:
        if not name.startswith(prefix) or not left[0]:
            return None
        left[0] -= 1
        return answer

    return shown


def finish(book: Path) -> Outcome:
    """Run again and again, as somebody does who sees that the endpoint is not itself."""

    def run() -> list[Outcome]:
        try:
            return ingest(book, batch=AT_ONCE)
        except InterfaceRefused as error:
            assert error.is_temporary, error
            return [Outcome("", "waiting")]

    [outcome], _ = repeat(run, 20)
    return outcome


# Creating it


def test_a_batch_that_is_listed_late_is_not_created_again(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    endpoint.batches.after = lambda name: 504 if name == "POST /batches" else None
    endpoint.batches.shown = first("GET /batches", NONE_LISTED, 2)
    for _ in range(3):
        [outcome] = ingest(book, batch=BatchOptions())
        assert outcome.status == "waiting"
    assert len(endpoint.batches.sizes) == 1
    assert [row.state for row in rows(tmp_path)] == ["sent"]
    endpoint.batches.after = lambda _: None
    assert finish(book).status == "added"
    assert max(endpoint.batches.paid.values()) == 1


def test_a_batch_that_was_never_created_is_created_in_the_end(
    endpoint: Endpoint, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.batches.instead = lambda name: (502, b"") if name == "POST /batches" else None
    assert ingest(book, batch=BatchOptions())[0].status == "waiting"
    endpoint.batches.instead = lambda _: None
    assert ingest(book, batch=BatchOptions())[0].status == "waiting"
    assert endpoint.batches.sizes == []
    monkeypatch.setattr(batch_rounds, "CREATE_SECONDS", 0.0)
    assert finish(book).status == "added"


# Answers that are none


@pytest.mark.parametrize("prefix", ["POST /batches", "GET /batches/", "GET /files/"])
def test_a_page_in_place_of_an_answer_is_not_believed(
    endpoint: Endpoint, book: Path, prefix: str
) -> None:
    endpoint.batches.shown = first(prefix, PAGE)
    assert finish(book).status == "added"
    assert max(endpoint.batches.paid.values()) == 1
    assert endpoint.batches.files == {}


def test_a_page_in_place_of_the_list_creates_no_second_batch(
    endpoint: Endpoint, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_rounds, "CREATE_SECONDS", 0.0)
    endpoint.batches.after = lambda name: 504 if name == "POST /batches" else None
    endpoint.batches.shown = first("GET /batches", PAGE, 2)
    ingest(book, batch=BatchOptions())
    with pytest.raises(InterfaceRefused, match="did not answer GET /batches as expected"):
        ingest(book, batch=BatchOptions())
    assert len(endpoint.batches.sizes) == 1


# A batch or a file that is not there


def test_a_batch_is_lost_only_after_days(
    endpoint: Endpoint, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.batches.looks = 0
    ingest(book, batch=BatchOptions())
    gone = (404, b'{"error": {"message": "No batch found"}}')
    endpoint.batches.instead = lambda name: gone if name.startswith("GET /batches/") else None
    assert ingest(book, batch=BatchOptions())[0].status == "waiting"
    [row] = rows(tmp_path)
    assert row.state == "sent"
    assert row.note.endswith("does not know it: is the key another account's?")
    monkeypatch.setattr(batch_rounds, "LOST_SECONDS", 0.0)
    ingest(book, batch=BatchOptions())
    assert [row.status for row in rows(tmp_path)] == ["lost", "validating"]


def test_a_file_that_is_gone_is_waited_for_and_then_asked_again(
    endpoint: Endpoint, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.batches.looks = 0
    ingest(book, batch=BatchOptions())
    gone = (404, b'{"error": {"message": "No such File object"}}')
    endpoint.batches.instead = lambda name: gone if name.startswith("GET /files/") else None
    for _ in range(2):
        assert ingest(book, batch=BatchOptions())[0].status == "waiting"
    [row] = rows(tmp_path)
    assert (row.state, row.status) == ("sent", "completed")
    monkeypatch.setattr(batch_rounds, "CREATE_SECONDS", 0.0)
    ingest(book, batch=BatchOptions())
    assert rows(tmp_path)[0].note.startswith("A file of its answers is gone.")
    endpoint.batches.instead = lambda _: None
    assert finish(book).status == "added"


# Cancelling


def cancel(number: int) -> int:
    return CliRunner().invoke(main, ["batches", "--cancel", str(number)]).exit_code


def test_a_batch_that_is_being_created_is_found_and_cancelled(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    endpoint.batches.after = lambda name: 504 if name == "POST /batches" else None
    endpoint.batches.shown = first("GET /batches", NONE_LISTED)
    ingest(book, batch=BatchOptions())
    # It may be listed later: it is not forgotten.
    assert cancel(1) == 1
    assert [row.state for row in rows(tmp_path)] == ["creating"]
    assert cancel(1) == 0
    [batch] = endpoint.batches.batches.values()
    assert batch["fault"] == "cancelled"


@pytest.mark.parametrize("status", [400, 404, 409])
def test_a_batch_that_ended_before_it_was_cancelled_is_taken_in(
    endpoint: Endpoint, book: Path, tmp_path: Path, status: int
) -> None:
    endpoint.batches.looks = 0
    ingest(book, batch=BatchOptions())
    refused = (status, b'{"error": {"message": "It has ended."}}')
    endpoint.batches.instead = lambda name: refused if name.endswith("/cancel") else None
    assert cancel(1) == 0
    [row] = rows(tmp_path)
    assert (row.state, row.status, row.done) == ("done", "completed", row.lines)


def test_a_batch_that_nobody_knows_is_cancelled_here(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    ingest(book, batch=BatchOptions())
    endpoint.batches.batches.clear()
    assert cancel(1) == 0
    assert [(row.state, row.status) for row in rows(tmp_path)] == [("done", "cancelled")]


# Beside others, and refusals


def test_a_bad_batch_of_another_run_stops_none(
    endpoint: Endpoint, book: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(BatchStore(tmp_path / "cache")) as batches:
        call = CollectedCall("other", "/chat/completions", "m", {"model": "m"}, 1)
        batches.collect(endpoint.url, call)
        [number] = batches.plan(["other"])
        batches.update(number, state="sent", remote="batch_other")
    refused = (403, b'{"error": {"message": "A secret of another tenant"}}')
    endpoint.batches.instead = lambda name: refused if name.endswith("/batch_other") else None
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert "secret" not in caplog.text
    assert f"Batch {number} can't be taken on now" in caplog.text


def test_what_is_refused_as_a_whole_for_ever_is_not_sent_for_ever(
    endpoint: Endpoint, book: Path
) -> None:
    endpoint.batches.faults = dict.fromkeys(range(1, 100), "unknown")

    def run() -> list[Outcome]:
        try:
            return ingest(book, batch=AT_ONCE)
        except ModelError as error:
            assert "Billing hard limit" in str(error)
            return [Outcome("", "waiting")]

    [outcome], runs = repeat(run, 20)
    assert outcome.status == "failed"
    assert runs <= 6
    assert not endpoint.batches.paid


def test_a_full_queue_leaves_no_gap_and_no_limit(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    endpoint.batches.faults = dict.fromkeys(range(2, 12), "token_limit")
    [outcome] = ingest(book, batch=AT_ONCE)
    assert (outcome.status, outcome.gaps) == ("added", ())
    # After batches of one call went well, larger ones are tried.
    with closing(ResponseCache(tmp_path / "cache")) as cache:
        limits = {
            LearnedBehaviour(row.endpoint, cache).of(row.model).batch_lines
            for row in rows(tmp_path)
        }
    assert 1 not in limits
    assert max(endpoint.batches.paid.values()) == 1


def test_a_refused_text_does_not_end_the_run(
    endpoint: Endpoint, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "100000")
    error = {"error": {"message": "The prompt was filtered.", "code": "content_filter"}}
    refused: list[str] = []

    def object_to(body: dict[str, Any]) -> tuple[int, Any] | None:
        prompt = json.dumps(body.get("messages"))
        if not refused and "the one aspect that a summary" in prompt:
            refused.append(prompt)
        return (400, error) if prompt in refused else None

    endpoint.objection = object_to
    apart = {"aspects.aspects_with_summaries": False}
    [outcome] = ingest(book, batch=AT_ONCE, batch_min_calls=100, **apart)
    # Few calls are made directly: a refused text is a gap, as in a run without batches.
    assert (outcome.status, [gap.step for gap in outcome.gaps]) == ("added", ["summaries"])
    assert endpoint.batches.sizes == []


def test_json_is_all_that_a_run_prints(endpoint: Endpoint, book: Path) -> None:
    shown = CliRunner().invoke(main, ["ingest", str(book), "--batch", "--json"])
    assert shown.exit_code == 75, shown.output
    assert json.loads(shown.stdout)[0]["status"] == "waiting"
    assert "waiting for 1 batch" in shown.stderr


def test_what_waits_goes_before_what_failed(endpoint: Endpoint, book: Path) -> None:
    other = book.with_name("broken.epub")
    other.write_bytes(b"no book")
    for words in ((), ("--json",)):
        shown = CliRunner().invoke(main, ["ingest", str(book), str(other), "--batch", *words])
        assert shown.exit_code == 75, shown.output


# What a round answers and asks


def test_a_call_that_no_batch_answers_is_sent_four_times(
    endpoint: Endpoint, book: Path, tmp_path: Path
) -> None:
    # One call is never answered, and the document waits for others after its last try.
    sent: Counter[str] = Counter()

    def drop(number: int) -> int | None:
        lines = [line for each in endpoint.batches.batches.values() for line in each["lines"]]
        line = lines[number - 1]
        sent[line["custom_id"]] += 1
        return 500 if line["custom_id"] == lines[0]["custom_id"] else None

    endpoint.batches.line_faults = drop
    ingest(book, batch=AT_ONCE)
    assert max(sent.values()) == 4


def test_a_name_longer_than_a_file_may_have(graph_url: str, store: Store) -> None:
    name = f"{'n' * 300}.txt"
    draft = Draft((Block("The harbour slept, and the ships with it."),), title="The Harbour")
    with App(model="offline", embedding_model="wordllama-256") as app:
        novels = app.collection()
        source = DocumentSource(name, lambda: document(draft, "harbour.txt", novels.name))
        [outcome] = novels.ingest_sources([source])
    assert outcome.error is None


def test_a_dry_run_as_json_counts_as_one_without(endpoint: Endpoint, book: Path) -> None:
    shown = CliRunner().invoke(main, ["ingest", str(book), "--batch", "--dry-run", "--json"])
    assert shown.exit_code == 0, shown.output
    [outcome] = json.loads(shown.stdout)
    assert outcome["usage"]["summaries"]["calls"] > 0
    assert endpoint.calls == 0
