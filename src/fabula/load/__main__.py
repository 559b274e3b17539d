"""The process in the sandbox: it reads the files that arrive on standard input, one by one.

A request is a line of JSON, followed by the file's bytes. The answer is a line of JSON with an
`error`, or with the metadata and the number of blocks, followed by one line for each block. The
process ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from typing import BinaryIO

from fabula.errors import LoadError
from fabula.load.readers import reader
from fabula.load.sandbox import OUT_OF_MEMORY, confine, take_output


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read files until the input ends."""
    while line := requests.readline():
        request = json.loads(line)
        confine(request["memory"], request["seconds"])
        try:
            _read(request, requests.read(request["size"]), answers)
            answers.flush()
        except MemoryError:
            os._exit(OUT_OF_MEMORY)


def _read(request: dict[str, str | int], data: bytes, answers: BinaryIO) -> None:
    name = str(request["name"])
    try:
        draft = reader(str(request["suffix"]))(data, name, int(request["limit"]))
    except LoadError as error:
        _write(answers, {"error": str(error)})
        return
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  damaged files cause any error
        why = " ".join(f"{type(error).__name__}: {error}"[:200].split())
        _write(answers, {"error": f"{name} is damaged, and can't be read ({why})."})
        return
    _write(
        answers,
        {
            "title": draft.title,
            "author": draft.author,
            "language": draft.language,
            "published": draft.published,
            "edition": draft.edition,
            "left_out": dict(draft.left_out),
            "warnings": list(draft.warnings),
            "metadata": dict(draft.metadata),
            "blocks": len(draft.blocks),
        },
    )
    for block in draft.blocks:
        _write(answers, [block.text, block.heading, block.level])


def _write(answers: BinaryIO, value: object) -> None:
    line = json.dumps(value, ensure_ascii=False)
    answers.write(line.encode("utf-8", "replace") + b"\n")


if __name__ == "__main__":
    # Parsers make many objects and hardly any cycles; looking for cycles took half of the time.
    gc.set_threshold(100_000)
    replies = take_output()
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, replies)
