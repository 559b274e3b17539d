"""Remove what public libraries put around their texts, and read the metadata in it.

These are Project Gutenberg's header, licence and credits, in all their forms since 1991, and the
colophon of Wolne Lektury.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_START = re.compile(r"\*{2,}\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_SMALL_PRINT = re.compile(r"\*+\s*START\W{1,3}THE SMALL PRINT", re.IGNORECASE)
_SMALL_PRINT_END = re.compile(r"\*+\s*END\W{1,3}THE SMALL PRINT", re.IGNORECASE)
_END = re.compile(
    r"\*{2,}\s*END OF (?:THE|THIS) PROJECT GUTENBERG"
    r"|(?:THE )?END OF (?:THE |THIS )?PROJECT GUTENBERG(?:'S|’S)?\b"
    r"|(?:ENDE DIESES|FIN DE) PROJE[CK]T GUTENBERG",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(title|author|language)\s*:\s*(\S.*)", re.IGNORECASE)
_TITLE_LINE = re.compile(
    r"(?:the )?project gutenberg(?:'s|’s)? ?(?:e-?book|e-?text)?(?: of|, | )?\s*(?P<title>.+)",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"(?:produced|prepared|scanned|transcribed|digitized|proofread|html version) by\b"
    r"|(?:this )?e-?(?:text|book) (?:was )?(?:prepared|produced|scanned|created) (?:by|from)\b"
    r"|updated editions|credits:|original publication:"
    r"|\[?(?:transcriber|redactor)(?:'s|’s|s'|s’)? notes?\b"
    r"|note: project gutenberg also has|images? (?:of the original|generously made)",
    re.IGNORECASE,
)
_COLOPHON = re.compile(r"Ta lektura, podobnie jak tysiące innych, (?:jest )?dostępna")
_RULE = re.compile(r"\s*[-*_]{3,}\s*")
MAX_CREDIT_PARAGRAPHS = 4
"""The paragraphs after the header that may be credits."""
MAX_FOOTER_CHARACTERS = 40_000
"""The longest footer; the licence has about 19,000 characters."""
_LONG_TITLE_CHARACTERS = 45
"""A title of this length continues in the indented line below; below others is a subtitle."""


@dataclass(frozen=True, slots=True)
class Book:
    """A text without its library's header and footer, and the metadata in them."""

    text: str
    title: str = ""
    author: str = ""
    language: str = ""


def strip_library_text(text: str) -> Book:
    """Return the text of the book alone; a text that is not from a library is not changed."""
    lines = text.split("\n")
    start, end = _start(lines), _end(lines)
    header = _metadata(lines[:start]) if start else Book("")
    if end < len(lines) and _COLOPHON.match(lines[end].strip()):
        return _remove_colophon(lines[:end])
    if not start and end == len(lines):
        return Book(text)
    body = _remove_credits(lines[start:end]) if start else lines[:end]
    return Book("\n".join(body), header.title, header.author, header.language)


def split_title(title: str) -> tuple[str, str]:
    """Return title and author of 'The Project Gutenberg eBook of Emma, by Jane Austen'."""
    head = re.split(r"\s+[|]\s+", title)[0]
    match = _TITLE_LINE.fullmatch(head)
    if not match:
        return head if "|" in title and "gutenberg" in title.casefold() else title, ""
    name, _, author = match["title"].partition(", by ")
    return name.strip(), author.strip()


def is_start(line: str) -> bool:
    """Return whether a line ends the library's header."""
    return bool(_START.match(line.lstrip()))


def is_end(line: str) -> bool:
    """Return whether a line begins the library's footer."""
    return bool(_END.match(line.lstrip()))


def is_credit(paragraph: str) -> bool:
    """Return whether a paragraph says who made the file, or from what."""
    return bool(_CREDIT.match(paragraph))


def _start(lines: Sequence[str]) -> int:
    """The number of the first line after the header; 0 if there is none."""
    for index, line in enumerate(lines):
        if _START.match(line.lstrip()):
            closed = index
            while closed + 1 < len(lines) and closed < index + 3 and "***" not in lines[closed][5:]:
                closed += 1
            return closed + 1 if "***" in lines[closed][5:] else index + 1
        if _SMALL_PRINT.match(line.lstrip()):
            ends = (i for i, end in enumerate(lines) if _SMALL_PRINT_END.match(end.lstrip()))
            return next(ends, -1) + 1
    return 0


def _end(lines: Sequence[str]) -> int:
    """The number of the first line of the footer; the number of all lines if there is none.

    A footer with more text after it than a footer has does not count, as several books may be
    joined in one file.
    """
    remaining = sum(map(len, lines))
    for index, line in enumerate(lines):
        stripped = line.lstrip()
        ends = (line and _END.match(stripped)) or _COLOPHON.match(stripped)
        if ends and remaining <= MAX_FOOTER_CHARACTERS:
            return index
        remaining -= len(line)
    return len(lines)


def _metadata(header: Sequence[str]) -> Book:
    fields: dict[str, str] = {}
    for index, line in enumerate(header):
        if match := _FIELD.fullmatch(line.strip()):
            value = match[2]
            below = header[index + 1] if index + 1 < len(header) else ""
            if len(value) >= _LONG_TITLE_CHARACTERS and below.startswith("  "):
                value = f"{value} {below.strip()}"
            fields.setdefault(match[1].casefold(), value)
    title, author = split_title(next(iter(_headlines(header)), ""))
    if title and not author and "title" not in fields:
        title = ""
    return Book(
        "", fields.get("title", title), fields.get("author", author), fields.get("language", "")
    )


def _headlines(header: Sequence[str]) -> Iterable[str]:
    return (line.strip() for line in header if _TITLE_LINE.fullmatch(line.strip()))


def _remove_credits(body: Sequence[str]) -> Sequence[str]:
    """The text without credits, which are in the first paragraphs."""
    start = index = 0
    for _ in range(MAX_CREDIT_PARAGRAPHS):
        while index < len(body) and not body[index].strip():
            index += 1
        paragraph = index
        while index < len(body) and body[index].strip():
            index += 1
        if paragraph < index and is_credit(body[paragraph].strip()):
            start = index
    return body[start:]


def _remove_colophon(lines: Sequence[str]) -> Book:
    """The text without the colophon of Wolne Lektury.

    There the author is in the first line, and the title in the next one.
    """
    body = list(lines)
    while body and (not body[-1].strip() or _RULE.fullmatch(body[-1])):
        body.pop()
    author, title = [*(line.strip() for line in body if line.strip()), "", ""][:2]
    short = len(author) < _LONG_TITLE_CHARACTERS and len(title) < 2 * _LONG_TITLE_CHARACTERS
    return Book("\n".join(body), title if short else "", author if short else "", "pl")
