"""Inside a peer's environment: its adapter, spoken to in JSON lines. Standard library alone.

`python -P serve.py ADAPTER` loads the file ADAPTER, makes its `Peer()`, says {"ready": true}, and
answers each line:

    {"index": [text, ...]}  -> {"indexed": number of texts}
    {"ask": question}       -> {"answer": text, "context": [text, ...]}

or {"error": why}. Whatever the peer prints goes to standard error.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

LONGEST = 600
"""Characters of an error."""


def loaded(path: Path) -> Any:
    """The adapter's `Peer`, whose file may have the name of the package that it imports."""
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Peer()


def replied(peer: Any, request: dict[str, Any]) -> dict[str, Any]:
    """What the peer says to one line."""
    if "index" in request:
        peer.index(request["index"])
        return {"indexed": len(request["index"])}
    answer, context = peer.ask(request["ask"])
    return {"answer": str(answer), "context": [str(passage) for passage in context]}


def serve(path: Path) -> None:
    """Answers lines until there are no more."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    peer: Any = None

    def started() -> dict[str, Any]:
        nonlocal peer
        peer = loaded(path)
        return {"ready": True}

    def say(reply: Callable[[], dict[str, Any]]) -> bool:
        try:
            message, good = reply(), True
        except (Exception, SystemExit) as error:  # noqa: BLE001 - told, whatever it is
            traceback.print_exc()
            message, good = {"error": f"{type(error).__name__}: {error}"[:LONGEST]}, False
        replies.write(json.dumps(message) + "\n")
        replies.flush()
        return good

    if say(started):
        for line in sys.stdin:
            say(partial(replied, peer, json.loads(line)))


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    serve(Path(sys.argv[1]))
