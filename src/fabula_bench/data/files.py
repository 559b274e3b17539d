"""The files of a data set: read, hashed, and checked line by line against their format."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabula.errors import DataError, first_problem
from fabula.load import printable

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Release:
    """A data set's name, and a sentence that says where its files come from."""

    name: str
    origin: str


@dataclass(frozen=True, slots=True)
class Files:
    """The files in a data set's folder; `sha256` grows with every file read, by its name here.

    Every method raises DataError: for a file that is missing, naming it, where it belongs and
    where it comes from; for a line that isn't in the format, naming the file and the line.
    """

    folder: Path
    release: Release
    sha256: dict[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether the file is there."""
        return (self.folder / name).is_file()

    def matching(self, pattern: str) -> list[str]:
        """Return the names of the files that match, sorted."""
        return sorted(
            path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern)
        )

    def content(self, name: str) -> bytes:
        """Return a file's bytes, and note their hash."""
        path = self.folder / name
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataError(
                f"{self.release.name}: {printable(path)} is missing. {self.release.origin}"
            ) from error
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DataError(f"{printable(path)} can't be read: {reason}.") from error
        self.sha256[name] = hashlib.sha256(data).hexdigest()
        return data

    def lines(self, name: str, shape: type[Shape]) -> Iterator[tuple[str, Shape]]:
        """Yield the objects of a file of JSON lines, each with its place; skip empty lines."""
        for number, line in enumerate(self.text(name).split("\n"), 1):
            if line.strip():
                place = self.place(name, f"line {number}")
                yield place, self._validate(_json(line, place), shape, place)

    def array(
        self, name: str, shape: type[Shape], *, allow_one: bool = False
    ) -> Iterator[tuple[str, Shape]]:
        """Yield the objects of a file that is one JSON array, each with its place.

        With `allow_one` it may be one object alone.
        """
        whole = self.place(name, "")
        items = _json(self.text(name), whole)
        if allow_one and isinstance(items, dict):
            items = [items]
        if not isinstance(items, list):
            raise DataError(f"{whole}: the file should be a JSON array of objects.")
        for number, item in enumerate(items, 1):
            place = self.place(name, f"item {number}")
            yield place, self._validate(item, shape, place)

    def rows(self, name: str, shape: type[Shape]) -> Iterator[tuple[str, Shape]]:
        """Yield the rows of a CSV file with a header line, each with its place."""
        reader = csv.DictReader(io.StringIO(self.text(name), newline=""))
        try:
            for row in reader:
                place = self.place(name, f"line {reader.line_num}")
                yield place, self._validate(row, shape, place)
        except csv.Error as error:
            place = self.place(name, f"line {reader.line_num}")
            raise DataError(f"{place}: this is not CSV: {error}.") from error

    def text(self, name: str) -> str:
        """Return a file's text."""
        try:
            return self.content(name).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            place = self.place(name, f"line {line}")
            raise DataError(f"{place}: this is not UTF-8, as the data set is.") from error

    def _validate(self, item: object, shape: type[Shape], place: str) -> Shape:
        try:
            return shape.model_validate(item)
        except ValidationError as error:
            problem = first_problem(error)
            raise DataError(f"{place} is not as in {self.release.name}: {problem}.") from error

    def place(self, name: str, where: str) -> str:
        """Return the words for a place in a file."""
        path = printable(self.folder / name)
        return f"{path}, {where}" if where else path


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise DataError(f"{place}: this JSON is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{place}: this is not JSON: {error}.") from error
