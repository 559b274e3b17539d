"""What is spent is what the endpoint answered: to the call, to the token and to the cent."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from database import cypher
from endpoint import Endpoint
from fabula.app import App
from fabula.config.settings import Settings
from fabula.errors import BudgetSpent, StoreError
from fabula.jobs.callers import Caller, Quotas
from fabula.jobs.journal import Journal
from fabula.jobs.ledger import Ledger, Unpriced
from fabula.models.batch_store import BatchStore, CollectedCall
from fabula.models.usage import Usage
from fabula.server import Address
from fabula.service.observe.metrics import Metrics
from fabula.service.state import make_schema
from fabula.store import Store
from jobs_over_http import BASE, begin, until
from kills import story
from served import Served, served, server_of
from stories import WINTER

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


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as made:
        yield made


@pytest.fixture
def it(address: Address, store: Store, tmp_path: Path, endpoint: Endpoint) -> Iterator[Served]:
    """A service over an empty graph, with a cache and a model."""
    settings: dict[str, Any] = server_of(address) | {"cache": True, "concurrency": 4}
    model: dict[str, Any] = {"base_url": endpoint.url, "api_key": "sk-test", "chunk_tokens": 48}
    with (
        App(home=tmp_path, cache_folder=tmp_path / "cache", **settings, **model) as app,
        served(app) as made,
    ):
        yield made


def spent(it: Served) -> tuple[int, int]:
    """Calls and tokens of all keys, as the ledger has them."""
    rows = it.state.ledger.usage("day")
    return sum(one.calls for one in rows), sum(one.tokens for one in rows)


def refuse_difference(it: Served, endpoint: Endpoint, when: str) -> None:
    """Fails unless the ledger has exactly what the endpoint answered."""
    until = time.monotonic() + 120
    # The endpoint counts a reply after it was sent, which whoever reads it may come before.
    while (found := spent(it)) != (endpoint.paid_calls, endpoint.paid_tokens):
        told = (endpoint.paid_calls, endpoint.paid_tokens)
        assert time.monotonic() < until, f"{when}: the ledger has {found}, the endpoint {told}"
        time.sleep(0.1)


def priced(settings: Settings, **steps: Usage) -> tuple[float | None, tuple[str, ...]]:
    cost = settings.cost(steps)
    return cost.money, cost.unpriced


# One function prices a usage


def test_a_usage_is_priced_by_the_models_that_it_asked(prices: Path) -> None:
    settings = Settings(model="dear", embedding_model="vectors", prices=prices)
    asked = Usage(1, MILLION, MILLION)
    both = Usage.of_model("dear", asked) + Usage.of_model("cheap", asked)
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
    asked = Usage(1, MILLION)
    found = {
        step: priced(settings, **{step: asked})[0]
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


# The ledger equals the endpoint


def begin_many(it: Served, endpoint: Endpoint, count: int) -> None:
    """Runs so many jobs, and compares the ledger with the endpoint after each two."""
    client = it.client("admin")
    for number in range(0, count, 2):
        names = [f"{number} {half}" for half in ("one", "two")]
        query = "?graphs=aspects&graphs=entities"
        begun = [
            client.post(
                f"{BASE}/collections/money/documents{query}",
                files=[("files", (f"{name}.txt", story(name).encode()))],
            ).json()["id"]
            for name in names
        ]
        ended = [until(client, id) for id in begun]
        assert [one["state"] for one in ended] == ["succeeded"] * 2, ended
        refuse_difference(it, endpoint, f"after {number + 2} jobs")


def test_the_cost_of_an_answer_is_told_and_nothing_is_paid(it: Served, endpoint: Endpoint) -> None:
    begin_many(it, endpoint, 1)
    before, asked = spent(it), {"question": "Who went to the mill?"}
    reader = it.client("read")
    expected = reader.post(f"{BASE}/collections/money/ask/cost", json=asked).json()
    assert spent(it) == before
    assert expected["usage"]["answer"]["calls"] == 1
    assert expected["money"] > 0
    answer = reader.post(f"{BASE}/collections/money/ask", json=asked).json()
    steps = {step for step, usage in answer["usage"].items() if usage["calls"]}
    assert steps <= set(expected["usage"])


@pytest.mark.journey
def test_the_ledger_has_what_the_endpoint_answered(it: Served, endpoint: Endpoint) -> None:
    endpoint.delay = 0.02
    begin_many(it, endpoint, 20)
    asked = it.client("read").post(
        f"{BASE}/collections/money/ask", json={"question": "Who went to the mill?", "rerank": True}
    )
    assert asked.status_code == 200, asked.text
    refuse_difference(it, endpoint, "after a question")
    [mine] = [one for one in it.state.ledger.usage("collection") if one.what == "money"]
    assert mine.money > 0


@pytest.mark.nightly
def test_a_hundred_jobs_are_billed_exactly(it: Served, endpoint: Endpoint) -> None:
    endpoint.delay = 0.02
    begin_many(it, endpoint, 100)


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
    return Ledger(store, Metrics(), Settings(**settings), folder, unpriced)


CAROL = Caller("carol", "Carol", "read")
CALL = Usage.of_model("gpt-4.1", Usage(1, 1000, 100))


@pytest.mark.parametrize("carries_out", [False, True])
def test_nothing_is_lost_nor_counted_twice_while_neo4j_is_away(
    store: Store, tmp_path: Path, carries_out: bool
) -> None:
    make_schema(store)
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
    make_schema(store)
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
        entries=[one | {"id": "there"} for one in batch.entries],
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
    make_schema(store)
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
    make_schema(store)
    (tmp_path / "spending.sqlite").mkdir()
    ledger = ledger_over(store, tmp_path)
    for _ in range(3):
        ledger.account(CAROL, "novels", "ask").add("answer", CALL)
    [row] = ledger.usage("key")
    assert row.calls == 3
    assert caplog.text.count("journal of spending") == 1


def test_many_threads_are_counted_exactly(store: Store, tmp_path: Path) -> None:
    make_schema(store)
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
    assert [(one.what, one.calls) for one in rows] == [(f"c{n}", 50) for n in range(4)]


# Quotas of money


def test_money_that_is_not_known_stops_a_key_until_the_price_is(
    store: Store, tmp_path: Path, prices: Path
) -> None:
    make_schema(store)
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
    make_schema(store)
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
    make_schema(store)
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
    assert budget.remaining() == (None, 400)


def test_what_is_under_way_by_batches_holds_its_price(
    store: Store, tmp_path: Path, prices: Path
) -> None:
    make_schema(store)
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
    make_schema(store)
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


def test_a_spent_quota_says_how_much_of_what_and_when_it_renews(
    it: Served, endpoint: Endpoint
) -> None:
    client = it.client("admin")
    assert until(client, begin(client, "money", {"winter.txt": WINTER}))["state"] == "succeeded"
    made = client.post(f"{BASE}/keys", json={"name": "Ann", "role": "read", "tokens_a_day": 300})
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    question = {"question": "Who walked to the harbour?"}
    refused = client.post(f"{BASE}/collections/money/ask", json=question, headers=headers)
    assert refused.status_code == 402
    told = refused.json()["detail"]
    assert "the key 'Ann' has spent " in told
    assert " of the 300 tokens that it may spend a day" in told
    assert "renews at midnight UTC" in told


# Who and what a row is of


def test_a_row_is_named_by_its_day_its_collection_or_its_key(store: Store, tmp_path: Path) -> None:
    make_schema(store)
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
