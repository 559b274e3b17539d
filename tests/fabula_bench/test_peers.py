"""Other systems beside a run: their calls counted, their adapters spoken to, one skipped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from openai import OpenAI

from cases import for_each
from endpoint import Endpoint, every
from fabula.models.usage import Usage
from fabula.text import tokens
from fabula_bench.model import BenchQuestion, Result
from fabula_bench.speed.peers.adapter import Adapter, PeerFailed
from fabula_bench.speed.peers.catalogue import NotInstalled, Peer, read_peers
from fabula_bench.speed.peers.proxy import Proxy
from fabula_bench.speed.peers.running import (
    RANKS_FILE,
    Asking,
    find_choice,
    read_indexing,
    write_ranks,
)

pytestmark = pytest.mark.waits

ADAPTER = """
import json, os, urllib.request

def called(path, body):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode(), {"a": "b"}
    )
    return json.load(urllib.request.urlopen(request))

class Peer:
    def index(self, texts):
        print("not a reply")
        if texts == ["bad"]:
            raise ValueError("no such text")
        called("/embeddings", {"model": "e", "input": texts[0]})
        open("texts.json", "w").write(json.dumps(texts))

    def ask(self, question):
        if "die" in question:
            os._exit(3)
        said = called("/chat/completions", {"model": "m", "messages": [{"content": question}]})
        seen = os.environ.get("NEO4J_PASSWORD", "")
        how = os.environ["PEER_SEARCH"]
        return question.upper() + seen + how, json.load(open("texts.json"))
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(key="secret") as endpoint:
        yield endpoint


@pytest.fixture
def proxy(endpoint: Endpoint) -> Iterator[Proxy]:
    with Proxy(endpoint.url, "secret", 4, 60.0) as proxy:
        yield proxy


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Peer:
    monkeypatch.setattr("fabula_bench.speed.peers.catalogue.ADAPTERS", tmp_path)
    (tmp_path / "small.py").write_text(ADAPTER, encoding="utf-8")
    return Peer("small", "Small", "no-such-package-of-ours", "0", ">=3.11", "MIT")


def at_work(peer: Peer, proxy: Proxy, folder: Path) -> Asking:
    environment = {"PEER_MODEL": "m"}
    return Asking(peer, Path(sys.executable), folder, proxy, environment, "answer")


def test_calls_and_tokens_of_chats_streams_and_embeddings_are_those_the_endpoint_tells(
    proxy: Proxy, endpoint: Endpoint
) -> None:
    client = OpenAI(base_url=proxy.url, api_key="any")
    asked = {"model": "m", "messages": [{"role": "user", "content": "<passages>\nOne. Two."}]}
    whole = client.chat.completions.create(**asked)  # type: ignore[call-overload]
    chat = proxy.take()
    events = list(client.chat.completions.create(**asked, stream=True))  # type: ignore[call-overload]
    told = Usage(1, whole.usage.prompt_tokens, whole.usage.completion_tokens)
    assert chat == proxy.take() == {"m": told}
    said = "".join(event.choices[0].delta.content or "" for event in events)
    assert said == whole.choices[0].message.content, "no event without a choice reaches the client"
    rows = client.embeddings.create(model="e", input=["one", "two", "three"]).data
    assert [row.index for row in rows] == [0, 1, 2]
    assert proxy.take() == {"e": Usage(1, prompt_tokens=4)}
    assert client.embeddings.create(model="e", input="one").data[0].embedding == rows[0].embedding
    assert proxy.take()["e"].calls == 1
    assert proxy.take() == {}
    assert endpoint.refused == 0


def test_a_call_that_fails_is_passed_on_and_counted_as_a_fault(
    proxy: Proxy, endpoint: Endpoint
) -> None:
    endpoint.plan = every(2, "rate_limit")
    client = OpenAI(base_url=proxy.url, api_key="any", max_retries=3)
    for _ in range(2):
        client.embeddings.create(model="e", input=["one"])
    assert proxy.take()["e"] == Usage(2, prompt_tokens=2, faults=1)


