"""A peer's adapter as a process, and the lines that are exchanged with it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fabula.errors import FabulaError

SERVE = Path(__file__).with_name("serve.py")
PATIENCE = 900.0
"""Seconds without a reply and without a call to the model until a peer is given up."""
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "HTTPS_PROXY", "SSL_CERT_FILE")
"""Of the environment a peer sees only these: no settings and no keys of ours."""


class PeerFailed(FabulaError):
    """A peer could not do what it was asked; `gone`: it does nothing more."""

    def __init__(self, reason: str, *, gone: bool = False) -> None:
        super().__init__(reason)
        self.gone = gone


@dataclass(frozen=True, slots=True)
class Said:
    """A peer's answer, and the passages that it says it was made from."""

    answer: str
    context: tuple[str, ...]


class Adapter:
    """An adapter at work in `folder`, where its peer keeps the index; to be used with `with`.

    `busy` tells when the peer last asked a model (`time.monotonic()`). What the peer prints is in
    the folder's log.txt.
    """

    def __init__(
        self,
        python: Path,
        adapter: Path,
        folder: Path,
        environment: Mapping[str, str],
        busy: Callable[[], float],
        patience: float = PATIENCE,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log, self._busy, self._patience = folder / "log.txt", busy, patience
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(python), "-P", str(SERVE), str(adapter)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={name: os.environ[name] for name in KEPT if name in os.environ}
                | {"PYTHONUTF8": "1", **environment},
                text=True,
                encoding="utf-8",
            )
        self._replies: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        """Waits until the peer is loaded. Raises PeerFailed."""
        try:
            self._reply()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def index(self, texts: Sequence[str]) -> None:
        """Makes the peer's index. Raises PeerFailed."""
        self._exchange({"index": list(texts)})

    def ask(self, question: str) -> Said:
        """The peer's answer. Raises PeerFailed."""
        reply = self._exchange({"ask": question})
        return Said(str(reply.get("answer", "")), tuple(map(str, reply.get("context", []))))

    def _exchange(self, line: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._reply()

    def _reply(self) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self._awaited(time.monotonic()))
        if "error" in reply:
            raise PeerFailed(reply["error"])
        return reply

    def _awaited(self, began: float) -> str:
        while True:
            try:
                line = self._replies.get(timeout=0.5)
            except queue.Empty:
                silent = time.monotonic() - max(began, self._busy())
                if silent > self._patience:
                    raise PeerFailed(
                        f"It said nothing for {silent:.0f} s (see {self._log}).", gone=True
                    ) from None
                continue
            if line:
                return line
            raise self._ended()

    def _read(self) -> None:
        assert self._process.stdout is not None
        # Closed by who reads it: closed by another thread, it can't be read to its end.
        with self._process.stdout as said:
            for line in said:
                self._replies.put(line)
        self._replies.put("")

    def _ended(self) -> PeerFailed:
        code = self._process.wait()
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it said nothing"
        return PeerFailed(f"It ended with status {code}: {last} (see {self._log}).", gone=True)
