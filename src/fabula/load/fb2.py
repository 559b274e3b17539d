"""FictionBook (FB2): nested sections with titles, poems by stanza and verse, notes at the end."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fabula.load.blocks import Draft
from fabula.load.clean import one_line
from fabula.load.headings import confirm
from fabula.load.markup import Kind, blocks, elements, fact, local

_SKIPPED = frozenset(("binary", "description", "image", "stylesheet"))
_BLOCK_NAMES = (
    "annotation body cite date empty-line epigraph p poem section stanza subtitle table td"
    " text-author th tr"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_NAMES = ("first-name", "middle-name", "last-name")


def draft(root: Element) -> Draft:
    """A book, from its root element."""
    title = fact(root, "title-info/book-title")
    info = next(elements(root, "title-info"), root)
    return Draft(
        blocks=confirm(blocks(root, _kind), title),
        title=title,
        author=", ".join(filter(None, map(_name, info.findall("{*}author")))),
        language=fact(root, "title-info/lang"),
    )


def _name(author: Element) -> str:
    parts = {local(part): one_line(part.text or "") for part in author}
    return " ".join(filter(None, map(parts.get, _NAMES))) or parts.get("nickname", "")


def _kind(path: Sequence[Element]) -> Kind:
    name = local(path[-1])
    if name in _SKIPPED:
        return "skipped"
    if name == "v":
        return "line"
    above = local(path[-2]) if len(path) > 1 else ""
    # The notes, which are a body of their own: each with its number above it, and no chapter.
    is_note = len(path) > 2 and path[1].get("name") in ("notes", "comments")
    if name == "title":
        return "heading" if above == "section" and not is_note else "whole"
    if name == "section" and is_note:
        return "whole"
    return "block" if name in _BLOCKS else "inline"
