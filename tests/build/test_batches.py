"""Builds by batches: half the price, the same graph, and nothing paid for twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batch_runs import AT_ONCE, GRAPHS, graph_of, ingest, live_graph, repeat
from endpoint import Endpoint, Plan, every
from endpoint.batches import BatchFault
from endpoint.faults import Fault
from fabula import App, Fabula
from fabula.build.plan import Planner
from fabula.build.run import MAX_KEPT_CHARACTERS
from fabula.build.values import DocumentPlan
from fabula.cli import main
from fabula.errors import BudgetSpent, ModelError, SettingsError
from fabula.graph.entries import Entry
from fabula.load import read_text
from fabula.load.source import DocumentSource
from fabula.models.batch_options import BatchOptions
from fabula.models.batch_store import BatchStore
from fabula.models.budget import Budget
from fabula.models.prices import Price
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.text.document import Document
from stories import harbour_story

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("batching")]

APART: Mapping[str, Any] = {"aspects.aspects_with_summaries": False}
"""Aspects and summaries by calls of their own, so that there are many."""

PRICE = Price(0.4, 1.6, 0.1)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.txt"
    path.write_text(harbour_story("slept", 8))
    return path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def paid_once(endpoint: Endpoint) -> bool:
    return max(endpoint.batches.paid.values()) == 1


# One document, many rounds


@pytest.mark.journey
def test_the_graph_is_that_of_a_live_run(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book, graphs=GRAPHS)
    calls = endpoint.calls
    [outcome] = ingest(book, batch=AT_ONCE, graphs=GRAPHS)
    assert (outcome.status, outcome.error) == ("added", None)
    assert graph_of(store) == live
    batches = endpoint.batches
    assert paid_once(endpoint)
    # One call to each model was made at once, to learn what it accepts.
    assert endpoint.calls - calls == batches.paid.total() + 2
    # What was uploaded and what came is deleted there: it is the text of a book.
    assert batches.files == {}
    # Nothing is kept that a second run would use: the response cache has it.
    [again] = ingest(book, batch=AT_ONCE, graphs=GRAPHS)
    assert again.status == "unchanged"


def test_the_document_says_what_all_rounds_have_cost(endpoint: Endpoint, book: Path) -> None:
    [outcome] = ingest(book, batch=AT_ONCE, **APART)
    usage = outcome.usage
    chat = sum((used for step, used in outcome.steps.items() if step != "embeddings"), Usage())
    # All lines of chat, and the one call that was made at once.
    lines = sum(1 for body in endpoint.bodies if "messages" in body)
    assert chat.calls == lines
    assert usage.prompt_tokens + usage.completion_tokens == endpoint.paid_tokens
    # One call to each model was made at once: that of details or of aspects, whichever came first.
    assert endpoint.calls == endpoint.batches.paid.total() + 2
    assert 0 < usage.prompt_tokens - usage.batch_prompt_tokens < usage.prompt_tokens / 7
    live = PRICE.of(Usage(1, usage.prompt_tokens, usage.completion_tokens))
    assert PRICE.of(usage) <= 0.55 * live
    with Fabula() as fabula:
        [entry] = fabula.documents()
        recorded = sum(entry.usage.values(), Usage())
    assert recorded.batch_prompt_tokens == usage.batch_prompt_tokens


def test_a_run_that_does_not_wait_goes_on_when_it_is_repeated(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book)
    endpoint.batches.looks = 0
    first = ingest(book, batch=BatchOptions())
    assert [outcome.status for outcome in first] == ["waiting"]
    assert graph_of(store) == []
    [outcome], runs = repeat(lambda: ingest(book, batch=BatchOptions()))
    assert outcome.status == "added"
    assert graph_of(store) == live
    assert paid_once(endpoint)
    assert runs <= len(endpoint.batches.sizes) + 1


def test_a_repeated_run_asks_nothing_while_its_batches_are_under_way(
    endpoint: Endpoint, book: Path
) -> None:
    endpoint.batches.looks = 100
    for _ in range(3):
        [outcome] = ingest(book, batch=BatchOptions())
        assert outcome.status == "waiting"
    # Chunks only, in one batch; the rest waits for them.
    assert len(endpoint.batches.sizes) == 1
    assert endpoint.batches.paid.total() == 0


def test_a_round_takes_the_calls_of_all_documents(
    endpoint: Endpoint, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for word in ("slept", "sang", "waited"):
        (folder / f"{word}.txt").write_text(harbour_story(word, 5))
    live = live_graph(store, tmp_path, folder)
    outcomes = ingest(folder, batch=AT_ONCE)
    assert [outcome.status for outcome in outcomes] == ["added"] * 3
    assert graph_of(store) == live
    assert paid_once(endpoint)
    # The chunks of all three, but for the one that was embedded at once.
    assert endpoint.batches.sizes[0] == 3 * 5 - 1
    # A round may be two, if the batches of two models do not end at the same look: each of the
    # three alone would need eight or more.
    assert len(endpoint.batches.sizes) <= 16


@pytest.mark.parametrize("most", [MAX_KEPT_CHARACTERS, 1])
def test_what_waits_is_read_and_planned_once(
    endpoint: Endpoint, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    read, planned = Counter[str](), Counter[str]()
    plan_document = Planner.plan_document

    def plan(planner: Planner, document: Document) -> DocumentPlan | Entry:
        planned[document.title] += 1
        return plan_document(planner, document)

    def source(word: str) -> DocumentSource:
        def load() -> Document:
            read[word] += 1
            text = (tmp_path / word).read_text()
            return read_text(text, source=word, collection="default", title=word)

        (tmp_path / word).write_text(harbour_story(word, 5))
        return DocumentSource(str(tmp_path / word), load)

    monkeypatch.setattr(Planner, "plan_document", plan)
    monkeypatch.setattr("fabula.build.run.MAX_KEPT_CHARACTERS", most)
    words = ("slept", "sang", "waited")
    with App() as app:
        outcomes = app.collection().ingest_sources([*map(source, words)], batch=AT_ONCE)
    assert [outcome.status for outcome in outcomes] == ["added"] * 3
    assert read == Counter(words)
    # Where only one is kept, the others begin again in each round, and no round is added.
    assert (planned == Counter(words)) == (most > 1)
    assert endpoint.batches.sizes[0] == 3 * 5 - 1
    assert paid_once(endpoint)
    usage = sum((outcome.usage for outcome in outcomes), Usage())
    paid = usage.prompt_tokens + usage.completion_tokens
    # What two of them ask counts for both. A build that begins again has what was asked directly,
    # one text and one prompt of a model, from the cache.
    assert paid >= endpoint.paid_tokens - (0 if most > 1 else 1_500)


def test_few_embeddings_are_not_waited_for(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = live_graph(store, tmp_path, book)
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "100000")
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert graph_of(store) == live
    urls = {batch["endpoint"] for batch in endpoint.batches.batches.values()}
    assert urls == {"/v1/chat/completions"}
    used = outcome.steps["embeddings"]
    assert used.batch_prompt_tokens == 0
    assert used.prompt_tokens > 0


def test_a_round_of_few_calls_is_not_waited_for(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = live_graph(store, tmp_path, book, **APART)
    monkeypatch.setenv("FABULA_BATCH_MIN_TOKENS", "100000")
    calls = endpoint.calls
    ingest(book, batch=AT_ONCE, batch_min_calls=4, **APART)
    assert graph_of(store) == live
    assert min(endpoint.batches.sizes) >= 4
    # Details are many; the last summaries of a tree are few, and asked for directly.
    assert endpoint.calls - calls > endpoint.batches.paid.total() + 2
    assert paid_once(endpoint)


# What goes wrong


@pytest.mark.parametrize("fault", ["expired", "token_limit", "wrong_line", "cancelled"])
def test_a_batch_that_ends_badly_costs_nothing_twice(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path, fault: BatchFault
) -> None:
    live = live_graph(store, tmp_path, book)
    endpoint.batches.faults = {2: fault}
    [outcome] = ingest(book, batch=AT_ONCE)
    if fault == "cancelled":
        # Whoever cancels it does not want it sent again by a run that happens to wait for it.
        assert outcome.status == "waiting"
        assert len(endpoint.batches.sizes) == 2
        [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert paid_once(endpoint)
    if fault == "wrong_line":
        # The endpoint refuses this one call: it is asked again in other words, as in a live run.
        assert outcome.usage.faults == 1
    else:
        assert graph_of(store) == live
    with closing(BatchStore(tmp_path / "cache")) as batches:
        assert any(row.note for row in batches.batches(open_only=False))


def test_lines_that_are_dropped_odd_or_in_any_order(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book, **APART)
    endpoint.batches.drop = 0.1
    endpoint.batches.odd_lines = (
        "no JSON",
        "[1, 2]",
        json.dumps({"custom_id": "somebody else's", "response": {"status_code": 200}}),
        json.dumps({"custom_id": 7}),
    )
    endpoint.batches.fail = 0.1
    [outcome] = ingest(book, batch=AT_ONCE, **APART)
    assert (outcome.status, outcome.error) == ("added", None)
    assert graph_of(store) == live
    assert paid_once(endpoint)


def test_a_file_that_is_refused_is_split(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book)
    endpoint.batches.max_lines = 6
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert graph_of(store) == live
    assert paid_once(endpoint)
    assert max(endpoint.batches.sizes) <= 6


def test_an_upload_that_is_too_large_is_split(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book)
    endpoint.batches.max_bytes = 9_000
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert graph_of(store) == live
    assert paid_once(endpoint)


def test_a_batch_whose_creation_was_not_answered_is_found_again(
    endpoint: Endpoint, store: Store, book: Path, tmp_path: Path
) -> None:
    live = live_graph(store, tmp_path, book)
    created = [0]

    def fail(name: str) -> int | None:
        created[0] += name == "POST /batches"
        # It is created each time, and the answer is lost each second time.
        return 502 if name == "POST /batches" and created[0] % 2 else None

    endpoint.batches.after = fail
    [outcome], _ = repeat(lambda: ingest(book, batch=AT_ONCE))
    assert outcome.status == "added"
    assert graph_of(store) == live
    assert paid_once(endpoint)


def fail_once(endpoint: Endpoint, n: int) -> Plan:
    """Every n-th reply is nonsense, unless another to the same prompt was.

    Who asks again adds the wrong reply to the end of the prompt.
    """
    failed: list[str] = []

    def plan(number: int) -> Fault | None:
        body = endpoint.bodies[-1]
        prompt = "\n".join(m["content"] for m in body.get("messages", ())) or str(body["input"])
        if number % n or any(prompt.startswith(earlier) for earlier in failed):
            return None
        failed.append(prompt)
        return "nonsense"

    return plan


def test_a_malformed_reply_is_asked_for_again_in_the_next_round(
    endpoint: Endpoint, store: Store, book: Path
) -> None:
    # To no call twice: which calls are counted as the third depends on which ends at once, and a
    # short text may not lack two pieces.
    endpoint.plan = fail_once(endpoint, 3)
    [outcome] = ingest(book, batch=AT_ONCE)
    assert (outcome.status, outcome.error) == ("added", None)
    assert outcome.usage.faults > 0
    assert paid_once(endpoint)
    endpoint.plan = every(10**9, "nonsense")
    [entry] = store.documents("default")
    if entry.gaps:
        [again] = ingest(book, batch=AT_ONCE)
        assert again.status == "replaced"
        assert again.gaps == ()


def test_a_reason_that_no_splitting_cures_ends_the_run(endpoint: Endpoint, book: Path) -> None:
    endpoint.batches.faults = {1: "unknown"}
    with pytest.raises(ModelError, match="Billing hard limit"):
        ingest(book, batch=AT_ONCE)
    # The next run sends the same calls again.
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"


def test_an_endpoint_without_batches_says_so(endpoint: Endpoint, book: Path) -> None:
    endpoint.batches.has_batches = False
    with pytest.raises(ModelError, match="has no interface for batches"):
        ingest(book, batch=AT_ONCE)
    # It leaves none behind that is still to be sent: the calls may be made directly now.
    assert run("batches").output == "No batch is under way.\n"
    assert "has no interface for batches" in " ".join(run("batches", "--all").output.split())
    [outcome] = ingest(book)
    assert outcome.status == "added"


def test_parameters_that_a_model_refuses_are_learned_before_a_batch_is_sent(
    endpoint: Endpoint, book: Path
) -> None:
    endpoint.refuses = ("temperature", "max_tokens")
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert outcome.gaps == ()
    lines = [line for batch in endpoint.batches.batches.values() for line in batch["lines"]]
    chats = [line["body"] for line in lines if line["url"].endswith("completions")]
    assert all("temperature" not in body and "max_tokens" not in body for body in chats)
    assert paid_once(endpoint)


# Limits


def test_a_budget_bounds_what_is_sent(endpoint: Endpoint, book: Path) -> None:
    endpoint.batches.looks = 0
    sent = []
    for _ in range(30):
        before = endpoint.calls
        try:
            [outcome] = ingest(book, batch=BatchOptions(), max_calls=20)
        except BudgetSpent:
            pass
        else:
            if outcome.status == "added":
                break
        sent.append(endpoint.calls - before)
    assert outcome.status == "added"
    chats = [batch for batch in endpoint.batches.batches.values() if "chat" in batch["endpoint"]]
    assert max(len(batch["lines"]) for batch in chats) <= 20
    assert paid_once(endpoint)


def test_each_reply_is_counted_once(endpoint: Endpoint, store: Store, book: Path) -> None:
    from fabula.models.counted import Meter

    meter, budget = Meter(), Budget()
    with App() as app:
        collection = app.collection(budget=budget, counter=meter)
        [outcome] = collection.ingest(book, batch=AT_ONCE)
    total = meter.total()
    assert total.prompt_tokens == outcome.usage.prompt_tokens
    assert total.completion_tokens == outcome.usage.completion_tokens
    assert total.batch_prompt_tokens == outcome.usage.batch_prompt_tokens
    assert budget.tokens == pytest.approx(endpoint.paid_tokens, rel=0.1)


def test_batches_need_the_cache_and_a_model(endpoint: Endpoint, book: Path) -> None:
    with pytest.raises(SettingsError, match="response cache"):
        ingest(book, batch=AT_ONCE, cache=False)
    with pytest.raises(SettingsError, match="nothing to batch"):
        ingest(book, batch=AT_ONCE, model="offline", embedding_model="wordllama-256")


# The command line


def test_the_command_says_what_waits_and_goes_on(endpoint: Endpoint, book: Path) -> None:
    endpoint.batches.looks = 0
    first = run("ingest", book, "--batch")
    assert first.exit_code == 75, first.output
    assert "1 document waits for 1 batch. Run the same command again to go on" in first.output
    # Some was asked directly; it is counted with the document.
    assert "1 waiting.\n" in first.output
    assert "no model calls" not in first.output
    listed = run("batches", "--json")
    assert listed.exit_code == 0, listed.output
    last = run("ingest", book, "--batch", "--wait", "--poll", "0.05")
    assert last.exit_code == 0, last.output
    assert "1 added" in last.output
    assert run("batches").output == "No batch is under way.\n"
    # Where none is under way, nobody has to be asked.
    offline = CliRunner(env={"OPENAI_BASE_URL": "", "OPENAI_API_KEY": ""}).invoke(main, ["batches"])
    assert offline.output == "No batch is under way.\n"
    everything = run("batches", "--all").output
    assert everything.count("completed") == len(endpoint.batches.sizes)


def test_a_batch_is_cancelled_and_its_replies_are_used(
    endpoint: Endpoint, book: Path, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.batches.looks = 5
    assert run("ingest", book, "--batch").exit_code == 75
    endpoint.batches.looks = 0
    [row] = json.loads(run("batches", "--json").stdout)
    assert row["status"] == "in_progress"
    for batch in endpoint.batches.batches.values():
        batch["looks"] = 0
    cancelled = run("batches", "--cancel", str(row["number"]), "--all", "--json")
    assert cancelled.exit_code == 0, cancelled.output
    [row] = json.loads(cancelled.stdout)
    assert row["status"] == "cancelled"
    assert "calls answered" in row["note"]
    assert run("batches", "--cancel", "99").exit_code == 1
    [outcome] = ingest(book, batch=AT_ONCE)
    assert outcome.status == "added"
    assert paid_once(endpoint)


def test_a_command_that_waits_says_that_its_batch_was_cancelled(
    endpoint: Endpoint, book: Path
) -> None:
    endpoint.batches.faults = {1: "cancelled"}
    shown = run("ingest", book, "--batch", "--wait", "--poll", "0.05")
    assert shown.exit_code == 75, shown.output
    assert (
        "1 document waits, and 1 batch of its model calls was cancelled. Run the same command again"
        " to send what is missing.\n"
    ) in shown.output
    assert run("ingest", book, "--batch", "--wait", "--poll", "0.05").exit_code == 0
    assert paid_once(endpoint)


def test_a_dry_run_shows_both_prices(endpoint: Endpoint, book: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("".join(f'["{name}"]\nprompt = 1\ncompletion = 4\n' for name in _models()))
    shown = run("ingest", book, "--batch", "--dry-run", "--prices", prices)
    assert shown.exit_code == 0, shown.output
    assert endpoint.calls == 0
    text = " ".join(shown.output.split())
    _, _, tail = text.partition("By batches: ")
    half, whole = (float(part) for part in tail.split(" USD without")[0].split(" USD, and "))
    assert half == pytest.approx(whole / 2, abs=1e-4)
    assert "several rounds" in tail


def _models() -> set[str]:
    with Fabula() as fabula:
        return {fabula.settings.model, fabula.settings.embedding_model}
