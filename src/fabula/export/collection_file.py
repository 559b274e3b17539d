"""A file with all that a collection holds, in lines of JSON; `fabula import` takes it in.

The first line names the collection and the version of the schema, then come the nodes, then the
relationships, and the last line has their numbers and the digest of all lines before it. Vectors
are the bytes of their numbers in base64, and points in time are {"time": "..."}, as JSON has
neither.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.errors import LoadError, StoreError
from fabula.export.files import Written, replace_file
from fabula.store.migration import VERSION

ROWS_PER_SLICE = 250
BYTES_PER_SLICE = 4_000_000
"""How much of a file is in memory at a time, and how much one transaction writes."""
Row = dict[str, Any]
VALUES = {
    "collection": {"schema", "name", "properties"},
    "node": {"labels", "properties", "vector"},
    "relationship": {"label", "start", "end", "properties"},
    "end": {"nodes", "relationships", "sha256"},
}
"""The values of a line, by its type."""
CONVERSIONS: Mapping[int, Callable[[str, Row], Row]] = {}
"""What makes the rows of each earlier version of the schema those of the version after it, from
their kind ("collection", "node" or "relationship") and values, by the earlier version."""


@dataclass(frozen=True, slots=True)
class CollectionFile:
    """What a file has: the collection, the properties of its node, and how many rows."""

    collection: str
    properties: Mapping[str, Any]
    nodes: int
    relationships: int


def write_collection_file(file: Path, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Written:
    """Write a collection to a file; an existing file is replaced only once this one is complete.

    Args:
        file: The file.
        rows: What `fabula.store.whole_collection` reads of the collection.

    Raises:
        FabulaError: The file can't be written.
    """
    counts = {"node": 0, "relationship": 0}
    digest = hashlib.sha256()
    with replace_file(file) as stream:
        for kind, row in rows:
            line = format_row(kind, {"schema": VERSION, **row} if kind == "collection" else row)
            digest.update(line.encode())
            stream.write(line)
            if kind in counts:
                counts[kind] += 1
        nodes, relationships = counts.values()
        end = {"nodes": nodes, "relationships": relationships, "sha256": digest.hexdigest()}
        stream.write(format_row("end", end))
    return Written(nodes, relationships)


def check_collection_file(file: Path) -> CollectionFile:
    """Read a file to its end, and return what it has.

    Raises:
        LoadError: The file can't be read, is no export of a whole collection, was cut or changed,
            or is of another version of the schema.
    """
    kinds = {"node": 0, "relationship": 0}
    head: Row = {}
    for kind, row in _rows(file):
        if kind == "collection":
            head = row
        else:
            kinds[kind] += 1
    return CollectionFile(head["name"], head["properties"], *kinds.values())


def read_slices(file: Path) -> Iterator[tuple[str, list[Row]]]:
    """Yield the nodes, then the relationships of a file, some hundred together.

    Raises:
        LoadError: As `check_collection_file`.
    """
    kind, size = "", 0
    rows: list[Row] = []
    for next_kind, row in _rows(file):
        if rows and (next_kind != kind or len(rows) >= ROWS_PER_SLICE or size >= BYTES_PER_SLICE):
            yield kind, rows
            rows, size = [], 0
        if next_kind == "collection":
            continue
        kind = next_kind
        rows.append(row)
        size += len(row["properties"].get("content", ""))
    if rows:
        yield kind, rows


def _rows(file: Path) -> Iterator[tuple[str, Row]]:
    """Yield the first line and all rows as this version has them; then check the last line."""
    version, digest, counts = VERSION, hashlib.sha256(), {"node": 0, "relationship": 0}
    end: Row = {}
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream):
                kind, row = parse_row(line)
                if end or (number == 0) != (kind == "collection"):
                    raise ValueError("a line is not where it should be")
                if kind == "collection":
                    version = row["schema"]
                    _refuse_version(file, version)
                if kind == "end":
                    end = row
                    continue
                digest.update(line)
                if kind in counts:
                    counts[kind] += 1
                for earlier in range(version, VERSION):
                    row = CONVERSIONS[earlier](kind, row)
                yield kind, row
    except OSError as error:
        raise LoadError(f"{file} can't be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LoadError(
            f"{file} was cut or changed, or is no export of a whole collection ({error}): nothing "
            "was imported."
        ) from error
    nodes, relationships = counts.values()
    whole = {"nodes": nodes, "relationships": relationships, "sha256": digest.hexdigest()}
    if end != whole:
        raise LoadError(
            f"{file} was cut or changed: its last line does not fit the lines before it. Nothing "
            "was imported; export the collection again."
        )


def _refuse_version(file: Path, version: int) -> None:
    if all(earlier in CONVERSIONS for earlier in range(version, VERSION)) and version <= VERSION:
        return
    age = "a newer" if version > VERSION else "an older"
    raise LoadError(
        f"{file} was written by {age} Fabula (its schema is {version}, and this one's is "
        f"{VERSION}), and can't be imported by this one."
    )


def format_row(kind: str, row: Mapping[str, Any]) -> str:
    """Return the line of a row."""
    values = {"type": kind, **row}
    # Sorted, so that equal collections have equal files.
    return json.dumps(values, ensure_ascii=False, sort_keys=True, default=_encode) + "\n"


def parse_row(line: bytes) -> tuple[str, Row]:
    """Return the kind and the row of a line. Raises ValueError for what is no such line."""
    row = json.loads(line)
    kind = row.pop("type")
    if row.keys() != VALUES.get(kind):
        raise ValueError(f"{kind!r} is no line of such a file, or not all of one")
    if vector := row.get("vector"):
        row["vector"] = np.frombuffer(base64.b64decode(vector), "<f4")
    return kind, row


def _encode(value: Any) -> Any:
    """Return a vector as JSON has it."""
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.astype("<f4").tobytes()).decode()
    raise StoreError(f"A value of the type {type(value).__name__} can't be written to a file.")
