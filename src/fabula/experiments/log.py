"""The result log: one line a system and question, kept the moment it is there."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from fabula.errors import FabulaError
from fabula.experiments.model import Result

RUN, RESULTS = "run.json", "results.jsonl"
"""What a run leaves in its folder: what it says of itself, and a line a result."""
LOCK = ".lock"
PEER = "peer:"
"""How the names of other systems begin, whose lines others put there."""

_RESULT = TypeAdapter(Result)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keeps every other process from writing into a run's folder meanwhile; all may read it.

    The folder is made where there is none. Raises FabulaError where another process holds it; one
    that was killed holds nothing.
    """
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise FabulaError(
            f"Another run is writing into {folder}: wait until it has ended, or name another "
            "folder with --out."
        ) from error
    except OSError as error:
        raise FabulaError(f"{folder} can't be written to: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


class Log:
    """The lines of a folder's `results.jsonl`; safe to share between threads, not processes.

    A line that a kill left unfinished is dropped: its question is asked again. Raises FabulaError
    for a line in the middle that can't be read.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / RESULTS
        self._writing = threading.Lock()
        self.results = self._whole()

    def append(self, result: Result) -> None:
        """Keeps a result, whole and on the disk before this returns."""
        line = json.dumps(asdict(result), ensure_ascii=False)
        with self._writing:
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"{line}\n")
                file.flush()
                os.fsync(file.fileno())
            self.results.append(result)

    def of(self, system: str) -> list[Result]:
        """The results of one system, in the order they were made."""
        with self._writing:
            return [result for result in self.results if result.system == system]

    def sort(self, systems: Sequence[str], questions: Sequence[str]) -> None:
        """Puts the lines in the order of systems and questions; those of others come last.

        They were written as they came, and threads are done in another order each time.
        """
        first = {name: place for place, name in enumerate(systems)}
        then = {id: place for place, id in enumerate(questions)}

        def place(result: Result) -> tuple[int, str, int, str]:
            system_place = first.get(result.system, len(first))
            name = "" if result.system in first else result.system
            return system_place, name, then.get(result.question, len(then)), result.question

        with self._writing:
            self.results.sort(key=place)
            lines = [json.dumps(asdict(result), ensure_ascii=False) for result in self.results]
            replace_file(self._file, "".join(f"{line}\n" for line in lines))

    def _whole(self) -> list[Result]:
        """The results there are; what is torn at the end is cut off the file."""
        if not self._file.is_file():
            return []
        data = self._file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self._file, len(whole))
        lines = whole.decode("utf-8").split("\n")[:-1]
        return [self._read(number, line) for number, line in enumerate(lines, 1)]

    def _read(self, number: int, line: str) -> Result:
        try:
            result = _RESULT.validate_json(line)
        except ValidationError as error:
            raise FabulaError(
                f"{self._file}, line {number}, is no result: take it out, or name another folder "
                "with --out."
            ) from error
        return replace(result, scores=dict(result.scores))


def replace_file(path: Path, text: str) -> None:
    """Writes a file so that a kill leaves the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8", newline="\n")
    new.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """A file of one JSON object, None where there is none. Raises FabulaError."""
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FabulaError(f"{path} can't be read: {error}.") from error
    if not isinstance(value, Mapping):
        raise FabulaError(f"{path} is no run's: it should hold one JSON object.")
    return dict(value)
