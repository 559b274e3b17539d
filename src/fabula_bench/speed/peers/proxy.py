"""Between a peer and the model endpoint: every call passes here and is counted as it is answered.

So that calls and tokens of all systems are counted in one way: as the endpoint's `usage` says.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from fabula.errors import ModelError
from fabula.models.usage import Usage

OPENAI = "https://api.openai.com/v1"


class Proxy:
    """A server on 127.0.0.1 in front of `base_url`; a context manager that serves from a thread.

    It holds the key, so that no peer needs it, and lets `at_once` calls through at a time.
    `timeout` is in seconds.
    """

    def __init__(self, base_url: str | None, key: str, at_once: int, timeout: float) -> None:
        self.base_url = (base_url or OPENAI).rstrip("/")
        self.last = time.monotonic()
        """When a call last began or was answered."""
        self._how: dict[str, Any] = {
            "headers": {"Authorization": f"Bearer {key}"},
            "timeout": httpx2.Timeout(timeout, pool=None),
        }
        limits = httpx2.Limits(max_connections=at_once)
        self._client = httpx2.AsyncClient(limits=limits, **self._how)
        self._lock = threading.Lock()
        self._spent: dict[str, Usage] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        routes = [Route("/v1/{path:path}", self._pass, methods=["POST"])]
        app = Starlette(routes=routes, lifespan=self._live)
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def take(self) -> dict[str, Usage]:
        """What was spent since the last time, by model."""
        with self._lock:
            spent, self._spent = self._spent, {}
        return spent

    def dimensions(self, model: str) -> int:
        """The length of the embedding model's vectors; the call that tells it is not counted.

        Raises ModelError.
        """
        body = {"model": model, "input": ["yes"]}
        try:
            reply = httpx2.post(f"{self.base_url}/embeddings", json=body, **self._how)
            return len(reply.raise_for_status().json()["data"][0]["embedding"])
        except (httpx2.HTTPError, ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{self.base_url} has no vectors of {model}: {error}") from error

    def _count(self, model: str, usage: Usage) -> None:
        with self._lock:
            self.last = time.monotonic()
            self._spent[model] = self._spent.get(model, Usage()) + usage

    @asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        async with self._client:
            yield

    async def _pass(self, request: Request) -> Response:
        body = await request.json()
        model = str(body.get("model", ""))
        wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
        url = f"{self.base_url}/{request.path_params['path']}"
        self.last = time.monotonic()
        try:
            call = self._client.build_request("POST", url, json=_adjust(body))
            answer = await self._client.send(call, stream=True)
            if answer.is_success and "event-stream" in answer.headers.get("Content-Type", ""):
                events = self._pass_events(answer, model, wants_usage=wants_usage)
                return StreamingResponse(events, media_type="text/event-stream")
            content = await answer.aread()
            reply = _complete(json.loads(content), model) if answer.is_success else {}
        except (httpx2.HTTPError, ValueError) as error:
            self._count(model, Usage(faults=1))
            problem = {"message": f"The endpoint failed: {error}", "type": "server_error"}
            return JSONResponse({"error": problem}, 502)
        if answer.is_error:
            self._count(model, Usage(faults=1))
            headers = {n: v for n, v in answer.headers.items() if n.lower() == "retry-after"}
            return Response(content, answer.status_code, headers, "application/json")
        if isinstance(reply.get("data"), list):
            # Endpoints may send rows in any order, and not every client looks.
            reply["data"].sort(key=lambda row: row["index"])
        # Counted first: who has the reply may ask what it cost.
        self._count(model, _usage(reply.get("usage")))
        return JSONResponse(reply)

    async def _pass_events(
        self, answer: httpx2.Response, model: str, *, wants_usage: bool
    ) -> AsyncIterator[str]:
        """Events as they come; that of the usage only to a client that asked for it."""
        usage = None
        try:
            async for line in answer.aiter_lines():
                payload = line.removeprefix("data:").strip()
                event = json.loads(payload) if payload.startswith("{") else {}
                usage = event.get("usage") or usage
                if payload == "[DONE]":
                    self._count(model, _usage(usage))
                if event.get("usage") and not event.get("choices") and not wants_usage:
                    continue
                yield f"data: {json.dumps(_complete(event, model))}\n" if event else f"{line}\n"
        except (httpx2.HTTPError, ValueError):
            self._count(model, Usage(faults=1))
            raise
        finally:
            await answer.aclose()


def _adjust(body: dict[str, Any]) -> dict[str, Any]:
    """A stream's usage is asked for, and one text is a list of one: it means the same."""
    if body.get("stream"):
        options = body.get("stream_options") or {}
        return body | {"stream_options": options | {"include_usage": True}}
    return body | {"input": [body["input"]]} if isinstance(body.get("input"), str) else body


def _complete(reply: dict[str, Any], model: str) -> dict[str, Any]:
    """A reply with the fields that some endpoints leave out, and some clients can't do without."""
    return {"created": int(time.time()), "model": model, **reply}


def _usage(usage: Any) -> Usage:
    counts = usage if isinstance(usage, dict) else {}
    return Usage(
        calls=1,
        prompt_tokens=counts.get("prompt_tokens") or 0,
        completion_tokens=counts.get("completion_tokens") or 0,
        cached_tokens=(counts.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
    )
