"""A gateway: one limit, one budget and one cache for all programs behind it, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import openai
import pytest
from click.testing import CliRunner

from endless import HEAD, begin_to_answer, event
from endpoint import Endpoint, listed, vector
from fabula.app import App
from fabula.cli import main
from fabula.cli.shared.workers import open_cluster
from fabula.config import model_factory
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BadReply, BudgetSpent, ModelError, SettingsError
from fabula.graphs.aspects.schemas import DetailsReply
from fabula.models import Prompt, rate_limit
from fabula.models.counted import Meter
from fabula.models.gateway_protocol import BUDGET_CODE
from fabula.models.replies import ask, read_as
from fabula.models.stop import Stop
from fabula.service.gateway import RunningGateway, serve_gateway
from fabula.service.gateway.gateway_process import Gateway
from fabula.service.gateway.spending import Amount, Spending, SpendingFile, SpendingLimit
from fabula.service.process import _open_gateway
from gateway_client import prompt
from ports import free_port
from reach import DETAILS, SUMMARY, text_of

pytestmark = pytest.mark.waits
KEY = "sk-of-the-endpoint-0123456789"
Clients = Callable[..., openai.OpenAI]
SUPPORT = Path(__file__).parents[1] / "support"


@contextmanager
def gateway_before(endpoint: Endpoint, **settings: Any) -> Iterator[RunningGateway]:
    """A gateway before the tests' endpoint."""
    with serve_gateway(Settings.read(base_url=endpoint.url, api_key=KEY, **settings)) as gateway:
        yield gateway


@contextmanager
def models_behind(gateway: RunningGateway, **settings: Any) -> Iterator[tuple[ModelFactory, Meter]]:
    """The models of a Fabula behind a gateway, which knows no endpoint and no key of one."""
    models = ModelFactory(Settings.read(gateway_url=gateway.url, **settings))
    try:
        yield models, Meter()
    finally:
        models.close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(key=KEY) as server:
        yield server


@pytest.fixture
def gateway(endpoint: Endpoint) -> Iterator[RunningGateway]:
    with gateway_before(endpoint) as running:
        yield running


@pytest.fixture
def client_of() -> Iterator[Clients]:
    """Returns a foreign program: OpenAI's own client, without retries, closed with the test."""
    with ExitStack() as opened:

        def make(gateway: RunningGateway, **more: Any) -> openai.OpenAI:
            url, key = f"{gateway.url}/v1", gateway.key or "none"
            client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, **more)
            return opened.enter_context(client)

        yield make