def test_a_peer_is_asked_in_json_and_its_index_is_made_once(
    peer: Peer, proxy: Proxy, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "ours")
    asking = at_work(peer, proxy, tmp_path / "peers")
    questions = [BenchQuestion("q1", "t", "who?"), BenchQuestion("q2", "t", "where?")]
    first, second = asking.results(("A tale.",), questions)
    assert isinstance(first, Result) and isinstance(second, Result)
    assert (first.system, first.question, first.answer) == ("peer:small", "q1", "WHO?")
    assert [one.text for one in first.context] == ["A tale."]
    assert first.context_tokens == tokens.count("A tale.")
    assert (first.calls, first.spent["m"].calls, first.prompt_tokens) == (1, 1, 2)
    assert read_indexing(tmp_path / "peers").spent == {"e": Usage(1, prompt_tokens=2)}
    assert len(list(asking.results(("A tale.",), questions))) == 2
    assert sum("input" in body for body in endpoint.bodies) == 1


def test_two_searches_of_one_peer_share_what_is_installed_and_one_index(
    peer: Peer, proxy: Proxy, endpoint: Endpoint, tmp_path: Path
) -> None:
    other = replace(peer, name="small-deep", of="small", search=" deep")
    questions = [BenchQuestion("q1", "t", "who?")]
    found = [
        next(at_work(one, proxy, tmp_path / one.home).results(("A tale.",), questions))
        for one in (peer, other)
    ]
    assert [(one.system, one.answer) for one in found if isinstance(one, Result)] == [
        ("peer:small", "WHO?"),
        ("peer:small-deep", "WHO? deep"),
    ]
    assert sum("input" in body for body in endpoint.bodies) == 1
    read = read_peers()
    local, drift = read["graphrag"], read["graphrag-drift"]
    assert (drift.requirements, drift.adapter, drift.home) == (
        local.requirements,
        local.adapter,
        local.home,
    )


def test_what_a_peer_fails_at_is_told_in_its_words(
    peer: Peer, proxy: Proxy, tmp_path: Path
) -> None:
    questions = [BenchQuestion("q1", "t", "die!"), BenchQuestion("q2", "t", "who?")]
    asking = at_work(peer, proxy, tmp_path / "peers")
    with pytest.raises(PeerFailed, match="ValueError: no such text"):
        list(asking.results(("bad",), questions))
    with pytest.raises(PeerFailed, match=r"ended with status 3: .*log\.txt"):
        list(asking.results(("good",), questions))


def test_a_peer_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    python, adapter = Path(sys.executable), tmp_path / "slow.py"
    slow = Adapter(python, adapter, tmp_path / "work", {}, lambda: 0.0, patience=0.2)
    with pytest.raises(PeerFailed, match="said nothing"), slow:
        pass


def test_a_peer_that_cannot_be_installed_is_skipped_with_the_reason(
    peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NotInstalled, match=r"no-such-package-of-ours==0 can't be installed: ERROR"):
        peer.install(tmp_path)
    old = Peer("old", "Old", "old", "1", "<3", "MIT")
    with pytest.raises(NotInstalled, match="old needs Python <3, and this is 3"):
        old.install(tmp_path)


def test_every_peer_of_the_list_has_an_adapter_a_version_and_a_licence() -> None:
    for peer in read_peers().values():
        assert peer.adapter.is_file(), peer.name
        assert peer.version[0].isdigit() and peer.licence in ("MIT", "Apache-2.0")


@for_each(
    ("answer", "index"), [("2. The mill", 1), ("It is (3).", 2), ("7", None), ("The mill", None)]
)
def test_the_option_that_an_answer_names_is_found(answer: str, index: int | None) -> None:
    assert find_choice(answer, 4) == index


def test_the_tokenizer_of_peers_finds_the_table_that_it_would_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tiktoken.load

    write_ranks(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    table = tiktoken.load.load_tiktoken_bpe(
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        expected_hash="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    )
    assert len(table) == tokens.RANKS_COUNT
    assert [file.name for file in tmp_path.iterdir()] == [RANKS_FILE]
