"""Addresses of endpoints, Azure's above all, and what is sent to them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cases import for_each
from fabula.errors import ModelError
from fabula.models.endpoint.address import EndpointAddress, normalize_url, redact_url
from fabula.models.endpoint.openai import OpenAIChat, OpenAIEmbedder
from reach import SUMMARY, reach, text_of

AZURE, FOUNDRY = "https://books.openai.azure.com", "https://books.services.ai.azure.com"
VERSION = "?api-version=2024-10-21"


class AzureServer:
    """Azure's deployments "gpt" and "e": a path for each, a version, and a header for the key."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.url = ""

    def answer(self, target: str, headers: dict[str, str]) -> tuple[int, Any]:
        self.requests.append((target, headers))
        address = urlsplit(target)
        if not parse_qs(address.query).get("api-version"):
            return 404, {"error": {"code": "404", "message": "Resource not found"}}
        if "authorization" in headers:
            return 401, {"error": {"code": "401", "message": "The token is not valid."}}
        if headers.get("api-key") != "a-key":
            message = "Access denied due to missing subscription key."
            return 401, {"error": {"code": "401", "message": message}}
        if address.path == "/openai/deployments/gpt/chat/completions":
            choice = {"message": {"content": "Marley."}, "finish_reason": "stop"}
            return 200, {"choices": [choice]}
        if address.path == "/openai/deployments/e/embeddings":
            return 200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}
        return 404, {"error": {"code": "DeploymentNotFound", "message": "There is none."}}


@contextmanager
def azure() -> Iterator[AzureServer]:
    server = AzureServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, body = server.answer(self.path, headers)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


@for_each(
    "end",
    [
        f"/openai/deployments/gpt{VERSION}",
        f"/openai/deployments/gpt/{VERSION}",
        f"/openai/deployments/gpt/chat/completions{VERSION}",
        f"/openai/deployments{VERSION}",
        "/openai/deployments/gpt",
    ],
)
def test_a_deployment_is_called_by_its_path_its_version_and_its_header(end: str) -> None:
    with azure() as server:
        endpoint = reach(server.url + end, key="a-key", attempts=1)
        name = "gpt" if "gpt" not in end else "any-name"
        chat = OpenAIChat(endpoint, name)
        assert chat.complete(SUMMARY).text == "Marley."
        assert text_of(chat.stream(SUMMARY)) == "Marley."
        assert OpenAIEmbedder(endpoint, "e").embed(["a ghost"]).vectors.shape == (1, 2)
    assert all(headers["user-agent"].startswith("fabula/") for _, headers in server.requests)


def test_a_model_of_another_setting_is_in_a_deployment_of_its_own_name() -> None:
    with azure() as server:
        endpoint = reach(f"{server.url}/openai/deployments/other{VERSION}", key="a-key")
        assert OpenAIChat(endpoint, "gpt", "FABULA_ASPECT_MODEL").complete(SUMMARY).text
        with pytest.raises(ModelError, match=r"no model 'gpt' \(404\)"):
            OpenAIChat(endpoint, "gpt").complete(SUMMARY)
    assert len(server.requests) == 2, "a deployment that is not there is not asked for again"


def test_a_token_of_microsoft_entra_is_sent_as_a_bearer() -> None:
    with azure() as server:
        endpoint = reach(f"{server.url}/openai/deployments/gpt{VERSION}", key="eyJhbGciOi.a.b")
        with pytest.raises(ModelError, match="refused the key"):
            OpenAIChat(endpoint, "gpt").complete(SUMMARY)
    [(_, headers)] = server.requests
    assert headers["authorization"] == "Bearer eyJhbGciOi.a.b"
    assert "api-key" not in headers


def test_other_endpoints_get_a_bearer_and_no_other_header() -> None:
    with (
        azure() as server,
        pytest.raises(ModelError, match=r"At Azure it ends with /openai/v1, or with"),
    ):
        OpenAIChat(reach(f"{server.url}/v1", key="a-key", attempts=1), "gpt").complete(SUMMARY)
    target, headers = server.requests[0]
    assert target == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer a-key"
    assert "api-key" not in headers


@for_each(
    ("url", "normalized"),
    [
        (AZURE, f"{AZURE}/openai/v1"),
        (f"{AZURE}/", f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai", f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai/v1/", f"{AZURE}/openai/v1"),
        (f"{AZURE}{VERSION}", f"{AZURE}/openai/deployments{VERSION}"),
        (f"{AZURE}/openai/deployments/gpt", f"{AZURE}/openai/deployments/gpt{VERSION}"),
        (f"{AZURE}/openai/responses{VERSION}", f"{AZURE}/openai/deployments{VERSION}"),
        (f"{AZURE}/openai/v1/responses", f"{AZURE}/openai/v1"),
        (f"{FOUNDRY}/api/projects/tales", f"{FOUNDRY}/openai/v1"),
        (f"{FOUNDRY}/models", f"{FOUNDRY}/models?api-version=2024-05-01-preview"),
        (f"{FOUNDRY}/models/chat/completions{VERSION}", f"{FOUNDRY}/models{VERSION}"),
        ("https://llama.eastus.models.ai.azure.com", "https://llama.eastus.models.ai.azure.com"),
        ("https://models.inference.ai.azure.com", "https://models.inference.ai.azure.com"),
        ("http://host/v1/chat/completions", "http://host/v1"),
        ("http://host/v1/responses", "http://host/v1"),
        ("http://host/v1/embeddings/", "http://host/v1"),
        ("http://host/v1?key=a", "http://host/v1?key=a"),
        ("http://host/v1", "http://host/v1"),
    ],
)
def test_addresses_are_completed_and_cut_as_they_are_copied(url: str, normalized: str) -> None:
    assert normalize_url(url) == normalized
    assert normalize_url(normalized) == normalized


def test_parameters_of_an_address_are_sent_with_each_call_and_are_no_part_of_its_path() -> None:
    address = EndpointAddress.of("http://host/v1?key=a-secret&api-version=1")
    assert address.base == "http://host/v1"
    assert address.query == {"key": "a-secret", "api-version": "1"}
    assert address.path("/embeddings", "e", is_main=False) == "/embeddings"
    assert redact_url(address.url) == "http://host/v1?api-version=1"


def test_a_secret_parameter_is_in_no_message() -> None:
    with azure() as server:
        endpoint = reach(f"{server.url}/v1?key=a-secret-key", attempts=1)
        with pytest.raises(ModelError) as caught:
            OpenAIChat(endpoint, "gpt").complete(SUMMARY)
    assert server.requests[0][0] == "/v1/chat/completions?key=a-secret-key"
    assert "a-secret-key" not in str(caught.value)