def start_clients(url: str, *ranges: tuple[int, int], threads: int = 12) -> list[dict[str, Any]]:
    """What client processes print, which ask all prompts of their ranges at the same time."""
    environment = os.environ | {"FABULA_GATEWAY_URL": url, "PYTHONPATH": str(SUPPORT)}
    runs = [
        subprocess.Popen(
            [sys.executable, SUPPORT / "gateway_client.py", str(first), str(last), str(threads)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first, last in ranges
    ]
    printed = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * len(runs)
    return [json.loads(line) for line in printed]


def three_clients(url: str, *ranges: tuple[int, int]) -> list[dict[str, Any]]:
    """The same of clients in threads, which share nothing: processes take seconds to start."""
    clients = [ModelFactory(Settings.read(gateway_url=url)) for _ in ranges]
    meters = [Meter() for _ in ranges]

    def ask_for(place: int, number: int) -> str:
        try:
            return clients[place].chat(meters[place], "x").complete(prompt(number)).text
        except BudgetSpent as error:
            return f"spent: {error}"

    with ThreadPoolExecutor(36) as pool:
        asked = [
            {number: pool.submit(ask_for, place, number) for number in range(first, last)}
            for place, (first, last) in enumerate(ranges)
        ]
    for client in clients:
        client.close()
    return [
        {
            "replies": {number: reply.result() for number, reply in replies.items()},
            "calls": meter.total().calls,
        }
        for replies, meter in zip(asked, meters, strict=True)
    ]


def most_in_window(times: list[float], seconds: float) -> int:
    """The most calls that came within any window of time."""
    return max(sum(at <= other < at + seconds for other in times) for at in times)


# One limit


def test_three_processes_keep_one_limit_and_pay_no_call_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A minute of three seconds: that 300 a minute are counted right is tested with a clock below.
    monkeypatch.setattr(rate_limit, "MINUTE_SECONDS", 3.0)
    limits = {"concurrency": 8, "gateway.calls_a_minute": 40}
    with Endpoint(delay=0.05, most_at_once=8) as endpoint, gateway_before(endpoint, **limits) as g:
        printed = start_clients(g.url, (0, 60), (20, 80), (40, 100))
        assert endpoint.refused == 0
        assert endpoint.in_flight_most <= 8
        # A call may be two seconds longer on its way than others: the machine may be busy.
        assert most_in_window(endpoint.times, 1.0) <= 40
        asked = Counter(json.dumps(body, sort_keys=True) for body in endpoint.bodies)
    assert len(asked) == 100
    assert set(asked.values()) == {1}
    # 180 calls were asked for: each is paid once, and to one of the programs.
    assert sum(each["calls"] for each in printed) == 100
    assert sum(each["saved"] for each in printed) == 80
    for each in printed:
        for number, text in each["replies"].items():
            assert text == f"Chapter {number} begins."


def test_three_programs_learn_one_limit_from_refusals() -> None:
    with Endpoint(delay=0.03, most_at_once=4) as endpoint, gateway_before(endpoint) as gateway:
        printed = three_clients(gateway.url, (0, 60), (60, 120), (120, 180))
        # The first ones come all at once. On a busy machine 15 to 60 calls are refused; a gateway
        # that learns nothing sends 16 calls at once for 4 places: three refusals for each call.
        assert endpoint.refused <= 180
        assert endpoint.paid_calls == 180
    assert sum(each["calls"] for each in printed) == 180


def test_a_known_rate_is_never_exceeded_in_any_minute() -> None:
    limit, now = rate_limit.RateLimit(8, a_minute=300), 0.0
    starts: list[float] = []
    while len(starts) < 1000:
        wait = limit.wait(now)
        now += wait
        call = limit.start(now)
        starts.append(now)
        now += 0.2 / 8
        limit.end_answered(now, call)
    assert most_in_window(starts, 60.9) == 300
    # It is used to the full, too: three whole minutes and a bit of the fourth.
    assert starts[-1] <= 3 * rate_limit.MINUTE_SECONDS + 1000 * 0.025


def test_starts_before_a_restart_count_to_the_minute() -> None:
    limit = rate_limit.RateLimit(8, a_minute=3)
    limit.remember_starts([-20.0, -10.0])
    limit.start(0.0)
    assert limit.wait(0.0) == pytest.approx(rate_limit.MINUTE_SECONDS - 20)


def test_answers_go_before_builds_of_other_programs() -> None:
    all_wait = threading.Event()

    def hold(number: int, _: dict[str, Any]) -> None:
        if number == 1:
            all_wait.wait(60)

    with (
        Endpoint(raw=hold) as endpoint,
        gateway_before(endpoint, concurrency=1) as gateway,
        models_behind(gateway) as (building, meter),
        models_behind(gateway) as (asking, _),
    ):
        chat = building.chat(meter, "build")
        answer = asking.view(urgent=True).chat(Meter(), "answer")
        with ThreadPoolExecutor(9) as pool:
            builds = [pool.submit(chat.complete, prompt(0))]
            metrics = f"{gateway.url}/metrics"
            try:
                # The one call under way is a build's: of nine at once any may come first.
                wait_until(lambda: endpoint.calls == 1)
                builds += [pool.submit(chat.complete, prompt(n)) for n in range(1, 8)]
                asked = pool.submit(answer.complete, prompt(99))
                wait_until(lambda: 'state="waiting"} 8.0' in httpx2.get(metrics, timeout=120).text)
            finally:
                all_wait.set()
            asked.result()
            for build in builds:
                build.result()
    users = [body["messages"][-1]["content"] for body in endpoint.bodies if "messages" in body]
    assert users.index(prompt(99).user) == 1, "before it, the call under way alone"


# One cache


@pytest.mark.journey
def test_equal_calls_at_once_are_asked_once_in_a_stream_and_without(
    gateway: RunningGateway,
) -> None:
    with models_behind(gateway) as (first, a), models_behind(gateway) as (second, b):
        chats = [first.chat(a, "x"), second.chat(b, "x")]

        def ask(number: int) -> str:
            chat = chats[number % 2]
            whole = number % 3 == 0
            return chat.complete(SUMMARY).text if whole else text_of(chat.stream(SUMMARY))

        with ThreadPoolExecutor(12) as pool:
            texts = set(pool.map(ask, range(12)))
        total = a.total() + b.total()
    assert len(texts) == 1
    assert (total.calls, total.saved) == (1, 11)


def test_a_direct_run_and_one_behind_a_gateway_share_their_replies(
    endpoint: Endpoint, gateway: RunningGateway
) -> None:
    direct, meter = ModelFactory(Settings.read(base_url=endpoint.url, api_key=KEY)), Meter()
    with models_behind(gateway) as (behind, _):
        paid = direct.chat(meter, "x").complete(SUMMARY)
        again = behind.chat(meter, "x").complete(SUMMARY)
        details = behind.chat(meter, "x").complete(DETAILS)
        details_again = direct.chat(meter, "x").complete(DETAILS)
        vectors = behind.counted_embedder(meter).embed(["a", "b", "a"])
        vectors_again = direct.counted_embedder(meter).embed(["b", "a"])
    direct.close()
    assert (again.text, again.cached, paid.cached) == (paid.text, True, False)
    assert (details_again.text, details_again.cached) == (details.text, True)
    assert vectors_again.cached
    assert np.array_equal(vectors.vectors[[1, 0]], vectors_again.vectors)
    assert endpoint.calls == 3


def test_each_sample_of_a_prompt_is_a_reply_of_its_own(
    endpoint: Endpoint, gateway: RunningGateway
) -> None:
    with models_behind(gateway) as (models, meter):
        chat = models.chat(meter, "x")
        for sample in (0, 1, 0, 1):
            chat.complete(replace(SUMMARY, sample=sample))
    assert endpoint.calls == 2


def test_a_rejected_reply_is_asked_for_again_and_its_correction_is_kept(
    endpoint: Endpoint, gateway: RunningGateway
) -> None:
    with models_behind(gateway) as (models, meter):
        chat = models.chat(meter, "x")
        chat.complete(SUMMARY)
        chat.reject(SUMMARY, forget=True)
        corrected = chat.complete(replace(SUMMARY, correction="\n\nThat was wrong: again."))
        assert not corrected.cached
        assert chat.complete(SUMMARY).cached
    assert endpoint.calls == 2
    assert meter.total().faults == 1


def test_a_malformed_reply_does_not_stay_in_the_cache() -> None:
    with (
        Endpoint(plan=listed("nonsense"), key=KEY) as endpoint,
        gateway_before(endpoint) as gateway,
    ):
        for _ in range(2):
            with models_behind(gateway) as (models, meter):
                chat = models.chat(meter, "x")
                assert ask(chat, DETAILS, lambda text: read_as(text, DetailsReply))
        assert endpoint.calls == 2


def test_vectors_are_asked_for_text_by_text(endpoint: Endpoint, gateway: RunningGateway) -> None:
    with models_behind(gateway) as (models, meter):
        embedder = models.counted_embedder(meter)
        embedder.embed(["one", "two"])
        part = embedder.embed(["two", "three"])
        whole = embedder.embed(["three", "one"])
    assert [body["input"] for body in endpoint.bodies] == [["one", "two"], ["three"]]
    assert (part.cached, whole.cached) == (False, True)
    assert part.saved_tokens == 1
    total = meter.total()
    assert (total.calls, total.saved) == (2, 1)


def test_texts_under_way_are_not_asked_for_by_others() -> None:
    with Endpoint(key=KEY, delay=0.3) as endpoint, gateway_before(endpoint) as gateway:
        with models_behind(gateway) as (models, meter):
            embedder = models.counted_embedder(meter)
            with ThreadPoolExecutor(3) as pool:
                asked = [["a", "b"], ["b", "c"], ["c", "a"]]
                rows = [each.vectors for each in pool.map(embedder.embed, asked)]
        assert sorted(text for body in endpoint.bodies for text in body["input"]) == ["a", "b", "c"]
    assert np.array_equal(rows[0][1], rows[1][0])
    assert np.array_equal(rows[1][1], rows[2][0])


def wants_input_type(body: dict[str, Any]) -> tuple[int, Any] | None:
    """What NVIDIA's NIM says of a call for vectors that lacks the kind of its texts."""
    words = "'input_type' parameter is required for asymmetric models"
    return None if "input_type" in body else (400, {"error": words})


@pytest.mark.parametrize("has_gateway", [False, True])
def test_a_server_that_wants_the_kind_of_a_text_has_its_vectors_cached_by_kind(
    has_gateway: bool,
) -> None:
    texts = ["Who rang?", "A bell."]
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint(key=KEY, objection=wants_input_type))
        if has_gateway:
            gateway = stack.enter_context(gateway_before(endpoint))
            models, meter = stack.enter_context(models_behind(gateway, cache=False))
        else:
            settings = Settings.read(base_url=endpoint.url, api_key=KEY)
            models, meter = stack.enter_context(closing(ModelFactory(settings))), Meter()
        embedder = models.counted_embedder(meter)
        for _ in range(2):
            embedder.embed(texts)
            embedder.embed(texts, "query")
            embedder.embed(texts[:1])
        sent = [(body["input"], body["input_type"]) for body in endpoint.bodies[1:]]
    assert sent == [(texts, "passage"), (texts, "query")]


def test_one_vector_of_all_texts_is_known_behind_a_gateway_too() -> None:
    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        rows = [vector(text, 64).tolist() for text in body["input"]]
        data = [{"index": 0, "embedding": np.mean(rows, axis=0).tolist()}]
        content = json.dumps({"data": data}).encode()
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
        return [head + b"Content-Length: %d\r\n\r\n" % len(content) + content]

    texts = [f"{number} ghosts" for number in range(5)]
    with Endpoint(raw=raw) as endpoint, gateway_before(endpoint) as gateway:
        with models_behind(gateway) as (models, meter):
            rows = models.counted_embedder(meter).embed(texts).vectors
        calls = endpoint.calls
    np.testing.assert_allclose(rows, [vector(text, 64) for text in texts], atol=1e-6)
    assert calls == len(texts) + 4


def test_a_stream_without_a_reason_is_passed_on_and_not_cached() -> None:
    def raw(_: int, body: dict[str, Any]) -> list[bytes]:
        events = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("A", " b.")]
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        data += b"data: [DONE]\n\n"
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n"
        return [head + b"Content-Length: %d\r\n\r\n" % len(data) + data]

    with Endpoint(raw=raw) as endpoint, gateway_before(endpoint) as gateway:
        with models_behind(gateway) as (models, meter):
            chat = models.chat(meter, "x")
            for _ in range(2):
                assert "".join(piece.text for piece in chat.stream(SUMMARY)) == "A b."
        assert endpoint.calls == 2


