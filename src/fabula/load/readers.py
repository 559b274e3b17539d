"""The reader of each format, by the file's suffix; it is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable

from fabula.load.blocks import Draft

Reader = Callable[[bytes, str, int], Draft]
"""Reads a file's content; it gets the name for messages, and the most bytes to unpack it to."""


def _text(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import text

    return text.read(data, source)


def _markdown(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import markdown

    return markdown.read(data, source)


def _html(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import html

    return html.read(data, source)


def _epub(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import epub

    return epub.read(data, source, limit)


def _pdf(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import pdf

    return pdf.read(data, source)


def _docx(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import docx

    return docx.read(data, source, limit)


def _odt(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import odt

    return odt.read(data, source, limit)


def _rtf(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import rtf

    return rtf.read(data, source)


def _xml(data: bytes, source: str, limit: int) -> Draft:
    from fabula.load import xml

    return xml.read(data, source)


PLAIN = (".txt", ".text")
"""The suffixes of plain text."""
READERS: dict[str, Reader] = {
    **dict.fromkeys(PLAIN, _text),
    **dict.fromkeys((".md", ".markdown"), _markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    ".epub": _epub,
    ".pdf": _pdf,
    ".docx": _docx,
    ".odt": _odt,
    ".rtf": _rtf,
    **dict.fromkeys((".fb2", ".tei", ".xml"), _xml),
}
