"""Recognise the format of a file by its name or by its content."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from fabula.errors import LoadError
from fabula.load.readers import READERS

_KINDLE = "is a Kindle book, which Fabula doesn't read: save it as EPUB, for example with Calibre."
_UNREADABLE = {
    **dict.fromkeys((".mobi", ".azw", ".azw3", ".kfx", ".prc"), _KINDLE),
    ".doc": "is an old Word document, which Fabula doesn't read: save it as .docx.",
    ".zip": "is a zip of several files: unpack it, or give it a name that ends in .zip.",
}
"""Formats that can't be read as a document, and what the user can do."""
_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown")
"""Formats that the content does not distinguish for certain, so that the suffix decides."""
_ZIP_SUFFIXES = (".epub", ".docx", ".odt")
"""Formats whose files are zips."""
_ROOTS = {"tei": ".tei", "tei.2": ".tei", "teicorpus": ".tei", "fictionbook": ".fb2"}
_BEFORE_TAG = re.compile(r"<[?!][^>]*>|<!--.*?-->|\s+", re.DOTALL)
_TAG = re.compile(r"<(?:[\w.-]+:)?([a-z][\w.-]*)", re.IGNORECASE)
_MARKDOWN = re.compile(r"^#{1,3} \S", re.MULTILINE)
_HEAD_BYTES = 20_000


def format_of(name: str) -> str:
    """Return the suffix that selects the reader for a file name. Raises LoadError if none does."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in READERS:
        return suffix
    if suffix in _UNREADABLE:
        raise LoadError(f"{name} {_UNREADABLE[suffix]}")
    raise LoadError(f"{name} has no suffix that can be read; {', '.join(READERS)} can.")


def recognise(data: bytes, name: str) -> str:
    """Return the suffix that selects the reader for a file's content.

    Args:
        data: The content.
        name: The file's name, for messages; its suffix tells text from Markdown.

    Raises:
        LoadError: It has a format that can't be read.

    """
    suffix = _by_magic(data)
    stated = PurePosixPath(name).suffix.lower()
    if suffix == ".zip" and stated == ".epub" and b".opf" in data:
        # An EPUB without its list of packages; its only one is found by its name.
        return ".epub"
    if suffix == ".zip" and stated in _ZIP_SUFFIXES:
        raise LoadError(
            f"{name} is damaged, or not a {stated} file: it is a zip, but without the content that "
            "such a file has. Save or download it again."
        )
    if suffix in _UNREADABLE:
        raise LoadError(f"{name} {_UNREADABLE[suffix]}")
    if suffix:
        return suffix
    # Without zero bytes, as the text may be UTF-16.
    head = data[:_HEAD_BYTES].replace(b"\0", b"").decode("latin-1").lstrip("ÿþï»¿ \t\r\n")
    if head.startswith("<"):
        return _by_tag(head)
    if stated in _TEXT_SUFFIXES:
        return stated
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
    tag = _TAG.match(head, _tag_start(head))
    name = tag[1].lower() if tag else ""
    if suffix := _ROOTS.get(name):
        return suffix
    return ".xml" if head.startswith("<?xml") and name != "html" else ".html"


def _tag_start(head: str) -> int:
    """The position of the first tag, after declarations and comments."""
    position = 0
    while match := _BEFORE_TAG.match(head, position):
        position = match.end()
    return position