@pytest.mark.parametrize("ends", [("\n\n", "\n\n"), ("\r\n\r\n", "\n"), ("\n", ""), ("\r\r", "\r")])
def test_a_stream_is_kept_and_charged_however_its_lines_end(ends: tuple[str, str]) -> None:
    pieces: list[dict[str, Any]] = [{"delta": {"content": text}} for text in ("A", " b.")]
    pieces.append({"delta": {}, "finish_reason": "stop"})
    usage = {"prompt_tokens": 40, "completion_tokens": 7}
    values = [json.dumps({"choices": [each], "usage": usage}) for each in pieces]
    between, last = ends
    stream = "\ufeff" + between.join(f"data: {value}" for value in [*values, "[DONE]"]) + last
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n"
    answer = head + stream.encode()

    with Endpoint(raw=lambda *_: [answer]) as endpoint, gateway_before(endpoint) as gateway:
        for _ in range(2):
            with models_behind(gateway) as (models, meter):
                pieces_read = models.chat(meter, "x").stream(SUMMARY)
                assert "".join(piece.text for piece in pieces_read) == "A b."
        assert endpoint.calls == 1, "the second is from the cache"


def test_a_check_of_the_models_asks_the_models(endpoint: Endpoint, gateway: RunningGateway) -> None:
    with models_behind(gateway) as (models, _):
        for _ in range(2):
            for _, _, ask in models.roles():
                ask()
    assert endpoint.calls == 6


