"""Which format a file has, by its name or, where that doesn't tell, by its content."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from fabula.errors import LoadError
from fabula.load.readers import READERS

_KINDLE = "is a Kindle book, which Fabula doesn't read: save it as EPUB, which Calibre does."
_OTHERS = {
    **dict.fromkeys((".mobi", ".azw", ".azw3", ".kfx", ".prc"), _KINDLE),
    ".doc": "is an old Word document, which Fabula doesn't read: save it as .docx.",
    ".zip": "is a zip of several files: unpack it, or give it a name that ends in .zip.",
}
"""What is known not to be read as a document, and what to do."""
_WORDED = (".txt", ".text", ".md", ".markdown")
"""Formats that nothing in a file tells apart for certain."""
_PACKED = (".epub", ".docx", ".odt")
"""Formats that are zips."""
_ROOTS = {"tei": ".tei", "tei.2": ".tei", "teicorpus": ".tei", "fictionbook": ".fb2"}
_NO_TAG = re.compile(r"<[?!][^>]*>|<!--.*?-->|\s+", re.DOTALL)
_TAG = re.compile(r"<(?:[\w.-]+:)?([a-z][\w.-]*)", re.IGNORECASE)
_MARKDOWN = re.compile(r"^#{1,3} \S", re.MULTILINE)
_HEAD = 20_000


def format_of(name: str) -> str:
    """The suffix by which a file of this name is read; LoadError for one that can't be."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in READERS:
        return suffix
    if suffix in _OTHERS:
        raise LoadError(f"{name} {_OTHERS[suffix]}")
    raise LoadError(f"{name} has no suffix that can be read; {', '.join(READERS)} can.")


def recognise(data: bytes, name: str) -> str:
    """The suffix by which `data` is read; its `name` tells text from Markdown, where it can.

    LoadError, calling it `name`, for what is known not to be read.
    """
    suffix = _by_magic(data)
    named = PurePosixPath(name).suffix.lower()
    if suffix == ".zip" and named in _PACKED:
        raise LoadError(
            f"{name} is damaged, or no {named} file: it is a zip, but without what such a file has "
            "in it. Save or download it again."
        )
    if suffix in _OTHERS:
        raise LoadError(f"{name} {_OTHERS[suffix]}")
    if suffix:
        return suffix
    # Without the zeros, as it may be in UTF-16.
    head = data[:_HEAD].replace(b"\0", b"").decode("latin-1").lstrip("ÿþï»¿ \t\r\n")
    if head.startswith("<"):
        return _by_tag(head)
    if named in _WORDED:
        return named
    return ".md" if len(_MARKDOWN.findall(head)) > 1 else ".txt"


def _by_magic(data: bytes) -> str:
    head = data[:1024]
    if b"%PDF-" in head:
        return ".pdf"
    if head.lstrip().startswith(b"{\\rtf"):
        return ".rtf"
    if head[60:68] == b"BOOKMOBI":
        return ".mobi"
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        return ".doc"
    if head.startswith(b"PK\x03\x04"):
        if b"application/epub+zip" in head or b"META-INF/container.xml" in data:
            return ".epub"
        if b"application/vnd.oasis.opendocument.text" in head:
            return ".odt"
        return ".docx" if b"word/document" in data else ".zip"
    return ""


def _by_tag(head: str) -> str:
    found = _TAG.match(head, _before_tag(head))
    if found and (suffix := _ROOTS.get(found[1].lower())):
        return suffix
    return ".xml" if head.startswith("<?xml") and not _is_html(head, found) else ".html"


def _before_tag(head: str) -> int:
    """Where a file's first tag begins: after its declaration, its type, and comments."""
    place = 0
    while found := _NO_TAG.match(head, place):
        place = found.end()
    return place


def _is_html(head: str, found: re.Match[str] | None) -> bool:
    return found is not None and found[1].lower() == "html"
