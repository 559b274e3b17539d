"""A peer's adapter as a process, and what is exchanged with it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Self

from fabula.errors import FabulaError

SERVE = Path(__file__).with_name("serve.py")
PATIENCE = 900.0
"""Seconds without a reply and without a call to the model until a peer is given up."""
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "HTTPS_PROXY", "SSL_CERT_FILE")
"""Of the environment a peer sees only these: no settings and no keys of ours."""


class PeerFailed(FabulaError):
    """A peer could not do what it was asked; `gone`: it does nothing more."""

    def __init__(self, reason: str, *, gone: bool = False) -> None:
        super().__init__(reason)
        self.gone = gone


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
        self._pipe, theirs = Pipe()
        with theirs, self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [python, "-P", SERVE, adapter, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={name: os.environ[name] for name in KEPT if name in os.environ}
                | {"PYTHONUTF8": "1", **environment},
                pass_fds=[theirs.fileno()],
            )

    def __enter__(self) -> Self:
        """Wait until the peer is loaded. Raises PeerFailed."""
        try:
            self._receive()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()

    def index(self, texts: Sequence[str]) -> None:
        """Make the peer's index. Raises PeerFailed."""
        self._exchange({"index": list(texts)})

    def ask(self, question: str) -> tuple[str, list[str]]:
        """Return the peer's answer, and the passages that it says it was made from.

        Raises PeerFailed.
        """
        reply = self._exchange({"ask": question})
        return reply["answer"], reply["context"]

    def _exchange(self, message: Mapping[str, Any]) -> dict[str, Any]:
        try:
            self._pipe.send_bytes(json.dumps(message).encode())
        except OSError:
            raise self._ended() from None
        return self._receive()

    def _receive(self) -> dict[str, Any]:
        began = time.monotonic()
        while not self._pipe.poll(0.5):
            silent = time.monotonic() - max(began, self._busy())
            if silent > self._patience:
                why = f"It said nothing for {silent:.0f} s (see {self._log})."
                raise PeerFailed(why, gone=True)
        try:
            reply: dict[str, Any] = json.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            raise self._ended() from None
        if "error" in reply:
            raise PeerFailed(reply["error"])
        return reply

    def _ended(self) -> PeerFailed:
        code = self._process.wait()
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it said nothing"
        return PeerFailed(f"It ended with status {code}: {last} (see {self._log}).", gone=True)
