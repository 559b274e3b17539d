"""Read ODT: OpenDocument's headings, paragraphs and notes, without its indexes."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.headings import confirm, stated_title
from fabula.load.markup import Kind, blocks, elements, local_name, metadata
from fabula.load.paratext import remove_library_text
from fabula.load.stanzas import EMPTY, join_stanzas

_SKIPPED_NAMES = (
    "alphabetical-index annotation automatic-styles bibliography font-face-decls forms"
    " illustration-index note-citation object-index page-number ruby-text scripts sequence-decls"
    " styles table-index table-of-content tracked-changes user-index"
)
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_BLOCKS = frozenset(("list", "list-header", "list-item", "p", "table", "table-cell", "text-box"))
_SPACES = frozenset(("s", "tab"))
_MAX_SECTION_LEVEL = 3
"""Headings of lower levels do not begin sections, as in HTML."""


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read an ODT file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.

    """
    archive = Archive(io.BytesIO(data), source, limit, "ODT")
    manifest = "META-INF/manifest.xml"
    if manifest in archive.sizes and b":encryption-data" in archive.read(manifest):
        raise LoadError(f"{source} is protected by a password: save a copy without it.")
    root = archive.tree("content.xml")
    left_out: Counter[str] = Counter()
    text_blocks = _blocks(root, left_out)
    meta = archive.tree("meta.xml") if "meta.xml" in archive.sizes else root
    title = metadata(meta, "meta/title") or stated_title(text_blocks)
    return Draft(
        blocks=confirm(text_blocks, title),
        title=title,
        author=metadata(meta, "meta/initial-creator") or metadata(meta, "meta/creator"),
        language=metadata(meta, "meta/language"),
        left_out=left_out,
    )


def _blocks(root: Element, left_out: Counter[str]) -> tuple[Block, ...]:
    title_styles = _title_styles(root)
    for paragraph in elements(root, "p"):
        if not "".join(paragraph.itertext()).strip():
            paragraph.text = EMPTY

    def kind(path: Sequence[Element]) -> Kind:
        name = local_name(path[-1])
        if name in _SKIPPED:
            return "skipped"
        if name == "h":
            return "heading" if _level(path[-1]) <= _MAX_SECTION_LEVEL else "block"
        if name == "p" and _attribute(path[-1], "style-name") in title_styles:
            return "heading"
        if name == "note":
            return "note"
        if name == "line-break":
            return "line"
        if name in _SPACES:
            return "space"
        return "block" if name in _BLOCKS else "inline"

    return join_stanzas(remove_library_text(blocks(root, kind), left_out))


def _title_styles(root: Element) -> set[str]:
    """The paragraph styles of the document's title: Title, and styles derived from it."""
    return {"Title"} | {
        _attribute(style, "name")
        for style in elements(root, "style")
        if _attribute(style, "parent-style-name") == "Title"
    }


def _level(heading: Element) -> int:
    level = _attribute(heading, "outline-level")
    return int(level) if level.isdecimal() else 1


def _attribute(element: Element, name: str) -> str:
    """An attribute by its local name, which has the same meaning in each namespace."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")
