"""Calls of the tools of MCP, in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp import Client

from fabula.jobs.callers import Caller
from fabula.service.mcp import make_mcp
from served import Served

Out = TypeVar("Out")


def in_memory(
    it: Served, use: Callable[[Client], Awaitable[Out]], caller: Caller | None = None
) -> Out:
    """What a client says of a server in this process, asked by a caller."""
    reader = caller or Caller("ada", "Ada", "read", frozenset({"mine"}))

    async def run() -> Out:
        async with Client(make_mcp(it.state, reader)) as client:
            return await use(client)

    return anyio.run(run)


def called(it: Served, tool: str, caller: Caller | None = None, **given: Any) -> Any:
    """What a tool gives; its error, where it fails."""

    async def call(client: Client) -> Any:
        result = await client.call_tool(tool, given)
        if result.is_error:
            return result.content[0].text  # type: ignore[union-attr]
        return result.structured_content

    return in_memory(it, call, caller)
