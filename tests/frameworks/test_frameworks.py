"""LangChain and LlamaIndex retrieve what Fabula finds, from this process or from a service."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from cases import for_each
from fabula import Fabula, FabulaError, NotFound
from fabula.frameworks import searching
from fabula.server import Address
from served import Served, served
from shared_library import shared_library

pytestmark = pytest.mark.shared_library

QUESTION = "Who keeps the light?"


@pytest.fixture(scope="module")
def fabula(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabula]:
    """A collection with one story, made without a model."""
    name, home = "winter tales", tmp_path_factory.mktemp("home")
    with (
        shared_library(address, name, collection=name, home=home) as app,
        Fabula(app.settings) as fabula,
    ):
        yield fabula


@pytest.fixture(scope="module")
def service(fabula: Fabula) -> Iterator[Served]:
    with served(fabula.app) as it:
        yield it


@pytest.fixture(scope="module", params=["of a collection", "at a service"])
def made_with(request: pytest.FixtureRequest, fabula: Fabula, service: Served) -> Any:
    """Makes a retriever of a class, either way."""
    if request.param == "of a collection":
        return lambda kind, **asked: kind.of(fabula, **asked)
    key = service.key("read", [fabula.name])
    return lambda kind, **asked: kind.at(service.url, fabula.name, key, **asked)


@pytest.mark.journey
def test_langchain_finds_what_fabula_finds(fabula: Fabula, made_with: Any) -> None:
    pytest.importorskip("langchain_core")
    from fabula.frameworks.langchain import FabulaRetriever

    retriever = made_with(FabulaRetriever, k=3)
    expected = fabula.retrieve(QUESTION, k=3)
    found = retriever.invoke(QUESTION)
    assert [one.id for one in found] == [hit.id for hit in expected]
    assert [one.page_content for one in found] == [hit.text for hit in expected]
    first, hit = found[0].metadata, expected[0]
    assert (first["title"], first["start"], first["end"]) == (hit.title, hit.start, hit.end)
    assert first["score"] == pytest.approx(hit.score)
    assert len(retriever.invoke(QUESTION, k=2)) == 2, "given with the question, it goes before"
    assert [document.id for document in asyncio.run(retriever.ainvoke(QUESTION))] == [
        one.id for one in found
    ]


@pytest.mark.journey
def test_llama_index_finds_what_fabula_finds(fabula: Fabula, made_with: Any) -> None:
    pytest.importorskip("llama_index.core")
    from fabula.frameworks.llama_index import FabulaRetriever

    expected = fabula.retrieve(QUESTION, k=3, kinds="chunk")
    found = made_with(FabulaRetriever, k=3, kinds="chunk").retrieve(QUESTION)
    assert [one.node.node_id for one in found] == [hit.id for hit in expected]
    assert [one.score for one in found] == pytest.approx([hit.score for hit in expected])
    assert found[0].node.start_char_idx == expected[0].start
    assert found[0].node.metadata["section"] == expected[0].section


def test_what_a_service_refuses_is_said_in_its_words(fabula: Fabula, service: Served) -> None:
    key = service.key("read", [fabula.name])
    with pytest.raises(NotFound, match="There is no collection 'spring'"):
        searching.search_service(service.url, "spring", key)(QUESTION, {})
    with pytest.raises(FabulaError, match="There is no mode 'nearby'"):
        searching.search_service(service.url, fabula.name, key)(QUESTION, {"mode": "nearby"})
    with pytest.raises(FabulaError, match=r"http://127\.0\.0\.1:9 can't be reached"):
        searching.search_service("http://127.0.0.1:9", fabula.name, key)(QUESTION, {})


class Proxy(BaseHTTPRequestHandler):
    """What answers in the place of a service."""

    status, body = 200, b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@for_each(
    ("status", "body", "says"),
    [
        (502, b'{"error": "bad gateway"}', "can't be reached.* status 502"),
        (502, b"[1]", "can't be reached.* status 502"),
        (502, b"<html>", "can't be reached.* status 502"),
        (404, b'{"detail": {"why": 1}}', "can't be reached.* status 404"),
        (403, b'{"detail": "Not with that key."}', "Not with that key."),
        (200, b"<html>", "is not a Fabula"),
        (200, b'{"hits": [{"id": 1}]}', "is not a Fabula"),
        (200, b"[]", "is not a Fabula"),
    ],
)
def test_what_is_no_service_is_told_in_a_sentence(status: int, body: bytes, says: str) -> None:
    handler = type("Answering", (Proxy,), {"status": status, "body": body})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(FabulaError, match=says):
                searching.search_service(f"http://127.0.0.1:{server.server_port}", "x", "key")(
                    QUESTION, {}
                )
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("module", "missing", "package"),
    [
        ("langchain", "langchain_core.callbacks", "langchain-core"),
        ("llama_index", "llama_index.core.retrievers", "llama-index-core"),
    ],
)
def test_a_framework_that_is_missing_is_named_with_its_package(
    module: str, missing: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(missing)
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, f"fabula.frameworks.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=f"is not installed.*pip install {package}$"):
        importlib.import_module(f"fabula.frameworks.{module}")
