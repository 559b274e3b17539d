"""Texts of public libraries without what the library put around them, and what it says of them.

Project Gutenberg's header, licence and credits in all their forms since 1991, and the colophon
of Wolne Lektury.
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
_NAMED = re.compile(
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
CREDITS_WITHIN = 4
"""Paragraphs after the header in which its credits stand."""
LONGEST_FOOTER = 40_000
"""Characters; the licence has some 19,000."""
_LONG_TITLE = 45
"""A title as long goes on in the indented line below; a shorter one has a subtitle there."""


@dataclass(frozen=True, slots=True)
class Book:
    """A text without its library's pages, and what they said."""

    text: str
    title: str = ""
    author: str = ""
    language: str = ""


def bare(text: str) -> Book:
    """The book alone; a text of no library comes back as it is."""
    lines = text.split("\n")
    start, end = _start(lines), _end(lines)
    header = _facts(lines[:start]) if start else Book("")
    if end < len(lines) and _COLOPHON.match(lines[end].strip()):
        return _without_colophon(lines[:end])
    if not start and end == len(lines):
        return Book(text)
    body = _without_credits(lines[start:end]) if start else lines[:end]
    return Book("\n".join(body), header.title, header.author, header.language)


def named(title: str) -> tuple[str, str]:
    """Title and author out of 'The Project Gutenberg eBook of Emma, by Jane Austen'."""
    head = re.split(r"\s+[|]\s+", title)[0]
    found = _NAMED.fullmatch(head)
    if not found:
        return head if "|" in title and "gutenberg" in title.casefold() else title, ""
    name, _, author = found["title"].partition(", by ")
    return name.strip(), author.strip()


def is_start(line: str) -> bool:
    """Whether the line closes the library's header."""
    return bool(_START.match(line.lstrip()))


def is_end(line: str) -> bool:
    """Whether the line opens the library's footer."""
    return bool(_END.match(line.lstrip()))


def is_credit(paragraph: str) -> bool:
    """Whether a paragraph says who made the file, or from what."""
    return bool(_CREDIT.match(paragraph))


def _start(lines: Sequence[str]) -> int:
    """The first line after the header; 0 if there is none."""
    for index, line in enumerate(lines):
        if _START.match(line.lstrip()):
            closed = index
            while closed + 1 < len(lines) and closed < index + 3 and "***" not in lines[closed][5:]:
                closed += 1
            return closed + 1 if "***" in lines[closed][5:] else index + 1
        if _SMALL_PRINT.match(line.lstrip()):
            ends = (at for at, one in enumerate(lines) if _SMALL_PRINT_END.match(one.lstrip()))
            return next(ends, -1) + 1
    return 0


def _end(lines: Sequence[str]) -> int:
    """The first line of the footer; the number of lines if there is none.

    What more than a footer follows is no end: several books may be joined in one file.
    """
    left = sum(map(len, lines))
    for index, line in enumerate(lines):
        bare_line = line.lstrip()
        ends = (line and _END.match(bare_line)) or _COLOPHON.match(bare_line)
        if ends and left <= LONGEST_FOOTER:
            return index
        left -= len(line)
    return len(lines)


def _facts(header: Sequence[str]) -> Book:
    facts: dict[str, str] = {}
    for index, line in enumerate(header):
        if found := _FIELD.fullmatch(line.strip()):
            value = found[2]
            below = header[index + 1] if index + 1 < len(header) else ""
            if len(value) >= _LONG_TITLE and below.startswith("  "):
                value = f"{value} {below.strip()}"
            facts.setdefault(found[1].casefold(), value)
    title, author = named(next(iter(_headlines(header)), ""))
    if title and not author and "title" not in facts:
        title = ""
    return Book(
        "", facts.get("title", title), facts.get("author", author), facts.get("language", "")
    )


def _headlines(header: Sequence[str]) -> Iterable[str]:
    return (line.strip() for line in header if _NAMED.fullmatch(line.strip()))


def _without_credits(body: Sequence[str]) -> Sequence[str]:
    """The text without who made the file, which stands in the first paragraphs."""
    start = index = 0
    for _ in range(CREDITS_WITHIN):
        while index < len(body) and not body[index].strip():
            index += 1
        paragraph = index
        while index < len(body) and body[index].strip():
            index += 1
        if paragraph < index and is_credit(body[paragraph].strip()):
            start = index
    return body[start:]


def _without_colophon(lines: Sequence[str]) -> Book:
    """Wolne Lektury: the author stands in the first line, the title in the next."""
    kept = list(lines)
    while kept and (not kept[-1].strip() or _RULE.fullmatch(kept[-1])):
        kept.pop()
    author, title = [*(line.strip() for line in kept if line.strip()), "", ""][:2]
    short = len(author) < _LONG_TITLE and len(title) < 2 * _LONG_TITLE
    return Book("\n".join(kept), title if short else "", author if short else "", "pl")
