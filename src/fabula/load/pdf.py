"""PDF: lines of pages, without what is on every page, back into paragraphs."""

from __future__ import annotations

import io
import logging
import re
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.load.chapters import is_chapter_line, subtitle_line
from fabula.load.clean import one_line, prose, tidy
from fabula.load.headings import confirm, mark

if TYPE_CHECKING:
    from pypdf import PdfReader

# pypdf reports what it repairs in broken files by logging: without a handler of the program's
# own that would go to a person's terminal, who can't do anything about it.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# What the library was seen to raise for files that are broken in ways it doesn't foresee.
_BROKEN = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    AssertionError,
    NotImplementedError,
    OSError,
    EOFError,
    zlib.error,
    struct.error,
)
_NUMBER = re.compile(
    r"[-–—\[(]*\s*(?:page\s+|s(?:tr)?\.\s*)?(?:\d{1,4}|[ivxlc]{1,7})\s*[-–—\])]*", re.I
)
_SENTENCE_END = re.compile(r"[.!?:…]['\"”’»)\]]*$")
_EDGE_LINES = 2
"""Running heads and feet are looked for in so many lines at either end of a page."""
_REPEATED = 3


def read(data: bytes, source: str) -> Draft:
    """A PDF's text. LoadError, naming `source`, if it is broken, protected, or has no text."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError(f"{source} is protected by a password: save a copy without it.")
        pages = [tidy(page.extract_text()).split("\n") for page in reader.pages]
        outline = _outline(reader)
        info: Mapping[str, object] = reader.metadata or {}
        facts = [one_line(str(info.get(name) or "")) for name in ("/Title", "/Author")]
        language = str(reader.root_object.get("/Lang") or "")
    except DependencyError as error:
        raise LoadError(
            f"{source} is encrypted: save a copy without it, or `pip install pypdf[crypto]`."
        ) from error
    except (PyPdfError, *_BROKEN) as error:
        raise LoadError(f"{source} is no PDF, or a broken one: {error}.") from error
    if not any(any(map(str.isalnum, line)) for page in pages for line in page):
        raise LoadError(f"{source} has no text in it, only pictures: run OCR over it first.")
    blocks = _blocks(_without_edges(pages), outline)
    title, author = facts
    return Draft(blocks, title, author, language)


def _outline(reader: PdfReader) -> dict[int, list[str]]:
    """The outline's titles of its two upper levels, by page."""
    from pypdf.generic import Destination

    found: dict[int, list[str]] = defaultdict(list)

    def walk(entries: Iterable[object], depth: int) -> None:
        for entry in entries:
            if isinstance(entry, list):
                if depth < 2:
                    walk(entry, depth + 1)
            elif (
                isinstance(entry, Destination)
                and (page := reader.get_destination_page_number(entry)) is not None
                and page >= 0
            ):
                found[page].append(one_line(str(entry.title or "")))

    walk(reader.outline, 1)
    return found


def _without_edges(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Pages as lines that say something: no page numbers, no running heads and feet."""
    filled = [[line.strip() for line in page] for page in pages]
    trimmed = [_trimmed(page) for page in filled]
    edges = Counter(
        _shape(line)
        for page in trimmed
        for line in {_shape(one): one for one in _edges(page) if one}.values()
    )
    repeated = {shape for shape, n in edges.items() if n >= max(_REPEATED, len(pages) / 4)}
    begun: set[str] = set()
    return [list(_without_repeated(page, repeated, begun)) for page in trimmed]


def _trimmed(page: Sequence[str]) -> list[str]:
    start, end = 0, len(page)
    while start < end and not page[start]:
        start += 1
    while end > start and not page[end - 1]:
        end -= 1
    return list(page[start:end])


def _edges(page: Sequence[str]) -> list[str]:
    return [*page[:_EDGE_LINES], *page[max(_EDGE_LINES, len(page) - _EDGE_LINES) :]]


def _without_repeated(page: Sequence[str], repeated: set[str], begun: set[str]) -> Iterator[str]:
    """A page's lines, but for those at its edges that number it or that other pages have too.

    A chapter's heading stays where it comes first; `begun` holds the headings that came.
    """
    last = len(page) - _EDGE_LINES
    for index, line in enumerate(page):
        inner = _EDGE_LINES <= index < last
        if is_chapter_line(line):
            if inner or line not in begun:
                yield line
            begun.add(line)
        elif inner or not line or not (_NUMBER.fullmatch(line) or _shape(line) in repeated):
            yield line


def _shape(line: str) -> str:
    """A line without its numbers: what a running head has in common."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.casefold()).strip()


def _blocks(pages: Sequence[Sequence[str]], outline: Mapping[int, list[str]]) -> tuple[Block, ...]:
    """The text in blocks: headings from the outline where there is one, else by their words."""
    if not any(outline.values()):
        return mark(prose("\n".join(_paragraphs([line for page in pages for line in page]))))
    blocks: list[Block] = []
    lines: list[str] = []
    for number, page in enumerate(pages):
        titles = {_plain(title): title for title in outline.get(number, ()) if title}
        for line in page:
            title = titles.pop(_plain(line), "") if line else ""
            if title:
                blocks += map(Block, prose("\n".join(_paragraphs(lines))))
                blocks.append(Block(one_line(line), title))
                lines = []
            else:
                lines.append(line)
    blocks += map(Block, prose("\n".join(_paragraphs(lines))))
    return confirm(blocks, "")


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Lines with a blank one where a paragraph ends: after a sentence's end in a short line.

    A chapter's heading, and its title in the line below, stand alone.
    """
    lengths = sorted(len(line) for line in lines if line)
    full = 0.8 * lengths[int(0.9 * len(lengths))] if lengths else 0
    below = False
    for line in _dehyphenated(lines):
        heading = len(line) < full and is_chapter_line(line)
        if heading:
            yield ""
        yield line
        title = below and len(line) < full and subtitle_line(line)
        if heading or title or (line and len(line) < full and _SENTENCE_END.search(line)):
            yield ""
        below = heading or (below and not line)


def _dehyphenated(lines: Sequence[str]) -> Iterator[str]:
    """Words that were parted at a line's end, whole again on the first line."""
    known = {word for line in lines for word in re.findall(r"\w+-\w+", line)}
    pending = ""
    for line in lines:
        begun = re.search(r"(\w+)-$", pending)
        rest = re.match(r"(\w+)(\S*)\s*(.*)", line)
        if begun and rest and rest[1][0].islower():
            # A hyphen that the author wrote is seen inside a line elsewhere.
            hyphen = "-" if f"{begun[1]}-{rest[1]}" in known else ""
            whole = f"{pending[:-1]}{hyphen}{rest[1]}{rest[2]}"
            if rest[3]:
                yield whole
            pending = rest[3] or whole
            continue
        if pending or not line:
            yield pending
        pending = line
    yield pending