# One budget


def test_a_budget_of_tokens_is_exact_over_all_programs() -> None:
    with Endpoint(delay=0.02) as endpoint, gateway_before(endpoint, max_tokens=2000) as gateway:
        printed = three_clients(gateway.url, (0, 80), (80, 160), (160, 240))
        # Each takes about 30 tokens, and may take 100 more. No call goes over, and none is refused
        # that would have fitted.
        assert endpoint.paid_tokens <= 2000
        assert endpoint.paid_tokens > 2000 - 180
        assert endpoint.calls == endpoint.paid_calls
    spent = [text for each in printed for text in each["replies"].values() if "spent:" in text]
    assert len(spent) == 240 - endpoint.paid_calls
    assert "The gateway's budget is spent" in spent[0]
    assert "max_tokens" in spent[0]


def test_a_refused_call_is_told_and_not_asked_again(client_of: Clients) -> None:
    with Endpoint() as endpoint, gateway_before(endpoint, max_calls=1) as gateway:
        with models_behind(gateway) as (models, meter):
            chat = models.chat(meter, "x")
            chat.complete(prompt(1))
            began = time.monotonic()
            with pytest.raises(BudgetSpent, match="1 of 1 calls"):
                chat.complete(prompt(2))
            with pytest.raises(BudgetSpent):
                list(chat.stream(prompt(3)))
            assert chat.complete(prompt(1)).cached
            # Six tries, with pauses that double, take longer.
            assert time.monotonic() - began < 10
        with pytest.raises(openai.APIStatusError) as refusal:
            client_of(gateway).chat.completions.create(model="m", messages=[])
        assert refusal.value.status_code == 402
        assert refusal.value.code == BUDGET_CODE
        assert endpoint.calls == 1


def test_a_budget_of_money_holds_over_a_restart(tmp_path: Path, client_of: Clients) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[m]\nprompt = 1000.0\ncompletion = 1000.0\n")
    limits = {"gateway.money_a_day": 0.3, "prices": prices, "model": "m"}

    def ask(gateway: RunningGateway) -> str:
        with models_behind(gateway, model="m") as (models, meter):
            chat = models.chat(meter, "x")
            for number in range(100):
                try:
                    chat.complete(prompt(number))
                except BudgetSpent as error:
                    return str(error)
        raise AssertionError("all was allowed")

    with Endpoint() as endpoint:
        with gateway_before(endpoint, **limits) as gateway:
            first = ask(gateway)
            paid = endpoint.paid_tokens
            with pytest.raises(openai.APIStatusError, match="price of other"):
                client_of(gateway).chat.completions.create(model="other", messages=[])
        assert 0.15 < paid / 1000 <= 0.3
        with gateway_before(endpoint, **limits) as gateway:
            assert ask(gateway) == first
            metrics = httpx2.get(f"{gateway.url}/metrics", timeout=120).text
        assert endpoint.paid_tokens == paid
    assert "of the day (UTC)" in first
    [left] = re.findall(r'budget_left{state="gateway.money_a_day"} (.*)', metrics)
    assert float(left) == pytest.approx(0.3 - paid / 1000)


def test_two_gateways_with_budgets_do_not_share_a_folder(endpoint: Endpoint) -> None:
    limits = {"gateway.tokens_a_day": 1000}
    with (
        gateway_before(endpoint, **limits),
        pytest.raises(SettingsError, match="Another gateway"),
        gateway_before(endpoint, **limits),
    ):
        pass
    with gateway_before(endpoint, **limits):
        pass


def test_a_local_budget_is_not_charged_for_what_the_gateway_has(gateway: RunningGateway) -> None:
    with models_behind(gateway) as (models, meter):
        models.chat(meter, "x").complete(SUMMARY)
        models.counted_embedder(meter).embed(["a"])
    with models_behind(gateway, max_calls=1) as (models, meter):
        chat = models.chat(meter, "x")
        for _ in range(3):
            assert chat.complete(SUMMARY).cached
            assert models.counted_embedder(meter).embed(["a"]).cached
        chat.complete(prompt(1))
        with pytest.raises(BudgetSpent, match="--max-calls"):
            chat.complete(prompt(2))


def test_a_commands_own_gateway_holds_its_budget(endpoint: Endpoint) -> None:
    settings = Settings.read(base_url=endpoint.url, api_key=KEY, max_calls=1)
    with open_cluster(settings, 1, "") as (shared, _), closing(ModelFactory(shared)) as models:
        chat = models.chat(Meter(), "x")
        chat.complete(SUMMARY)
        with ThreadPoolExecutor(8) as pool:
            # Those that the gateway's cache answers take up no room, also while they are under way.
            replies = [*pool.map(lambda _: chat.complete(SUMMARY), range(64))]
        assert all(reply.cached for reply in replies)
        with pytest.raises(BudgetSpent, match=r"1 of 1 calls \(max_calls\)"):
            chat.complete(prompt(1))
    assert endpoint.calls == 1


# Foreign programs


