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
_TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".fountain", ".srt", ".vtt")
"""Formats that the content does not distinguish for certain, so that the suffix decides."""
_ZIP_SUFFIXES = (".epub", ".docx", ".odt")
"""Formats whose files are zips."""
_PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\f\0"
_PDF = b"%PDF-"
_PDF_OBJECT = re.compile(rb"\d \d+ obj\b")
_RTF = b"{\\rtf"
_RTF_WORD = re.compile(rb"\{\\rtf\d*\s*\\[a-z]")
_EDGE_BYTES = 1024
"""Within how many bytes from the start and the end of a file readers look for the marks of PDF."""
_ROOTS = {
    **dict.fromkeys(("tei", "tei.2", "teicorpus"), ".tei"),
    "fictionbook": ".fb2",
    "finaldraft": ".fdx",
    "tt": ".ttml",
}
_BEFORE_TAG = re.compile(r"<[?!][^>]*>|<!--.*?-->|\s+", re.DOTALL)
_TAG = re.compile(r"<(?:[\w.-]+:)?([a-z][\w.-]*)", re.IGNORECASE)
_MARKDOWN = re.compile(r"^#{1,3} \S", re.MULTILINE)
_HEAD_BYTES = 20_000
_CLOSING_FLAGS = re.IGNORECASE | re.DOTALL


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

    The beginning of the content decides. Where the name says that it is text, the content has to be
    of another format from its beginning to its end: a text may quote how others begin.

    Args:
        data: The content.
        name: The file's name, for messages; its suffix is the format that it states.

    Raises:
        LoadError: It has a format that can't be read.
    """
    stated = PurePosixPath(name).suffix.lower()
    suffix = _by_magic(data, stated)
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
    head = _latin(data[:_HEAD_BYTES])
    if suffix := _by_tag(head, _latin(data[-_EDGE_BYTES:]) if stated in _TEXT_SUFFIXES else None):
        return suffix
    if stated in _TEXT_SUFFIXES:
        return stated
    if stated in _PAGE_SUFFIXES:
        return ".html"
    return ".md" if len(_MARKDOWN.findall(head)) > 1 else ".txt"


def text_like_format(data: bytes) -> str:
    """Return '.pdf' or '.rtf' if the content, which may be all ASCII, is such a document; or ''."""
    start = data.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
    if _RTF_WORD.match(start) and data.rstrip(_BLANK).endswith(b"}"):
        return ".rtf"
    at = data.find(_PDF, 0, _EDGE_BYTES)
    is_whole = data[-_EDGE_BYTES:].rstrip(_BLANK).endswith(b"%%EOF")
    is_pdf = at >= 0 and is_whole and _PDF_OBJECT.search(data, at)
    return ".pdf" if is_pdf else ""


def _by_magic(data: bytes, stated: str) -> str:
    if suffix := text_like_format(data):
        return suffix
    start = data.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
    # A damaged document, of which the reader says so.
    if stated not in _TEXT_SUFFIXES and start.startswith((_PDF, _RTF)):
        return ".pdf" if start.startswith(_PDF) else ".rtf"
    if stated == ".pdf" and _PDF in data[:_EDGE_BYTES]:
        return ".pdf"
    if data[60:68] == b"BOOKMOBI":
        return ".mobi"
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return ".doc"
    if data.startswith(b"PK\x03\x04"):
        head = data[:_EDGE_BYTES]
        if b"application/epub+zip" in head or b"META-INF/container.xml" in data:
            return ".epub"
        if b"application/vnd.oasis.opendocument.text" in head:
            return ".odt"
        return ".docx" if b"word/document" in data else ".zip"
    return ""


def _latin(data: bytes) -> str:
    """The ASCII characters of bytes, without zero bytes, as the text may be UTF-16."""
    return data.replace(b"\0", b"").decode("latin-1").lstrip("ÿþï»¿ \t\r\n")


def _by_tag(head: str, end: str | None) -> str:
    """The suffix for markup, which has to be closed unless `end` is None; '' for another text."""
    if not head.startswith("<"):
        return ""
    tag = _TAG.match(head, _tag_start(head))
    name = tag[1].lower() if tag else ""
    is_page = name == "html"
    markup = ".xml" if head.startswith("<?xml") and not is_page else ".html"
    suffix = _ROOTS.get(name, markup)
    if end is None:
        return suffix if tag or head.startswith(("<?", "<!")) else ""
    # Any piece of HTML may be in a text, above all in Markdown.
    is_root = is_page or suffix != ".html"
    closing = rf"</(?:[\w.-]+:)?{re.escape(name)}\s*>(?:\s|<!--.*?-->)*$"
    return suffix if tag and is_root and re.search(closing, end, _CLOSING_FLAGS) else ""


def _tag_start(head: str) -> int:
    """The position of the first tag, after declarations and comments."""
    position = 0
    while match := _BEFORE_TAG.match(head, position):
        position = match.end()
    return position
