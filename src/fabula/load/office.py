"""What the formats of word processors have in common: fields, bookmarks, and names of styles."""

from __future__ import annotations

import re

from fabula.load.locators import page_mark

MAX_SECTION_LEVEL = 3
"""Headings of lower levels do not begin sections, as in HTML."""
MAX_STYLE_CHAIN = 20
"""How many styles may be based on each other."""
NOTE_NUMBER = re.compile(r"\[\d+\]$")
_HEADING_NAMES = (
    "heading überschrift titre título titolo kop rubrik overskrift otsikko nagłówek nadpis"
    " заголовок заглавие címsor başlık encabezado intestazione cabeçalho kapitelüberschrift"
    " 見出し 标题 標題 제목"
)
_HEADING = re.compile(
    rf"(?:{'|'.join(_HEADING_NAMES.split())})(?:_20_|\s*)(?P<level>[1-9])?", re.IGNORECASE
)
_HIDDEN_FIELDS = {
    **dict.fromkeys(("TOC", "INDEX", "TOA"), "contents"),
    **dict.fromkeys(("PAGE", "NUMPAGES", "SECTIONPAGES"), "page numbers"),
}
_READING = re.compile(r"\\s\\up\s*\d+\s*\(([^()]*)\)\s*[,;]\s*([^()]*)\)")
_PAGE_BOOKMARK = re.compile(r"_?(?:page|pg|seite)[_-]?(\d{1,4}|[ivxlc]{1,8})", re.IGNORECASE)


def heading_style(name: str) -> int | None:
    """Return the level in the name of a style of headings; 0 without one, None for other names."""
    match = _HEADING.fullmatch(name)
    return int(match["level"] or 0) if match else None


def hidden_field(instruction: str) -> str:
    """Return what the result of a field is counted as if it is no text; '' if it is text."""
    name = instruction.split(maxsplit=1)[:1]
    return _HIDDEN_FIELDS.get(name[0].upper(), "") if name else ""


def split_reading(instruction: str) -> tuple[str, str] | None:
    """Return the reading and the word below it that Word writes into a field; None if not so."""
    match = _READING.search(instruction)
    return (match[1], match[2]) if match else None


def bookmark_mark(name: str) -> str:
    """Return the mark of the page whose top a bookmark names, as `page_12`; '' for others."""
    match = _PAGE_BOOKMARK.fullmatch(name)
    return page_mark(match[1]) if match else ""