def test_openais_client_is_served_streamed_and_not(
    endpoint: Endpoint, gateway: RunningGateway, client_of: Clients
) -> None:
    client = client_of(gateway)
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": SUMMARY.user}]}
    whole = client.chat.completions.create(**ask, extra_body={"top_k": 7, "seed": 3})
    assert endpoint.bodies[0]["top_k"] == 7
    assert whole.usage is not None
    assert whole.usage.prompt_tokens > 0
    pieces = [*client.chat.completions.create(**ask, stream=True, seed=3, extra_body={"top_k": 7})]
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces)
    assert text == whole.choices[0].message.content
    assert all(piece.choices for piece in pieces)
    assert endpoint.calls == 1

    live = [*client.chat.completions.create(**ask, stream=True)]
    assert "".join(piece.choices[0].delta.content or "" for piece in live) == text
    # The gateway asked for the token counts, the program did not.
    assert endpoint.bodies[1]["stream_options"] == {"include_usage": True}
    assert all(piece.choices and piece.usage is None for piece in live)
    options: Any = {"include_usage": True}
    counted = [*client.chat.completions.create(**ask, stream=True, stream_options=options)]
    assert counted[-1].usage is not None
    assert counted[-1].usage.completion_tokens > 0
    assert client.chat.completions.create(**ask).choices[0].message.content == text
    assert endpoint.calls == 2

    vectors = [client.embeddings.create(model="e", input=["a", "b"]) for _ in range(2)]
    assert vectors[0].data[1].embedding == vectors[1].data[1].embedding
    assert endpoint.calls == 3
    fresh = {"Cache-Control": "no-store"}
    client.chat.completions.create(**ask, extra_headers=fresh)
    assert endpoint.calls == 4


def test_a_stream_is_passed_on_as_it_comes(client_of: Clients) -> None:
    # The endpoint says no more until the client has what it said first.
    has_come = threading.Event()

    def speak(*_: object) -> Iterator[bytes]:
        yield HEAD + event("Marley ")
        assert has_come.wait(60)
        yield event("was dead.") + b"data: [DONE]\n\n"

    with Endpoint(raw=speak) as endpoint, gateway_before(endpoint) as gateway:
        stream = client_of(gateway, timeout=30).chat.completions.create(
            model="m", messages=[{"role": "user", "content": SUMMARY.user}], stream=True
        )
        pieces = []
        for piece in stream:
            has_come.set()
            pieces.append(piece.choices[0].delta.content)
    assert pieces[:2] == ["Marley ", "was dead."]


def test_who_leaves_with_the_last_words_of_a_stream_has_them_kept(client_of: Clients) -> None:
    # A client has all with `[DONE]`, and leaves: before the endpoint hangs up, and all is saved.
    def speak(*_: object) -> list[bytes | float]:
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        return [
            HEAD + event("Marley was dead."),
            b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n",
            0.5,
        ]

    with Endpoint(raw=speak) as endpoint, gateway_before(endpoint) as gateway:
        for _ in range(3):
            stream = client_of(gateway).chat.completions.create(
                model="m", messages=[{"role": "user", "content": SUMMARY.user}], stream=True
            )
            assert "".join(piece.choices[0].delta.content or "" for piece in stream)
        assert endpoint.calls == 1


def test_ranking_goes_through(endpoint: Endpoint, gateway: RunningGateway) -> None:
    with models_behind(gateway, rerank_model="r") as (models, meter):
        guide = models.guide(meter)
        scores = guide.rank("q", ["short", "rather longer"])
        assert guide.rank("q", ["short", "rather longer"]) == scores
    assert scores == [5.0, 13.0]
    assert endpoint.calls == 1
    total = meter.total()
    assert (total.calls, total.saved) == (1, 1)


def test_a_list_of_models_is_passed_on(
    endpoint: Endpoint, gateway: RunningGateway, client_of: Clients
) -> None:
    endpoint.models = ["m", "n"]
    assert [model.id for model in client_of(gateway).models.list()] == ["m", "n"]
    # Another path of the endpoint is none of a client's business.
    with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2]))) as raw:
        raw.sendall(b"GET /v1/models/../files HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 404")


def test_errors_pass_with_their_status_and_retry_after(client_of: Clients) -> None:
    with (
        Endpoint(plan=listed("error", "context"), key=KEY) as endpoint,
        gateway_before(endpoint) as gateway,
    ):
        client = client_of(gateway)

        def ask() -> Any:
            return client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "x"}]
            )

        with pytest.raises(openai.InternalServerError, match="The server had an error"):
            ask()
        with pytest.raises(openai.BadRequestError, match="maximum context length"):
            ask()
        assert ask().choices
    with (
        Endpoint(plan=listed("rate_limit"), retry_after="3600") as endpoint,
        gateway_before(endpoint) as gateway,
    ):
        with pytest.raises(openai.RateLimitError) as refusal:
            client_of(gateway).chat.completions.create(model="m", messages=[])
        assert refusal.value.response.headers["Retry-After"] == "3600"
        # The next call is not kept at the gateway for an hour.
        again = client_of(gateway).with_options(timeout=30).chat.completions
        assert again.create(model="m", messages=[{"role": "user", "content": "x"}]).choices
    with (
        Endpoint(plan=listed("quota")) as endpoint,
        gateway_before(endpoint) as gateway,
        models_behind(gateway) as (models, meter),
    ):
        with pytest.raises(ModelError, match="no quota left"):
            models.chat(meter, "x").complete(SUMMARY)
        assert endpoint.calls == 1


