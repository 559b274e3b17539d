"""What is spent is counted once, at its price, and held against quotas."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, StoreError
from fabula.jobs.callers import Caller, Quotas
from fabula.jobs.journal import Journal
from fabula.jobs.ledger import Ledger, Unpriced
from fabula.models.batch_store import BatchStore, CollectedCall
from fabula.models.usage import Usage
from fabula.store import Store, schema

pytestmark = pytest.mark.long

PRICES = """
[dear]
prompt = 10.0
completion = 20.0
[cheap]
prompt = 1.0
completion = 2.0
[ranker]
prompt = 0.5
[vectors]
prompt = 0.1
"""
MILLION = 1_000_000


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


def priced(settings: Settings, **steps: Usage) -> tuple[float | None, tuple[str, ...]]:
    cost = settings.cost(steps)
    return cost.money, cost.unpriced


# One function prices a usage


def test_a_usage_is_priced_by_the_models_that_it_asked(prices: Path) -> None:
    settings = Settings(model="dear", embedding_model="vectors", prices=prices)
    usage = Usage(1, MILLION, MILLION)
    both = Usage.of_model("dear", usage) + Usage.of_model("cheap", usage)
    assert priced(settings, answer=both) == (33.0, ())
    assert priced(settings, answer=Usage.read(both.row)) == (33.0, ())
    # Whatever the step is called, and whatever the settings have come to be.
    assert priced(settings, rerank=Usage.of_model("ranker", Usage(1, MILLION))) == (0.5, ())
    assert settings.by_model({"answer": both, "guide": both})["cheap"] == Usage(
        2, 2 * MILLION, 2 * MILLION
    )


def test_a_usage_that_names_no_model_is_priced_by_its_step(prices: Path) -> None:
    models = {"model": "dear", "aspect_model": "cheap", "rerank_model": "ranker"}
    settings = Settings(**models, embedding_model="vectors", prices=prices)
    usage = Usage(1, MILLION)
    found = {
        step: priced(settings, **{step: usage})[0]
        for step in ("answer", "aspects", "route", "rerank", "embeddings")
    }
    assert found == {
        "answer": 10.0,
        "aspects": 1.0,
        "route": 1.0,
        "rerank": 0.5,
        "embeddings": 0.1,
    }


def test_an_unknown_price_is_never_nothing(prices: Path) -> None:
    settings = Settings(model="dear", embedding_model="new-vectors", prices=prices)
    known = Usage.of_model("dear", Usage(1, MILLION))
    new = Usage.of_model("new-vectors", Usage(1, 100))
    assert priced(settings, answer=known, embeddings=new) == (10.0, ("new-vectors",))
    assert priced(settings, embeddings=new) == (None, ("new-vectors",))
    # What the cache answered costs nothing, whatever the price.
    assert priced(settings, embeddings=Usage.of_model("new-vectors", Usage(saved=1))) == (0.0, ())


# Neo4j is away


class Away:
    """A store that may be away, and then carries out what it is sent or does not."""

    def __init__(self, store: Store) -> None:
        self.store, self.is_away, self.carries_out = store, False, False

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        if self.is_away and not self.carries_out:
            raise StoreError("Neo4j is away.")
        found = self.store.rows(statement, **parameters)
        if self.is_away and statement == "jobs/save_spend":
            raise StoreError("The connection was lost after the commit.")
        return found


def ledger_over(store: Any, folder: Path, unpriced: Unpriced = "stop", **settings: Any) -> Ledger:
    return Ledger(store, lambda _: None, Settings(**settings), folder, unpriced)


CAROL = Caller("carol", "Carol", "read")
CALL = Usage.of_model("gpt-4.1", Usage(1, 1000, 100))


@pytest.mark.parametrize("carries_out", [False, True])
def test_nothing_is_lost_nor_counted_twice_while_neo4j_is_away(
    store: Store, tmp_path: Path, carries_out: bool
) -> None:
    schema.make_room(store, "jobs")
    away = Away(store)
    ledger = ledger_over(away, tmp_path)
    account = ledger.account(CAROL, "novels", "ask")
    account.add("answer", CALL)
    away.is_away, away.carries_out = True, carries_out
    for _ in range(3):
        with pytest.raises(StoreError):
            ledger.flush()
        account.add("answer", CALL)
    away.is_away = False
    [row] = ledger.usage("key")
    assert (row.calls, row.tokens) == (4, 4400)
    [row] = ledger.usage("key")
    assert (row.calls, row.tokens) == (4, 4400)


def test_what_a_dead_process_had_not_handed_over_is_billed_once(
    store: Store, tmp_path: Path
) -> None:
    schema.make_room(store, "jobs")
    dead = ledger_over(store, tmp_path)
    account = dead.account(CAROL, "novels", "ingest")
    for _ in range(5):
        account.add("summaries", CALL)
    # Killed between the graph's commit and the journal's.
    [batch] = dead._journal.batches(dead._graph_id())
    Away(store).rows(
        "jobs/save_spend",
        journal=batch.owner,
        batch=batch.number,
        entries=[entry | {"id": "there"} for entry in batch.entries],
    )
    account.add("summaries", CALL)
    dead._journal.close()
    after = [ledger_over(store, tmp_path) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(Ledger.flush, after))
    [row] = after[0].usage("key")
    assert (row.calls, row.tokens) == (6, 6600)
    assert not Journal(tmp_path).is_pending(after[0]._graph_id())


def test_two_graphs_that_share_a_folder_are_billed_each_for_itself(
    store: Store, tmp_path: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path)
    other = ledger_over(store, tmp_path)
    other._graph = "another graph"
    other.account(CAROL, "novels", "ask").add("answer", CALL)
    ledger.account(CAROL, "novels", "ask").add("answer", CALL)
    ledger.flush()
    [row] = ledger.usage("key")
    assert row.calls == 1
    assert other._journal.is_pending("another graph")


def test_where_no_file_can_be_written_spending_is_kept_in_memory(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schema.make_room(store, "jobs")
    (tmp_path / "spending.sqlite").mkdir()
    ledger = ledger_over(store, tmp_path)
    for _ in range(3):
        ledger.account(CAROL, "novels", "ask").add("answer", CALL)
    [row] = ledger.usage("key")
    assert row.calls == 3
    assert caplog.text.count("journal of spending") == 1


def test_many_threads_are_counted_exactly(store: Store, tmp_path: Path) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path)
    ledger.open()
    accounts = [ledger.account(CAROL, f"c{number}", "ask") for number in range(4)]
    begun = threading.Barrier(4)

    def spend(number: int) -> None:
        begun.wait()
        for _ in range(50):
            accounts[number].add("answer", CALL)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(spend, range(4)))
    ledger.close()
    rows = ledger_over(store, tmp_path).usage("collection")
    assert [(row.what, row.calls) for row in rows] == [(f"c{n}", 50) for n in range(4)]


# Quotas of money


def test_money_that_is_not_known_stops_a_key_until_the_price_is(
    store: Store, tmp_path: Path, prices: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path, prices=prices)
    poor = Caller("poor", "Paul", "read", quotas=Quotas(money_a_month=1.0))
    ledger.account(poor, "novels", "ask").add(
        "answer", Usage.of_model("brand-new", Usage(1, 10_000, 0))
    )
    with pytest.raises(BudgetSpent, match=r"no price is known of brand-new.*FABULA_PRICES"):
        ledger.refuse_spent(poor)
    [row] = ledger.usage("key")
    assert (row.money, row.unpriced) == (0.0, ("brand-new",))
    # A price that is set later counts for what was spent before.
    prices.write_text(f"{PRICES}\n[brand-new]\nprompt = 50.0\n")
    ledger.refuse_spent(poor)
    [row] = ledger.usage("key")
    assert (row.money, row.unpriced) == (0.5, ())
    prices.write_text(f"{PRICES}\n[brand-new]\nprompt = 150.0\ncompletion = 1.0\n")
    with pytest.raises(BudgetSpent, match=r"has spent \$1\.5000 of the \$1\.00 that it may spend"):
        ledger.refuse_spent(poor)


def test_batches_without_a_price_are_priced_later_at_half(
    store: Store, tmp_path: Path, prices: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path, prices=prices)
    batched = Usage(1, 10_000, 5_000, batch_prompt_tokens=10_000, batch_completion_tokens=5_000)
    caller = Caller("ann", "Ann", "read", quotas=Quotas(money_a_month=0.2, tokens_a_day=40_000))
    account = ledger.account(caller, "novels", "ingest")
    account.add("aspects", Usage.of_model("brand-new", batched))
    ledger.flush()
    account.add("aspects", Usage.of_model("brand-new", batched))
    prices.write_text(f"{PRICES}\n[brand-new]\nprompt = 10.0\ncompletion = 20.0\n")
    [row] = ledger.usage("key")
    assert row.money == pytest.approx(0.1 + 0.1)
    with pytest.raises(BudgetSpent, match=r"has spent \$0\.2000"):
        ledger.refuse_spent(caller)


def test_what_is_under_way_by_batches_counts_against_the_budget(
    store: Store, tmp_path: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path)
    caller = Caller("bob", "Bob", "read", quotas=Quotas(tokens_a_day=1000))
    with closing(BatchStore(tmp_path)) as batches:
        for id, owner in (("a", "bob"), ("b", "bob"), ("c", "eve")):
            batches.collect("e", CollectedCall(id, "/chat/completions", "m", {}, 300, owner=owner))
        assert batches.tokens_in_flight("bob") == {}
        batches.plan(["a", "b", "c"])
        in_flight = batches.tokens_in_flight("bob")
    assert in_flight == {"m": 600}
    budget = ledger.budget(caller, in_flight)
    assert budget is not None
    with budget.call(400), pytest.raises(BudgetSpent), budget.call(1):
        pass


def test_what_is_under_way_by_batches_holds_its_price(
    store: Store, tmp_path: Path, prices: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path, prices=prices)
    caller = Caller("bob", "Bob", "read", quotas=Quotas(money_a_day=1.0))
    # Half of $1, as it is a batch.
    budget = ledger.budget(caller, {"dear": 100_000})
    assert budget is not None
    with budget.call(40_000, model="dear"):
        pass
    refused = budget.call(60_000, model="dear")
    with pytest.raises(BudgetSpent, match=r"has spent \$1\.1000 of the \$1\.00"), refused:
        pass


def test_money_that_is_not_known_falls_back_to_tokens_where_that_is_set(
    store: Store, tmp_path: Path
) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path, "tokens")
    both = Caller("both", "Bob", "read", quotas=Quotas(tokens_a_day=1000, money_a_day=1.0))
    alone = Caller("both", "Bob", "read", quotas=Quotas(money_a_day=1.0))
    account = ledger.account(both, "novels", "ask")
    account.add("answer", Usage.of_model("brand-new", Usage(1, 900)))
    ledger.refuse_spent(both)
    with pytest.raises(BudgetSpent, match="a quota of tokens per day, which applies instead"):
        ledger.refuse_spent(alone)
    account.add("answer", Usage.of_model("brand-new", Usage(1, 200)))
    with pytest.raises(BudgetSpent, match=r"has spent 1,100 of the 1,000 tokens"):
        ledger.refuse_spent(both)


# Who and what a row is of


def test_a_row_is_named_by_its_day_its_collection_or_its_key(store: Store, tmp_path: Path) -> None:
    schema.make_room(store, "jobs")
    ledger = ledger_over(store, tmp_path)
    for id, name, collection in (("a", "Ada", "novels"), ("e", "Eve", "plays")):
        ledger.account(Caller(id, name, "read"), collection, "ask").add("answer", CALL)
    ledger.flush()
    days = cypher(store, "MATCH (spend:ServiceSpend) RETURN toString(spend.day) AS day")
    [today] = {row["day"] for row in days}
    assert [(one.what, one.name) for one in ledger.usage("day")] == [(today, today)]
    assert [(one.what, one.name) for one in ledger.usage("collection")] == [
        ("novels", "novels"),
        ("plays", "plays"),
    ]
    assert [(one.what, one.name) for one in ledger.usage("key")] == [("a", "Ada"), ("e", "Eve")]
