"""Inside a peer's environment: its adapter, spoken to in JSON. Standard library alone.

`python -P serve.py ADAPTER DESCRIPTOR` loads the file ADAPTER, makes its `Peer()`, says {} to the
pipe, and answers each message:

    {"index": [text, ...]}  -> {}
    {"ask": question}       -> {"answer": text, "context": [text, ...]}

or {"error": why}.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LONGEST = 600
"""Characters of an error."""


def load(path: str) -> Any:
    """The adapter's `Peer`, whose file may have the name of the package that it imports."""
    spec = importlib.util.spec_from_file_location(f"adapter_{Path(path).stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Peer()


def reply_to(peer: Any, request: dict[str, Any]) -> dict[str, Any]:
    """What the peer says to one message."""
    if "index" in request:
        peer.index(request["index"])
        return {}
    answer, context = peer.ask(request["ask"])
    return {"answer": str(answer), "context": [str(passage) for passage in context]}


def say(pipe: Connection, work: Callable[[], Any], *, quiet: bool = False) -> Any:
    """Do what was asked for, and send its result, or {} if `quiet`; None where it failed."""
    result = None
    try:
        result = work()
        message = {} if quiet else result
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told, whatever it is
        traceback.print_exc()
        message = {"error": f"{type(error).__name__}: {error}"[:LONGEST]}
    pipe.send_bytes(json.dumps(message).encode())
    return result


if __name__ == "__main__":
    pipe = Connection(int(sys.argv[2]))
    if peer := say(pipe, partial(load, sys.argv[1]), quiet=True):
        while True:
            try:
                request = json.loads(pipe.recv_bytes())
            except EOFError:
                break
            say(pipe, partial(reply_to, peer, request))
