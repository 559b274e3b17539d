"""The sandbox for readers: each file is read in a separate process with limits.

A file may make its reader run forever, use all memory or crash a library. Then the process ends,
and the file is a LoadError here. A process reads one file after the other. One that was killed, or
that has read a large file, is replaced.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.models.stop import Stop


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of reading one file."""

    seconds: int = 55
    """Of processor time."""
    memory: int = 1_000_000_000
    blocks: int = 1_000_000
    text_per_byte: int = 20
    """The most characters for each byte of the file. A packed book has four to six; a file with
    many more repeats the same text."""
    min_text_limit: int = 1_000_000
    """The most characters of even the smallest file."""

    def max_text(self, size: int, limit: int) -> int:
        """Return the most characters of a file of `size` bytes; `limit` is that of the largest."""
        return min(limit, max(self.min_text_limit, self.text_per_byte * size))


DEFAULT_LIMITS = ReadLimits()
CLOSED = "Files can't be read any more, as the program is ending."
Report = Callable[[int, int], None]
"""Takes how many pieces of a file's work are done, and of how many."""
REPORT_SECONDS = 0.5
"""How often a process in the sandbox reports."""
_BUSY = 10
"""How much longer than its processor time a process may take: that a machine is busy, or sleeps, is
no reason to refuse a book."""
OUT_OF_MEMORY = 3
"""The exit status of a process that ran out of memory."""
_LARGE_FILE_BYTES = 1_000_000
"""A process that has read a larger file is ended, as it would not return the memory."""
_MAX_PROCESSES = min(4, os.cpu_count() or 1)
_ENVIRONMENT = (
    *("HOME", "LANG", "LC_ALL", "PATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
"""The environment variables that readers get; none has a key in it."""


def read(
    data: bytes,
    suffix: str,
    name: str,
    limit: int,
    unpacked: int,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Draft:
    """Read a file's content in the sandbox.

    Args:
        data: The content.
        suffix: The suffix that selects the reader.
        name: What messages call the file.
        limit: The size of the largest file, in bytes.
        unpacked: The same after unpacking.
        limits: The limits of time, memory and text.

    Raises:
        LoadError: The file can't be read within the limits.
    """
    request = {
        "suffix": suffix,
        "name": name,
        "size": len(data),
        "limit": unpacked,
        "memory": limits.memory,
        "seconds": limits.seconds,
    }
    with _POOL.process() as process:
        return process.read(request, data, limits, limits.max_text(len(data), limit))


def ignore(done: int, known: int) -> None:
    """Take note of nothing: a `Report` for those who need none."""


def run_once(
    module: str,
    request: bytes,
    name: str,
    limits: ReadLimits,
    report: Report = ignore,
    stop: Stop | None = None,
) -> bytes:
    """Run a module in a process that gets one request and ends, and return its answer.

    It waits for its turn among the processes that read files.

    Args:
        module: The module, which calls `serve_once` and `confine`.
        request: What it reads from standard input.
        name: What messages call the file that it reads.
        limits: The limits of time and memory.
        report: Receives its progress.
        stop: Ends the process once it is set.

    Raises:
        LoadError: It takes more than the limits, or ends by itself.
        Stopped: `stop` was set.
    """
    stop = stop or Stop()
    answer = b""
    with _POOL.slot():
        stop.check()
        process = _start(module)
        requests, answers = _pipe(process.stdin), _pipe(process.stdout)
        try:
            with _deadline(process, limits) as is_late, stop.calling(process.kill):
                # A process that ends before it has read everything breaks the pipe; its exit
                # status says why.
                with contextlib.suppress(OSError):
                    requests.write(request)
                    requests.close()
                for line in answers:
                    if line.endswith(b"\n"):
                        report(*json.loads(line))
                    else:
                        answer = line
                process.wait()
        finally:
            _end(process)
    stop.check()
    if is_late.is_set() or process.returncode:
        raise LoadError(f"{name} {_explain_end(process.returncode, is_late.is_set(), limits)}")
    return answer


def serve_once(answer: Callable[[bytes, Report], bytes]) -> None:
    """Answer one request, in a process that `run_once` has started.

    It writes a line for each report. The answer, which is no line, ends the output.
    """
    replies = take_output()
    reported_at = 0.0

    def report(done: int, known: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= REPORT_SECONDS:
            reported_at = time.monotonic()
            replies.write(b"[%d, %d]\n" % (done, known))
            replies.flush()

    try:
        replies.write(answer(sys.stdin.buffer.read(), report))
        replies.flush()
    except (MemoryError, SystemError):
        # CPython loses some errors of memory, as while it compiles a pattern.
        os._exit(OUT_OF_MEMORY)


def take_output() -> BinaryIO:
    """Return the standard output of a process in the sandbox, for its answers alone."""
    # Ctrl-C goes to the whole process group; the parent process decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Output that a library prints must not mix with the answers.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return replies


def confine(memory: int, seconds: int) -> None:
    """Limit the memory and the further CPU time of this process, if the system can."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = int(used.ru_utime + used.ru_stime) + seconds + 1
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, cpu_seconds)):
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


def _start(module: str) -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    # It imports Fabula and its libraries from the same places as this process, and nothing from
    # the current folder.
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise LoadError(
            f"Files can't be read, as a process for it can't be started: {error}."
        ) from error


@contextmanager
def _deadline(process: subprocess.Popen[bytes], limits: ReadLimits) -> Iterator[threading.Event]:
    """End a process if the block takes longer than it may; the event says whether it has."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(_BUSY * limits.seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it is doing."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        # Closing flushes the pipe, which fails as nobody reads it any more.
        with contextlib.suppress(OSError):
            _pipe(stream).close()


class _Process:
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        self._popen = _start("fabula.load")

    @property
    def alive(self) -> bool:
        """Whether the process can read another file."""
        return self._popen.poll() is None

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        _end(self._popen)

    def read(
        self, request: Mapping[str, Any], data: bytes, limits: ReadLimits, max_text: int
    ) -> Draft:
        """Return the draft. Raises LoadError if the file is not a document, or ends the process."""
        name = request["name"]
        try:
            with _deadline(self._popen, limits) as is_late:
                answer, blocks = self._exchange(request, data, limits, max_text)
        except (OSError, EOFError) as error:
            self.kill()
            why = _explain_end(self._popen.returncode, is_late.is_set(), limits)
            raise LoadError(f"{name} {why}") from error
        except BaseException:
            self.kill()
            raise
        if is_late.is_set() or len(data) > _LARGE_FILE_BYTES:
            self.kill()
        if "error" in answer:
            raise LoadError(answer["error"])
        return Draft(
            blocks,
            title=answer["title"],
            author=answer["author"],
            language=answer["language"],
            published=answer["published"],
            edition=answer["edition"],
            left_out=answer["left_out"],
            warnings=tuple(answer["warnings"]),
            metadata=answer["metadata"],
        )

    def _exchange(
        self, request: Mapping[str, Any], data: bytes, limits: ReadLimits, max_text: int
    ) -> tuple[Mapping[str, Any], tuple[Block, ...]]:
        """The answer of the process, and the blocks. Raises EOFError if the process ended."""
        name = request["name"]
        requests, answers = _pipe(self._popen.stdin), _pipe(self._popen.stdout)
        requests.write(json.dumps(request).encode() + b"\n")
        requests.write(data)
        requests.flush()
        too_much = LoadError(
            f"{name} has over {max_text:,} characters in {len(data):,} bytes, which no real "
            "book has. If it is one, save it as plain text."
        )
        answer = _read_line(answers, max_text)
        count = answer.get("blocks", 0)
        if count > limits.blocks:
            raise LoadError(
                f"{name} has {count:,} paragraphs, lines of lists and cells of tables, and "
                f"at most {limits.blocks:,} are allowed: split it."
            )
        blocks: list[Block] = []
        for _ in range(count):
            block = Block(*_read_line(answers, max_text))
            max_text -= len(block.text)
            if max_text < 0:
                raise too_much
            blocks.append(block)
        return answer, tuple(blocks)


def _read_line(answers: IO[bytes], max_text: int) -> Any:
    """The next line of an answer, no longer than a line of `max_text` characters can be."""
    line = answers.readline(8 * max_text + 10_000)
    if not line.endswith(b"\n"):
        raise EOFError
    return json.loads(line)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise OSError("the process has no pipes")
    return stream


def _explain_end(status: int, late: bool, limits: ReadLimits) -> str:
    if late or (hasattr(signal, "SIGXCPU") and status == -signal.SIGXCPU):
        return (
            f"takes more than {limits.seconds} seconds to read: it is too long or too complex. "
            "Split it, or save it as plain text."
        )
    if status == OUT_OF_MEMORY:
        return (
            f"takes more than {limits.memory / 1e9:.1f} GB of memory to read: it is too long or "
            "too complex. Split it, or save it as plain text."
        )
    return f"crashed its reader (status {status}): it is damaged. Save it again, or as plain text."


class _Pool:
    """The processes of the sandbox, idle and busy ones."""

    def __init__(self) -> None:
        self._is_closed = False
        self._reset()

    def _reset(self) -> None:
        self._slots = threading.Semaphore(_MAX_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait until one more process may run."""
        with self._slots:
            if self._is_closed:
                raise LoadError(CLOSED)
            yield

    @contextmanager
    def process(self) -> Iterator[_Process]:
        """Wait for a process and use it alone; if it is alive afterwards, it becomes idle."""
        with self._slots:
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
            if self._is_closed:
                raise LoadError(CLOSED)
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
        """End all processes, and start no more."""
        with self._lock:
            self._is_closed = True
            processes = list(self._all)
        for process in processes:
            process.kill()

    def reset_after_fork(self) -> None:
        """Begin without processes after a fork: the present ones belong to the parent process."""
        self._parents_processes = self._all
        self._reset()


_POOL = _Pool()
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.reset_after_fork)
