"""Readers in a box: a file is read in a process of its own, with limits, that can be killed.

What a file makes of its reader (no end, all memory, a crash of a library) ends that process, and
is a LoadError here. A process serves files in turn; one that was killed, or has read a large
file, is replaced.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft


@dataclass(frozen=True, slots=True)
class Budget:
    """What one file may cost, however large it is."""

    seconds: int = 55
    memory: int = 1_000_000_000
    blocks: int = 1_000_000
    text_per_byte: int = 20
    """Characters. A packed book has four to six, and what has more says one thing many times."""
    any_text: int = 1_000_000
    """Characters that the smallest file may have."""

    def most_text(self, size: int, limit: int) -> int:
        """The characters that a file of `size` bytes may have, where `limit` is the largest's."""
        return min(limit, max(self.any_text, self.text_per_byte * size))


USUAL = Budget()
OUT_OF_MEMORY = 3
"""The exit status of a process that had not enough."""
_LARGE = 1_000_000
"""A process that has read more bytes than this ends: it would keep the memory."""
_AT_ONCE = min(4, os.cpu_count() or 1)
_ENVIRONMENT = (
    *("HOME", "LANG", "LC_ALL", "PATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
"""What a reader may know of the environment: no keys."""


def read(
    data: bytes, suffix: str, name: str, limit: int, unpacked: int, budget: Budget = USUAL
) -> Draft:
    """The draft in a file's content, read within `budget`; LoadError, naming it, if it can't be.

    `limit` is the size of the largest file, and `unpacked` that of the largest after unpacking.
    """
    request = {
        "suffix": suffix,
        "name": name,
        "size": len(data),
        "limit": unpacked,
        "memory": budget.memory,
        "seconds": budget.seconds,
    }
    with _POOL.process() as process:
        return process.read(request, data, budget, budget.most_text(len(data), limit))


class _Process:
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        # It finds Fabula and its libraries where this process did, and nothing in the folder
        # that somebody happens to be in.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-m", "fabula.load"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise LoadError(
                f"No file can be read: a process for it can't be started: {error}."
            ) from error

    @property
    def alive(self) -> bool:
        """Whether it can read another file."""
        return self._popen.poll() is None

    def kill(self) -> None:
        """Ends it, whatever it is at."""
        self._popen.kill()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            # Closing writes what is left to write, and nobody is there to read it.
            with suppress(OSError):
                _open(stream).close()

    def read(
        self, request: Mapping[str, Any], data: bytes, budget: Budget, most_text: int
    ) -> Draft:
        """The draft. LoadError if the file is no document, or ends the process."""
        name = request["name"]
        late = threading.Event()

        def end() -> None:
            late.set()
            self._popen.kill()

        deadline = threading.Timer(budget.seconds, end)
        deadline.daemon = True
        deadline.start()
        try:
            answer, blocks = self._exchange(request, data, budget, most_text)
        except (OSError, EOFError) as error:
            self.kill()
            why = _why_it_ended(self._popen.returncode, late.is_set(), budget)
            raise LoadError(f"{name} {why}") from error
        except BaseException:
            self.kill()
            raise
        finally:
            deadline.cancel()
        if late.is_set() or len(data) > _LARGE:
            self.kill()
        if "error" in answer:
            raise LoadError(answer["error"])
        return Draft(blocks, answer["title"], answer["author"], answer["language"])

    def _exchange(
        self, request: Mapping[str, Any], data: bytes, budget: Budget, most_text: int
    ) -> tuple[Mapping[str, Any], tuple[Block, ...]]:
        """What the process answers, and the blocks; EOFError if it ended before."""
        name = request["name"]
        asking, answering = _open(self._popen.stdin), _open(self._popen.stdout)
        asking.write(json.dumps(request).encode() + b"\n")
        asking.write(data)
        asking.flush()
        too_much = LoadError(
            f"{name} has over {most_text:,} characters in {len(data):,} bytes: no book is written "
            "so. If it is one, save it as plain text."
        )
        answer = _line(answering, most_text)
        count = answer.get("blocks", 0)
        if count > budget.blocks:
            raise LoadError(
                f"{name} has {count:,} paragraphs, lines of lists and cells of tables, and "
                f"{budget.blocks:,} is the most: split it."
            )
        blocks: list[Block] = []
        for _ in range(count):
            block = Block(*_line(answering, most_text))
            most_text -= len(block.text)
            if most_text < 0:
                raise too_much
            blocks.append(block)
        return answer, tuple(blocks)


def _line(answers: IO[bytes], most_text: int) -> Any:
    """The next line of an answer, no longer than what so many characters may take."""
    line = answers.readline(8 * most_text + 10_000)
    if not line.endswith(b"\n"):
        raise EOFError
    return json.loads(line)


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise OSError("the process has no pipes")
    return stream


def _why_it_ended(status: int, late: bool, budget: Budget) -> str:
    if late or (hasattr(signal, "SIGXCPU") and status == -signal.SIGXCPU):
        return (
            f"takes more than {budget.seconds} seconds to read: it is too long, or tangled. "
            "Split it, or save it as plain text."
        )
    if status == OUT_OF_MEMORY:
        return (
            f"takes more than {budget.memory / 1e9:.1f} GB of memory to read: it is too long, or "
            "tangled. Split it, or save it as plain text."
        )
    return f"broke its reader (status {status}): it is damaged. Save it anew, or as plain text."


class _Pool:
    """Processes that wait for the next file, and those that read one."""

    def __init__(self) -> None:
        self._ending = False
        self._begin()

    def _begin(self) -> None:
        self._places = threading.Semaphore(_AT_ONCE)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()

    @contextmanager
    def process(self) -> Iterator[_Process]:
        """One that nobody else has; it waits for the next file afterwards, if it is still there."""
        with self._places:
            process = self._take()
            try:
                yield process
            finally:
                with self._lock:
                    if process.alive:
                        self._idle.append(process)
                    else:
                        self._all.discard(process)

    def _take(self) -> _Process:
        with self._lock:
            if self._ending:
                raise LoadError("No file is read any more: the program is ending.")
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.kill()
                self._all.discard(process)
            process = _Process()
            self._all.add(process)
            return process

    def close(self) -> None:
        """Ends them all, and lets none begin."""
        with self._lock:
            self._ending = True
            there = list(self._all)
        for process in there:
            process.kill()

    def forget(self) -> None:
        """In a process that was forked: the others belong to the one that it was forked from."""
        self._others = self._all
        self._begin()


_POOL = _Pool()
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)
