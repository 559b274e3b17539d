"""Read FictionBook (FB2): nested sections with titles, poems, and notes at the end."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fabula.load.blocks import Draft
from fabula.load.clean import one_line
from fabula.load.headings import confirm
from fabula.load.markup import Kind, blocks, elements, local_name, metadata

_SKIPPED = frozenset(("binary", "description", "image", "stylesheet"))
_BLOCK_NAMES = (
    "annotation body cite date empty-line epigraph p poem section stanza subtitle table td"
    " text-author th tr"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_NAMES = ("first-name", "middle-name", "last-name")


def draft(root: Element) -> Draft:
    """Return the draft of a book from its root element."""
    title = metadata(root, "title-info/book-title")
    info = next(elements(root, "title-info"), root)
    return Draft(
        blocks=confirm(blocks(root, _kind), title),
        title=title,
        author=", ".join(filter(None, map(_name, info.findall("{*}author")))),
        language=metadata(root, "title-info/lang"),
    )


def _name(author: Element) -> str:
    parts = {local_name(part): one_line(part.text or "") for part in author}
    return " ".join(filter(None, map(parts.get, _NAMES))) or parts.get("nickname", "")


def _kind(path: Sequence[Element]) -> Kind:
    name = local_name(path[-1])
    if name in _SKIPPED:
        return "skipped"
    if name == "v":
        return "line"
    above = local_name(path[-2]) if len(path) > 1 else ""
    # Notes are in a separate body; each has its number above it, and is not a chapter.
    is_note = len(path) > 2 and path[1].get("name") in ("notes", "comments")
    if name == "title":
        return "heading" if above == "section" and not is_note else "whole"
    if name == "section" and is_note:
        return "whole"
    return "block" if name in _BLOCKS else "inline"
