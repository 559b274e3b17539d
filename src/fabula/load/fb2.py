"""Read FictionBook (FB2): nested sections with titles, poems, and notes at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fabula.load.blocks import Draft
from fabula.load.clean import one_line
from fabula.load.headings import confirm
from fabula.load.markup import (
    Kind,
    TextRules,
    attribute,
    elements,
    local_name,
    metadata,
    read_blocks,
)

_SKIPPED = frozenset(("binary", "description", "image", "stylesheet"))
_BLOCK_NAMES = (
    "annotation body cite date empty-line epigraph p poem section stanza subtitle table td"
    " text-author th tr"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_NAMES = ("first-name", "middle-name", "last-name")
_NOTE_NUMBER = re.compile(r"\w{1,4}|\*{1,3}|[†‡]")
_NOTES = ("comments", "footnotes", "notes")


def draft(root: Element) -> Draft:
    """Return the draft of a book from its root element."""
    title = metadata(root, "title-info/book-title")
    info = next(elements(root, "title-info"), root)
    _bracket_note_numbers(root)
    rules = TextRules(kind=_kind, level=_level, left_out=_left_out)
    text_blocks, left_out = read_blocks(root, rules)
    author = ", ".join(filter(None, map(_name, info.findall("{*}author"))))
    return Draft(
        blocks=confirm(text_blocks, title, author),
        title=title,
        author=author,
        language=metadata(root, "title-info/lang"),
        published=metadata(root, "publish-info/year") or metadata(root, "title-info/date"),
        edition=_edition(root),
        left_out=dict(left_out),
    )


def _bracket_note_numbers(root: Element) -> None:
    """Put the numbers of notes into brackets, so that they are not glued to the word before."""
    for link in elements(root, "a"):
        number = "".join(link.itertext()).strip()
        if attribute(link, "type") == "note" and _NOTE_NUMBER.fullmatch(number):
            for child in list(link):
                link.remove(child)
            link.text = f"[{number}]"


def _name(author: Element) -> str:
    parts = {local_name(part): one_line(part.text or "") for part in author}
    return " ".join(filter(None, map(parts.get, _NAMES))) or parts.get("nickname", "")


def _edition(root: Element) -> str:
    """The printed edition that the file was made from."""
    names = ("book-name", "city", "publisher", "year")
    return ", ".join(filter(None, (metadata(root, f"publish-info/{name}") for name in names)))


def _kind(path: Sequence[Element]) -> Kind:
    name = local_name(path[-1])
    if name in _SKIPPED:
        return "skipped"
    if name in ("br", "v"):
        return "line"
    above = local_name(path[-2]) if len(path) > 1 else ""
    # Notes are in a separate body; each has its number above it, and is not a chapter.
    is_note = len(path) > 2 and path[1].get("name") in _NOTES
    if name == "title":
        return "heading" if above == "section" and not is_note else "whole"
    if name == "section" and is_note:
        return "whole"
    return "block" if name in _BLOCKS else "inline"


def _level(path: Sequence[Element]) -> int:
    return sum(local_name(element) == "section" for element in path)


def _left_out(path: Sequence[Element]) -> str:
    # Pictures are written as letters, and a description says what the draft has.
    return "blurb" if local_name(path[-1]) == "annotation" else ""
