"""Metadata of one's own: named values of a document, and how they are typed, read and kept.

A value is a text, a number, a date or a list of texts. A date is a text as 1850-03-01, so that
every interface, JSON and Neo4j have it in the same form. In Neo4j a value is a property of the
document's node, whose name is that of the field after `meta_`.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePath
from typing import Any

from fabula.errors import BadValue
from fabula.text.folding import fold_name
from fabula.text.names import has_control, quote_name

Value = str | int | float | list[str]
"""A text, a number, a date as 1850-03-01, or a list of texts."""
Metadata = Mapping[str, Value]
PREFIX = "meta_"
"""What the names of the properties begin with."""
BUILT_IN = ("title", "author", "published", "language", "edition", "source")
"""Fields that every document has. The first three are changed as metadata of one's own are."""
CHANGEABLE = BUILT_IN[:3]
ALIASES = {"date": "published", "creator": "author", "authors": "author"}
"""Other names of the built-in fields."""
KEYS = ("file", "filename", "document", "id")
"""Columns of a CSV file that say which document a row is about, beside `source` and `title`."""
MAX_NAME_CHARACTERS = 40
MAX_TEXT_CHARACTERS = 2_000
MAX_ITEMS = 100
MAX_FIELDS = 100
"""The most fields of a document."""
MAX_NUMBER = 2**53
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")
_QUOTED = re.compile(r"(?P<mark>[\"'])(?P<text>.*)(?P=mark)", re.DOTALL)


def field_name(name: str) -> str:
    """Return the name of a field as it is kept: small letters, digits and underscores.

    Raises:
        BadValue: It has no letter at its beginning, another character, or is too long.
    """
    known = re.sub(r"[\s-]+", "_", name.strip().lower())
    known = ALIASES.get(known, known)
    if len(known) > MAX_NAME_CHARACTERS or not re.fullmatch(r"[^\W\d_]\w*", known):
        raise BadValue(
            f"{quote_name(name[:80])} can't be the name of a field: it begins with a letter, has "
            f"letters, digits and underscores, and at most {MAX_NAME_CHARACTERS} characters."
        )
    return known


def read_typed(text: str) -> str | int | float:
    """Return the value that somebody typed: a number, a date or a text; in quotes always a text."""
    text = text.strip()
    if quoted := _QUOTED.fullmatch(text):
        return quoted["text"]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def check_value(name: str, value: object) -> Value:
    """Return a value as it is kept: no list of a single text, none twice.

    Raises:
        BadValue: It is no text, number, date or list of texts, or too large.
    """
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, date):
        value = value.isoformat()[:10]
    if isinstance(value, int | float):
        if not math.isfinite(value) or abs(value) > MAX_NUMBER:
            raise BadValue(f"{name}: {value} is too large a number.")
        return value
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence) or len(items) > MAX_ITEMS:
        raise BadValue(f"{name}: give a text, a number, a date or at most {MAX_ITEMS} texts.")
    texts = [" ".join(str(item).split()) for item in items if not isinstance(item, dict | list)]
    texts = list(dict.fromkeys(filter(None, texts)))
    if wrong := [text for text in texts if len(text) > MAX_TEXT_CHARACTERS or has_control(text)]:
        raise BadValue(
            f"{name}: a text has at most {MAX_TEXT_CHARACTERS:,} characters and no control "
            f"characters, unlike {quote_name(wrong[0][:40])}."
        )
    return texts if len(texts) > 1 else "".join(texts)


