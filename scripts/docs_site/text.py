"""Markdown of generated pages: tables, and texts of the program that are no Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Return a text of the program as the cell of a table: on one line, nothing of it a mark."""
    return escape(" ".join(text.split())).replace("|", "\\|")


def escape(text: str) -> str:
    """Return a text of the program as Markdown; what it has in backticks stays code."""
    parts = re.split(r"(`[^`]+`)", text)
    return (
        "".join(
            part if part.startswith("`") else re.sub(r"([*_<>\[\]\\`])", r"\\\1", part)
            for part in parts
        )
        .replace("\\<", "&lt;")
        .replace("\\>", "&gt;")
    )


def code(text: object) -> str:
    """Return a value as code within a line or a table's cell; '' for none."""
    text = " ".join(str(text).split())
    if not text:
        return ""
    return f"<code>{html_escape(text)}</code>" if re.search(r"[|`]", text) else f"`{text}`"


def html_escape(text: str) -> str:
    """Return a text for HTML within Markdown."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        text.replace("|", "&#124;")
        .replace("`", "&#96;")
        .replace("*", "&#42;")
        .replace("_", "&#95;")
    )


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; '' if it has no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heading)} |", f"|{' --- |' * len(heading)}", *lines])


def join_page(*parts: str) -> str:
    """Join the parts of a page that are not empty."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
