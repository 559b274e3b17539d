"""Numbers that others published, to be shown beside a run's and never among them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("published.toml")


@dataclass(frozen=True, slots=True)
class Column:
    """A metric, of all questions or of those of one kind."""

    metric: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A table for suites as its source has it: values by system, in per cent, one a column.

    With a `set` it is shown only beside a run with this data set, and with the same questions:
    `hard` ones, or all.
    """

    suites: tuple[str, ...]
    source: str
    columns: tuple[Column, ...]
    values: Mapping[str, tuple[float, ...]]
    set: str = ""
    hard: bool = False


def read_published(suite: str, data_set: str = "", *, hard: bool = False) -> list[Published]:
    """Return the tables that were published for a suite and a data set; for most, none."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))["tables"]
    return [
        table
        for table in TypeAdapter(tuple[Published, ...]).validate_python(tables)
        if suite in table.suites and (not table.set or (table.set, table.hard) == (data_set, hard))
    ]
