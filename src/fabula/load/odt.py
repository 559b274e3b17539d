"""ODT: OpenDocument's headings, paragraphs and notes, without its index pages."""

from __future__ import annotations

import io
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.headings import confirm, stated_title
from fabula.load.markup import Kind, blocks, elements, fact, local
from fabula.load.paratext import without_library
from fabula.load.stanzas import EMPTY, join_stanzas

_SKIPPED_NAMES = (
    "alphabetical-index annotation automatic-styles bibliography font-face-decls forms"
    " illustration-index note-citation object-index page-number ruby-text scripts sequence-decls"
    " styles table-index table-of-content tracked-changes user-index"
)
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_BLOCKS = frozenset(("list", "list-header", "list-item", "p", "table", "table-cell", "text-box"))
_SPACES = frozenset(("s", "tab"))
_DEEPEST = 3
"""Headings of lower levels part no sections, as in HTML."""


def read(data: bytes, source: str, limit: int) -> Draft:
    """An ODT file's content. LoadError, naming `source`, if it is broken, protected, or would
    unpack to more than `limit` bytes, or to more than any book of its size.
    """
    archive = Archive(io.BytesIO(data), source, limit, "ODT")
    manifest = "META-INF/manifest.xml"
    if manifest in archive.sizes and b":encryption-data" in archive.read(manifest):
        raise LoadError(f"{source} is protected by a password: save a copy without it.")
    root = archive.tree("content.xml")
    found = _blocks(root)
    meta = archive.tree("meta.xml") if "meta.xml" in archive.sizes else root
    title = fact(meta, "meta/title") or stated_title(found)
    return Draft(
        blocks=confirm(found, title),
        title=title,
        author=fact(meta, "meta/initial-creator") or fact(meta, "meta/creator"),
        language=fact(meta, "meta/language"),
    )


def _blocks(root: Element) -> tuple[Block, ...]:
    titles = _title_styles(root)
    for paragraph in elements(root, "p"):
        if not "".join(paragraph.itertext()).strip():
            paragraph.text = EMPTY

    def kind(path: Sequence[Element]) -> Kind:
        name = local(path[-1])
        if name in _SKIPPED:
            return "skipped"
        if name == "h":
            return "heading" if _level(path[-1]) <= _DEEPEST else "block"
        if name == "p" and _attribute(path[-1], "style-name") in titles:
            return "heading"
        if name == "note":
            return "note"
        if name == "line-break":
            return "line"
        if name in _SPACES:
            return "space"
        return "block" if name in _BLOCKS else "inline"

    return join_stanzas(without_library(blocks(root, kind)))


def _title_styles(root: Element) -> set[str]:
    """The paragraph styles that mean the document's title: its own, and what is made of it."""
    made = (one for one in elements(root, "style") if _attribute(one, "parent-style-name"))
    return {"Title"} | {
        _attribute(one, "name") for one in made if _attribute(one, "parent-style-name") == "Title"
    }


def _level(heading: Element) -> int:
    level = _attribute(heading, "outline-level")
    return int(level) if level.isdecimal() else 1


def _attribute(element: Element, name: str) -> str:
    """An attribute by its local name: in each namespace it means the same."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")
