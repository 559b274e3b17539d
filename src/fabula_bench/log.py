"""Store results: one line for each system and question, written as soon as it exists."""

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

from fabula.errors import FabulaError, first_problem
from fabula_bench.model import Result

RUN, RESULTS = "run.json", "results.jsonl"
"""The files of a run: its description, and its results."""
LOCK = ".lock"

_RESULT = TypeAdapter(Result)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Prevent other processes from writing into the folder of a run, which is created if needed.

    Raises:
        FabulaError: Another process is writing into it. A process that was killed holds no lock.
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
    """The lines of `results.jsonl` in a folder; safe for threads, not for processes.

    A last line that a kill left unfinished is dropped, and its question is asked again. Another
    line that can't be read raises FabulaError.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / RESULTS
        self._writing = threading.Lock()
        self.results = read_results(self._file)
        if self._file.is_file():
            os.truncate(self._file, self._file.read_bytes().rfind(b"\n") + 1)

    def append(self, result: Result) -> None:
        """Write a result; it is on the disk before this returns."""
        with self._writing:
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(_line(result))
                file.flush()
                os.fsync(file.fileno())
            self.results.append(result)

    def of(self, system: str) -> list[Result]:
        """Return the results of one system in the order they were made."""
        with self._writing:
            return [result for result in self.results if result.system == system]

    def sort(self, systems: Sequence[str], questions: Sequence[str]) -> None:
        """Sort the lines by system and question: threads finish in a different order each time."""
        first = {name: place for place, name in enumerate(systems)}
        then = {id: place for place, id in enumerate(questions)}

        def place(result: Result) -> tuple[int, int, str]:
            question = result.question
            return first[result.system], then.get(question, len(then)), question

        with self._writing:
            self.results.sort(key=place)
            replace_file(self._file, "".join(map(_line, self.results)))


def _line(result: Result) -> str:
    return json.dumps(asdict(result), ensure_ascii=False) + "\n"


def read_results(file: Path) -> list[Result]:
    """Read the whole lines of `results.jsonl`; a last one that a kill cut short is left out.

    Raises:
        FabulaError: The file can't be read, or one of its lines isn't a result.
    """
    try:
        *lines, _ = file.read_text(encoding="utf-8").split("\n") if file.exists() else [""]
    except (OSError, UnicodeDecodeError) as error:
        raise FabulaError(f"{file} can't be read: {error}.") from error
    results = []
    for number, line in enumerate(lines, 1):
        try:
            result = _RESULT.validate_json(line)
        except ValidationError as error:
            raise FabulaError(
                f"{file}, line {number}, is not a result ({first_problem(error)}): remove it, or "
                "name another folder with --out."
            ) from error
        results.append(replace(result, scores=dict(result.scores)))
    return results


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8", newline="\n")
    new.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file, or None if there is no file. May raise FabulaError."""
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FabulaError(f"{path} can't be read: {error}.") from error
    if not isinstance(value, Mapping):
        raise FabulaError(f"{path} is not a file of a run: it must contain one JSON object.")
    return dict(value)
