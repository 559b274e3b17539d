"""Format the rows of a Cypher query for a table and as CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a text for a formula."""
BOM = "\ufeff"
"""The byte order mark, by which Excel knows that a CSV file is UTF-8."""
CAPTION = 40
"""How many characters of a node's name are shown in a table."""
SHARED = re.compile(r"(Passage|Element)(\d*|Text)")
"""Labels that nodes have only for the indexes."""


def format_cell(value: Any) -> str:
    """Return a value as text for a table."""
    match value:
        case None:
            return ""
        case str():
            return value
        case {"labels": labels, "properties": properties}:
            return _node(labels, properties)
        case {"type": type, "from": _, "to": _, "properties": properties}:
            return f"[:{type}{_in_braces(properties)}]"
        case {"nodes": nodes, "relationships": ties}:
            return _path(nodes, ties)
        case list():
            return ", ".join(map(format_cell, value))
    return json.dumps(value, ensure_ascii=False)


def _node(labels: Sequence[str], properties: dict[str, Any]) -> str:
    caption = str(properties.get("name") or properties.get("id") or "")
    caption = " ".join(caption.split())
    short = caption if len(caption) <= CAPTION else f"{caption[:CAPTION].rstrip()}..."
    main = ":".join([label for label in labels if not SHARED.fullmatch(label)] or labels)
    return f"(:{main} {short})" if short else f"(:{main})"


def _path(nodes: Sequence[Any], ties: Sequence[Any]) -> str:
    """Return a path in the notation of Cypher."""
    text = format_cell(nodes[0])
    for before, tie, node in zip(nodes, ties, nodes[1:], strict=False):
        forward = tie["from"] == before["id"]
        left, right = ("-", "->") if forward else ("<-", "-")
        text += f"{left}{format_cell(tie)}{right}{format_cell(node)}"
    return text


def _in_braces(properties: dict[str, Any]) -> str:
    return f" {json.dumps(properties, ensure_ascii=False)}" if properties else ""


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV; values that are neither text nor numbers become JSON."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(map(_escape_formula, columns))
    writer.writerows([_field(value) for value in row] for row in rows)
    return lines.getvalue()


def _field(value: Any) -> Any:
    """Return a value for CSV; no text in it is taken for a formula."""
    if isinstance(value, str):
        return _escape_formula(value)
    is_plain = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _escape_formula(value: str) -> str:
    """Return a text for CSV; a quotation mark stops spreadsheets from taking it for a formula."""
    return f"'{value}" if value.startswith(FORMULAS) else value