def test_an_answer_that_cannot_be_read_is_a_bad_reply_as_without_a_gateway() -> None:
    plan = listed(None, "web_page")
    with (
        Endpoint(plan=plan) as endpoint,
        gateway_before(endpoint) as gateway,
        models_behind(gateway, attempts=1) as (models, meter),
    ):
        chat = models.chat(meter, "x")
        chat.complete(prompt(0))
        with pytest.raises(BadReply, match="behind the gateway"):
            chat.complete(prompt(1))
        assert chat.complete(prompt(2)).text


def test_calls_refused_for_a_moment_are_asked_again_by_the_gateway_alone(
    client_of: Clients,
) -> None:
    plan = listed("rate_limit", "rate_limit", "rate_limit")
    with Endpoint(plan=plan) as endpoint, gateway_before(endpoint) as gateway:
        client_of(gateway).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}]
        )
        assert (endpoint.calls, endpoint.refused) == (4, 3)


def test_fabula_learns_an_endpoints_parameters_through_the_gateway() -> None:
    refuses = ("response_format", "max_tokens", "temperature")
    with Endpoint(refuses=refuses, key=KEY) as endpoint, gateway_before(endpoint) as gateway:
        with models_behind(gateway) as (models, meter):
            assert models.chat(meter, "x").complete(DETAILS).text
        calls = endpoint.calls
        # Another program begins with all parameters: the key of its reply does not have them.
        with models_behind(gateway) as (models, meter):
            assert models.chat(meter, "x").complete(DETAILS).cached
        assert endpoint.calls == calls


def test_an_endpoint_that_can_count_no_stream_is_asked_without(client_of: Clients) -> None:
    with Endpoint(refuses=["stream_options"]) as endpoint, gateway_before(endpoint) as gateway:
        client = client_of(gateway)
        for word in ("a", "b"):
            stream = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": word}], stream=True
            )
            assert [piece for piece in stream if piece.choices[0].finish_reason]
        assert endpoint.calls == 3


# Keys


def test_no_key_is_in_any_answer_error_or_log(caplog: pytest.LogCaptureFixture) -> None:
    def complain(body: dict[str, Any]) -> tuple[int, Any] | None:
        words = body["messages"][-1]["content"]
        if words == "401":
            return 401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}
        if words == "400":
            return 400, {"error": {"message": f"bad {KEY}", "code": KEY}}
        if words == "500":
            return 500, f"boom {KEY}"
        if words == "200":
            message = {"role": "assistant", "content": f"your key is {KEY}"}
            return 200, {"choices": [{"message": message, "finish_reason": "stop"}]}
        return None

    def leak(_: int, body: dict[str, Any]) -> list[bytes] | None:
        if not body.get("stream"):
            return None
        event = {"choices": [{"index": 0, "delta": {"content": KEY}, "finish_reason": "stop"}]}
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        return [head + b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n"]

    caplog.set_level(logging.DEBUG)
    seen = []
    with Endpoint(objection=complain, raw=leak) as endpoint, gateway_before(endpoint) as gateway:
        for words in ("401", "400", "500", "200", "stream"):
            body: dict[str, Any] = {
                "model": "m",
                "messages": [{"role": "user", "content": words}],
                "stream": words == "stream",
            }
            answer = httpx2.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=120)
            seen.append(answer.text + str(answer.headers))
            assert str(answer.status_code) == (words if words != "stream" else "200")
        for path in ("/metrics", "/health", "/v1/gateway", "/v1/models"):
            seen.append(httpx2.get(f"{gateway.url}{path}", timeout=120).text)
        with models_behind(gateway) as (models, meter):
            with pytest.raises(ModelError) as error:
                models.chat(meter, "x").complete(replace(SUMMARY, user="401"))
            seen.append(str(error.value))
            assert "OPENAI_API_KEY has to be changed where the gateway runs" in str(error.value)
    assert all("***" in text for text in seen[1:5])
    assert KEY not in "".join(seen)
    own = [record for record in caplog.records if not record.name.startswith(("openai", "http"))]
    assert KEY not in "".join(record.getMessage() for record in own)


def test_clients_beyond_this_machine_need_a_key_of_the_gateway(endpoint: Endpoint) -> None:
    settings = Settings.read(base_url=endpoint.url, api_key=KEY)
    made = CliRunner().invoke(main, ["gateway", "keys", "make", "cluster"])
    key = made.stdout.strip()
    assert key.startswith("fgw_")
    listed_keys = CliRunner().invoke(main, ["gateway", "keys"]).stdout
    assert "cluster" in listed_keys
    assert key not in listed_keys
    file = settings.home / "gateway-keys.json"
    assert file.stat().st_mode & 0o777 == 0o600
    _id, _, secret = key.removeprefix("fgw_").partition("_")
    assert secret not in file.read_text()
    required = {"gateway.require_key": True}
    with gateway_before(endpoint, **required) as gateway:
        with (
            models_behind(gateway) as (models, meter),
            pytest.raises(ModelError, match="needs one of its own keys"),
        ):
            models.chat(meter, "x").complete(SUMMARY)
        for valid in (key, gateway.key):
            with models_behind(gateway, gateway_key=valid) as (models, meter):
                assert models.chat(meter, "x").complete(SUMMARY).text
        assert httpx2.get(f"{gateway.url}/metrics", timeout=120).status_code == 401
        assert httpx2.get(f"{gateway.url}/health", timeout=120).json() == {"status": "ok"}
        revoked = CliRunner().invoke(main, ["gateway", "keys", "revoke", listed_keys.split(" ")[0]])
        assert revoked.exit_code == 0
        with (
            models_behind(gateway, gateway_key=key) as (models, meter),
            pytest.raises(ModelError, match="is not valid"),
        ):
            models.chat(meter, "x").complete(prompt(1))
    assert endpoint.calls == 1