def list_assignments(given: Any) -> Any:
    """Return fields by name, as JSON and a document have them, as a list of name=value."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Mapping):
        return given
    listed = []
    for name, value in given.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            typed = "" if item is None else item
            # In quotes a text that looks like a number stays one.
            if isinstance(typed, str) and read_typed(typed) != typed:
                typed = f'"{typed}"'
            listed.append(f"{name}={typed}")
    return listed


def read_assignments(typed: Sequence[str] | Mapping[str, object]) -> dict[str, Value]:
    """Return the fields that are given as "genre=gothic", or by name; '' is to remove one.

    A field that is given several times is a list.

    Raises:
        BadValue: A name or a value can't be used, or two names are the same field.
    """
    if isinstance(typed, Mapping):
        given = {field_name(name): check_value(name, value) for name, value in typed.items()}
        if len(given) < len(typed):
            raise BadValue("Two of the names are the same field: give each field once.")
    else:
        several: dict[str, list[str]] = {}
        for assignment in typed:
            name, equals, text = assignment.partition("=")
            if not equals:
                raise BadValue(
                    f"Give a field as name=value, such as genre=gothic, not {assignment[:80]!r}."
                )
            several.setdefault(field_name(name), []).append(text)
        given = {
            name: check_value(name, list(map(str, map(read_typed, texts))))
            if len(texts) > 1
            else check_value(name, read_typed(texts[0]))
            for name, texts in several.items()
        }
    if fixed := [name for name in given if name in BUILT_IN and name not in CHANGEABLE]:
        raise BadValue(f"{fixed[0]} is what a document is known or read by: it can't be changed.")
    if len(given) > MAX_FIELDS:
        raise BadValue(f"A document has at most {MAX_FIELDS} fields.")
    return given


def state_metadata(fields: Mapping[str, object]) -> dict[str, Value]:
    """Return fields that a file states, as metadata; what can't be kept is left out."""
    stated: dict[str, Value] = {}
    for name, value in fields.items():
        try:
            known = field_name(str(name))
            kept = check_value(known, read_typed(value) if isinstance(value, str) else value)
        except BadValue:
            continue
        if known not in BUILT_IN and kept != "" and len(stated) < MAX_FIELDS:
            stated.setdefault(known, kept)
    return stated


def to_properties(metadata: Metadata) -> dict[str, Value | None]:
    """Return metadata as properties of a node; None removes one."""
    return {f"{PREFIX}{name}": None if value == "" else value for name, value in metadata.items()}


def from_pairs(pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Return the metadata in pairs of a node's properties, sorted by name."""
    return {name.removeprefix(PREFIX): value for name, value in sorted(pairs)}


def format_metadata(value: Value) -> str:
    """Return a value as text for people."""
    return ", ".join(value) if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True)
class GivenMetadata:
    """Metadata that are given with an ingest: for all of its documents, and for single ones.

    Attributes:
        every: The fields of all documents.
        rows: The fields of single documents, by what each is called.
    """

    every: Metadata = field(default_factory=dict)
    rows: Mapping[str, Metadata] = field(default_factory=dict)

    def of(self, source: str, title: str) -> dict[str, Value]:
        """Return the fields of a document: those of its row replace those of all."""
        return {**self.every, **self.rows.get(self.find_row(source, title), {})}

    def find_row(self, source: str, title: str) -> str:
        """Return the name of a document's row; '' if it has none."""
        file = PurePath(source.replace("\\", "/"))
        names = map(fold_name, (source, file.name, file.stem, title))
        return next((name for name in names if name in self.rows), "")


def read_table(text: str) -> dict[str, dict[str, Value]]:
    """Return the fields of documents in a CSV file, by their files' names or their titles.

    The first line has the names of the fields. The column `file` says what a row is about, or else
    `filename`, `source`, `document`, `id` or `title`. An empty cell says nothing; texts of a list
    have a | between them.

    Raises:
        BadValue: No column says what a row is about, or a name or a value can't be used.
    """
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=separator, strict=True)
    try:
        columns = [name.strip().lower() for name in next(reader, [])]
        lines = [line for line in reader if any(line)]
    except csv.Error as error:
        raise BadValue(f"This is no CSV file: {error}.") from error
    key = next((name for name in (*KEYS, "source", "title") if name in columns), "")
    if not key:
        raise BadValue(
            "No column says which document a row is about: call one of them file or title."
        )
    rows: dict[str, dict[str, Value]] = {}
    for line in lines:
        cells = dict(zip(columns, line, strict=False))
        if named := fold_name(cells.pop(key, "")):
            rows.setdefault(named, {}).update(_read_cells(cells))
    return rows


def _read_cells(cells: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    for name, cell in cells.items():
        if not cell.strip() or name in ("", *KEYS):
            continue
        known = field_name(name)
        if known in BUILT_IN and known not in CHANGEABLE:
            continue
        texts = cell.split("|")
        value = read_typed(cell) if len(texts) == 1 else texts
        yield known, check_value(known, value)
