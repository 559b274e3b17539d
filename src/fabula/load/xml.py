"""Read XML: TEI, FictionBook, XHTML, Final Draft or TTML, by the name of the root element."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load import fb2, html, screenplays, subtitles, tei
from fabula.load.archive import Archive
from fabula.load.blocks import Draft
from fabula.load.markup import elements, local_name
from fabula.load.xml_tree import parse

_ZIP = b"PK\x03\x04"
_SUFFIXES = (".fb2", ".tei", ".xml")
_DRAFTS: dict[str, Callable[[Element], Draft]] = {
    "FictionBook": fb2.draft,
    "FinalDraft": screenplays.draft_final_draft,
    "tt": subtitles.draft_timed_text,
}
"""The readers of formats besides TEI and XHTML, by their root elements."""


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read an XML file, also one in a zip.

    Raises:
        LoadError: It is broken, or not a book.
    """
    warnings: list[str] = []
    if data.startswith(_ZIP):
        root = _unpack(Archive(io.BytesIO(data), source, limit, "XML"), warnings)
    else:
        root = _parse(data, source, warnings)
    draft = _draft(root, data, source)
    warnings += draft.warnings
    if warnings and not any(char.isalnum() for block in draft.blocks for char in block.text):
        raise LoadError(f"{source} has no text of its own. {' '.join(warnings)}")
    return replace(draft, warnings=tuple(warnings))


def _draft(root: Element, data: bytes, source: str) -> Draft:
    book = root
    if local_name(root) not in (*tei.ROOTS, *_DRAFTS, "html"):
        # Some libraries put their own element around the book.
        book = next((e for name in (*tei.ROOTS, "FictionBook") for e in elements(root, name)), root)
    name = local_name(book)
    if name in tei.ROOTS:
        return tei.draft(book, source)
    if name in _DRAFTS:
        return _DRAFTS[name](book)
    if name == "html":
        return html.read(data, source)
    raise LoadError(
        f"{source} is XML, but not a book format that Fabula knows: its first element is "
        f"<{name[:40]}>. TEI begins with <TEI>, and FictionBook with <FictionBook>."
    )


def _parse(data: bytes, source: str, warnings: list[str]) -> Element:
    return parse(
        data,
        lambda reason: LoadError(f"{source} can't be read as XML: {reason}."),
        lambda what: warnings.append(f"{source} {what}."),
    )


def _unpack(archive: Archive, warnings: list[str]) -> Element:
    """The root element of the book in a zip."""
    names = [name for name in archive.sizes if name.lower().endswith(_SUFFIXES)]
    if len(names) != 1:
        raise archive.broken(f"it is a zip with {len(names)} files of XML, and not one")
    return _parse(archive.read(names[0]), archive.source, warnings)