def test_what_a_proxy_or_a_web_page_sends_is_not_from_this_machine(
    endpoint: Endpoint, gateway: RunningGateway
) -> None:
    url = f"{gateway.url}/v1/chat/completions"
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    statuses = [
        httpx2.post(url, json=body, headers=headers, timeout=120).status_code
        for headers in (
            {"X-Forwarded-For": "203.0.113.7"},
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Host": "evil.example"},
        )
    ]
    assert statuses == [401, 403, 403, 421]
    assert endpoint.calls == 0


def test_within_a_service_every_client_needs_a_key(endpoint: Endpoint) -> None:
    gateway = Gateway(Settings.read(base_url=endpoint.url, api_key=KEY), is_mounted=True)
    key = gateway.keys.make_temporary("somebody")

    async def statuses() -> list[int]:
        # Where a proxy adds no header, everybody comes from this machine.
        transport = httpx2.ASGITransport(gateway.app, client=("127.0.0.1", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            headers: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {key}"}]
            return [(await client.get("/v1/gateway", headers=h)).status_code for h in headers]

    assert asyncio.run(statuses()) == [401, 200]
    gateway.close()


def test_workers_of_a_scheduler_are_told_an_address_that_they_reach(endpoint: Endpoint) -> None:
    settings: dict[str, Any] = {"base_url": endpoint.url, "api_key": KEY}
    table: dict[str, Any] = {
        "serve.scheduler": "tcp://head:8786",
        "serve.url": "http://fabula.lan:8040/",
    }
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for given, expected in (
            ({}, f"http://127.0.0.1:{listener.getsockname()[1]}/gateway"),
            (table, "http://fabula.lan:8040/gateway"),
        ):
            with App(**settings, **given) as app:
                gateway = _open_gateway(app, app.settings.table("serve"), listener)
                assert app.models.settings.gateway_url == expected
                gateway.close()


def test_models_of_dots_and_broken_keys_are_refused_and_the_own_host_is_not(
    endpoint: Endpoint,
) -> None:
    table = {"gateway.host": "GW.lan", "gateway.require_key": True}
    settings = Settings.read(base_url=endpoint.url, api_key=KEY, **table)
    gateway = Gateway(settings)
    key = gateway.keys.make_temporary("somebody")

    async def ask(*, broken: bool) -> list[int]:
        if broken:
            (settings.home / "gateway-keys.json").write_text("[{")
        transport = httpx2.ASGITransport(gateway.app)
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://gw.lan:8041", headers=headers
        ) as client:
            body = {"model": "..", "messages": []}
            refused = await client.post("/v1/chat/completions", json=body)
            return [(await client.get("/v1/gateway")).status_code, refused.status_code]

    settings.home.mkdir(parents=True, exist_ok=True)
    assert asyncio.run(ask(broken=False)) == [200, 404]
    assert asyncio.run(ask(broken=True)) == [500, 500]
    gateway.close()
    assert endpoint.calls == 0


def test_a_reservation_that_cannot_be_written_holds_up_nobody(tmp_path: Path) -> None:
    file = SpendingFile(tmp_path)
    spending = Spending([SpendingLimit("tokens", "day", 10, "x")], file)
    file._database.close()

    async def ask() -> int:
        for _ in range(2):
            with pytest.raises(sqlite3.ProgrammingError):
                async with asyncio.timeout(60), spending.call(Amount(1, 10)):
                    pass
        return spending.waiting

    assert asyncio.run(ask()) == 0
    file.close()


def test_a_secret_in_the_address_is_in_no_key_of_the_cache() -> None:
    addresses = []
    for url in ("http://u:one@h/v1", "http://u:two@H:80/v1/"):
        models = ModelFactory(Settings.read(base_url=url, api_key=KEY))
        addresses.append(models._address)
        models.close()
    assert addresses == ["http://h/v1"] * 2


def test_a_gateway_on_this_machine_is_asked_past_a_proxy(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr(model_factory, "GATEWAY_DOWN_SECONDS", 0.0)
    with models_behind(gateway) as (models, meter):
        assert models.chat(meter, "x").complete(SUMMARY).text


def test_a_gateway_needs_a_key_before_it_listens_beyond_this_machine(endpoint: Endpoint) -> None:
    environment = {"OPENAI_BASE_URL": endpoint.url}
    run = CliRunner().invoke(main, ["gateway", "--host", "0.0.0.0", "--port", "0"], env=environment)
    assert run.exit_code != 0
    assert "without a key for its clients" in run.output
    offline = CliRunner().invoke(main, ["gateway", "--port", "0"])
    assert "needs the endpoint" in offline.output


def test_the_working_folder_names_no_gateway(tmp_path: Path) -> None:
    for line in ('gateway_url = "http://evil.example"', 'gateway_key = "x"', "[gateway]\nport = 1"):
        (tmp_path / "fabula.toml").write_text(line)
        with pytest.raises(SettingsError, match="not taken from the working folder"):
            Settings.read()


def test_another_server_is_said_to_be_no_gateway(endpoint: Endpoint) -> None:
    other = RunningGateway(endpoint.url.removesuffix("/v1"), "")
    with (
        models_behind(other) as (models, meter),
        pytest.raises(ModelError, match="is no Fabula gateway"),
    ):
        models.chat(meter, "x").complete(SUMMARY)


# Clients that leave


@contextmanager
def slow_server() -> Iterator[tuple[str, threading.Event, threading.Event]]:
    """An endpoint that never answers: its URL, when a call has come, and when it was hung up."""
    listener = socket.create_server(("127.0.0.1", 0))
    came, left = threading.Event(), threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            came.set()
            while connection.recv(65536):
                pass
        left.set()

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", came, left


def test_a_call_whose_client_leaves_is_ended() -> None:
    with (
        slow_server() as (url, came, left),
        serve_gateway(Settings.read(base_url=url, **{"gateway.grace": 0})) as gateway,
    ):
        body = b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}'
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1"
        with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2]))) as client:
            head += f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(head.encode() + body)
            assert came.wait(60)
        assert left.wait(60)
        metrics = f"{gateway.url}/metrics"
        wait_until(lambda: 'outcome="cancelled"} 1.0' in httpx2.get(metrics, timeout=120).text)


