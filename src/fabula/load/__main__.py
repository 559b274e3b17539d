"""What runs in the box: reads the files that come in by standard input, one after the other.

A request is a line of JSON and the file's bytes. The answer is a line of JSON with an `error`, or
with the facts and the number of blocks, and then a line a block. It ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from typing import BinaryIO

from fabula.errors import LoadError
from fabula.load.box import OUT_OF_MEMORY
from fabula.load.readers import READERS


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Reads files until there is no more input."""
    while line := requests.readline():
        request = json.loads(line)
        _confine(request["memory"], request["seconds"])
        try:
            _read(request, requests.read(request["size"]), answers)
            answers.flush()
        except MemoryError:
            os._exit(OUT_OF_MEMORY)


def _read(request: dict[str, str | int], data: bytes, answers: BinaryIO) -> None:
    name = str(request["name"])
    try:
        draft = READERS[str(request["suffix"])](data, name, int(request["limit"]))
    except LoadError as error:
        _write(answers, {"error": str(error)})
        return
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a damaged file brings about is said
        why = " ".join(f"{type(error).__name__}: {error}"[:200].split())
        _write(answers, {"error": f"{name} is damaged, and can't be read ({why})."})
        return
    _write(
        answers,
        {
            "title": draft.title,
            "author": draft.author,
            "language": draft.language,
            "blocks": len(draft.blocks),
        },
    )
    for block in draft.blocks:
        _write(answers, [block.text, block.heading])


def _write(answers: BinaryIO, value: object) -> None:
    said = json.dumps(value, ensure_ascii=False)
    answers.write(said.encode("utf-8", "replace") + b"\n")


def _confine(memory: int, seconds: int) -> None:
    """Limits this process, where the system can: so much memory, and so much more computing."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, until)):
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))


if __name__ == "__main__":
    # A parser makes many objects and hardly a cycle: to look for them took half of its time.
    gc.set_threshold(100_000)
    # Ctrl-C goes to the whole group: who asked decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a library prints is no answer.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, replies)
