"""How many calls a second a gateway passes on: `python -m bench.gateway_throughput`.

An endpoint without any work, the gateway, and the clients are a process each; every prompt is asked
once, and then all of them again, from the cache. The endpoint alone is measured as well: what the
gateway adds is the difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2
import psutil

REPLY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "A summary of the passage. " * 20},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1020},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
    REPLY
)
PASSAGE = "Marley was dead: to begin with. There is no doubt whatever about that. " * 50


async def answer_calls(seconds: float) -> None:
    """Answer every request with the same reply after some seconds, and print the URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
                await asyncio.sleep(seconds)
                writer.write(HEAD + REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


async def ask(url: str, calls: int, at_once: int) -> float:
    """Return how many calls a second are answered, of so many at once."""
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    numbers = iter(range(calls))
    async with httpx2.AsyncClient(limits=limits, timeout=120) as client:

        async def go() -> None:
            for number in numbers:
                body = {
                    "model": "gpt-4.1-mini",
                    "max_tokens": 200,
                    "messages": [{"role": "user", "content": f"{number} {PASSAGE}"}],
                }
                response = await client.post(f"{url}/chat/completions", json=body)
                response.raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(go() for _ in range(at_once)))
        return calls / (time.perf_counter() - began)


def start(*command: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
    """Start a process that prints its URL on its first line."""
    process = subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


def main() -> None:
    """Measure, and print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.2, help="that the endpoint takes")
    parser.add_argument("--endpoint", action="store_true", help="be the endpoint")
    given = parser.parse_args()
    if given.endpoint:
        asyncio.run(answer_calls(given.seconds))
        return
    with tempfile.TemporaryDirectory() as folder:
        me = str(Path(__file__))
        endpoint, url = start(me, "--endpoint", "--seconds", str(given.seconds))
        at_once = str(min(given.at_once, 256))
        gateway, gateway_url = start(
            *("-m", "fabula", "gateway", "--port", "0", "--concurrency", at_once),
            OPENAI_BASE_URL=url,
            FABULA_HOME=folder,
            FABULA_CACHE_FOLDER=folder,
        )
        try:
            ways = (("endpoint", url), ("gateway", gateway_url), ("cached", gateway_url))
            for name, where in ways:
                base = where.removesuffix("/v1") + "/v1"
                began = psutil.Process(gateway.pid).cpu_times()
                rate = asyncio.run(ask(base, given.calls, given.at_once))
                ended = psutil.Process(gateway.pid).cpu_times()
                used = ended.user + ended.system - began.user - began.system
                cpu = f"{1000 * used / given.calls:.1f} ms of CPU a call in the gateway"
                print(f"{name}: {rate:,.0f} calls a second, {cpu}", flush=True)
        finally:
            gateway.kill()
            endpoint.kill()
            gateway.communicate()
            endpoint.communicate()


if __name__ == "__main__":
    main()
