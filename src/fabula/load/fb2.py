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
    _number_notes(root)
    rules = TextRules(kind=_kind, level=_level, title=_notes_title, left_out=_left_out)
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


def _number_notes(root: Element) -> None:
    """Let each note begin with its number, as `[1]`, which stands above it as a title."""
    for body in filter(_is_notes, elements(root, "body")):
        for note in elements(body, "section"):
            if [local_name(part) for part in note[:2]] != ["title", "p"]:
                continue
            number, text = "".join(note[0].itertext()).strip(), note[1]
            if _NOTE_NUMBER.fullmatch(number):
                note.remove(note[0])
                text.text = f"[{number}] {text.text or ''}"


def _is_notes(body: Element) -> bool:
    return body.get("name") in _NOTES


def _notes_title(path: Sequence[Element]) -> str:
    """The title of a body of notes without one, which are no part of the last chapter."""
    body = path[-1]
    has_title = any(local_name(part) == "title" for part in body)
    is_untitled = local_name(body) == "body" and _is_notes(body) and not has_title
    return body.get("name", "").capitalize() if is_untitled else ""


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
    are_notes = len(path) > 2 and _is_notes(path[1])
    if name == "title":
        return "heading" if above == ("body" if are_notes else "section") else "whole"
    if name == "section" and are_notes:
        return "whole"
    return "block" if name in _BLOCKS else "inline"


def _level(path: Sequence[Element]) -> int:
    return max(1, sum(local_name(element) == "section" for element in path))


def _left_out(path: Sequence[Element]) -> str:
    # Pictures are written as letters, and a description says what the draft has.
    return "blurb" if local_name(path[-1]) == "annotation" else ""