def test_a_stopped_question_ends_the_call_of_the_endpoint() -> None:
    with Endpoint(raw=begin_to_answer) as endpoint, gateway_before(endpoint) as gateway:
        long = Prompt("You summarise.", SUMMARY.user, 100, 0.5)
        with models_behind(gateway) as (models, meter):
            stop = Stop()
            pieces = iter(models.view(urgent=True, stop=stop).chat(meter, "x").stream(long))
            next(pieces)
            stop.set()
            with pytest.raises(Exception):  # noqa: B017
                list(pieces)
            wait_until(lambda: endpoint.in_flight == 0)
        assert endpoint.paid_calls == 0


def test_one_of_two_clients_may_leave_and_the_other_is_answered() -> None:
    has_left = threading.Event()

    def hold(*_: object) -> None:
        has_left.wait(60)

    with Endpoint(raw=hold) as endpoint, gateway_before(endpoint) as gateway:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        with ThreadPoolExecutor(1) as pool:
            stays = pool.submit(
                httpx2.post, f"{gateway.url}/v1/chat/completions", json=body, timeout=60
            )
            try:
                wait_until(lambda: endpoint.calls == 1)
                with pytest.raises(httpx2.ReadTimeout):
                    httpx2.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=0.3)
            finally:
                has_left.set()
            assert stays.result().status_code == 200
        assert endpoint.calls == 1


def test_a_builds_call_under_way_is_completed_for_the_next_try() -> None:
    with Endpoint(delay=0.5) as endpoint, gateway_before(endpoint) as gateway:
        worker = subprocess.Popen(
            [sys.executable, SUPPORT / "gateway_client.py", "0", "1", "1"],
            env=os.environ | {"FABULA_GATEWAY_URL": gateway.url, "PYTHONPATH": str(SUPPORT)},
        )
        wait_until(lambda: endpoint.calls == 1)
        worker.kill()
        worker.wait()
        with models_behind(gateway) as (models, meter):
            assert models.chat(meter, "x").complete(prompt(0)).cached
        assert endpoint.calls == 1


# A gateway that is killed


@contextmanager
def gateway_process(endpoint: Endpoint, port: int) -> Iterator[subprocess.Popen[str]]:
    """A gateway as a process of its own, which answers."""
    environment = os.environ | {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY}
    process = subprocess.Popen(
        [sys.executable, "-m", "fabula", "gateway", "--port", str(port), "--concurrency", "4"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Gateway: http://127.0.0.1:{port}\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_killed_gateway_is_waited_for_and_nothing_else_is_paid_twice() -> None:
    with (
        free_port() as port,
        Endpoint(delay=0.1, key=KEY) as endpoint,
        ThreadPoolExecutor(8) as pool,
        models_behind(RunningGateway(f"http://127.0.0.1:{port}", "")) as (models, meter),
    ):
        chat = models.chat(meter, "x")
        with gateway_process(endpoint, port) as process:
            replies = [pool.submit(chat.complete, prompt(n)) for n in range(60)]
            wait_until(lambda: endpoint.paid_calls >= 20)
            killed_at = time.monotonic()
            process.send_signal(signal.SIGKILL)
            process.wait()
        with gateway_process(endpoint, port):
            texts = [reply.result(timeout=120).text for reply in replies]
            assert all(chat.complete(prompt(n)).cached for n in range(60))
    assert texts == [f"Chapter {n} begins." for n in range(60)]
    times: dict[str, list[float]] = {}
    for body, at in zip(endpoint.bodies, endpoint.times, strict=True):
        times.setdefault(json.dumps(body, sort_keys=True), []).append(at)
    assert len(times) == 60
    twice = [asked for asked in times.values() if len(asked) > 1]
    # Only those that were under way at the kill, four at most.
    assert len(twice) <= 4
    assert all(len(asked) == 2 and asked[1] >= killed_at for asked in twice)


def test_without_a_gateway_a_call_fails_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_factory, "GATEWAY_DOWN_SECONDS", 1.0)
    with (
        free_port() as port,
        models_behind(RunningGateway(f"http://127.0.0.1:{port}", "")) as (models, meter),
    ):
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"can't be reached.*FABULA_GATEWAY_URL") as failed:
            models.chat(meter, "x").complete(SUMMARY)
        assert "`fabula gateway` starts one. Given up after " in str(failed.value)
        assert "Given up after 0" not in str(failed.value)
        assert 1 <= time.monotonic() - began < 60


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)
