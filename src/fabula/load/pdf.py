"""Read PDF: lines of pages, without running heads, joined to paragraphs."""

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

# pypdf logs what it repairs in broken files. Without a handler, that would be printed in the
# terminal, where nobody can do anything about it.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# The errors that pypdf was seen to raise for broken files, besides its own.
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
"""The lines at either end of a page that may be running heads and feet."""
_MIN_REPETITIONS = 3


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read the text of a PDF. Raises LoadError if it is broken, protected, or has no text."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError(f"{source} is protected by a password: save a copy without it.")
        pages = [tidy(page.extract_text()).split("\n") for page in reader.pages]
        outline = _outline(reader)
        info: Mapping[str, object] = reader.metadata or {}
        metadata = [one_line(str(info.get(name) or "")) for name in ("/Title", "/Author")]
        language = str(reader.root_object.get("/Lang") or "")
    except DependencyError as error:
        raise LoadError(
            f"{source} is encrypted: save a copy that is not, or `pip install pypdf[crypto]`."
        ) from error
    except (PyPdfError, *_BROKEN) as error:
        raise LoadError(f"{source} is not a valid PDF, it may be broken: {error}.") from error
    if not any(any(map(str.isalnum, line)) for page in pages for line in page):
        raise LoadError(f"{source} has no text in it, only pictures: run OCR on it first.")
    blocks = _blocks(_remove_edges(pages), outline)
    title, author = metadata
    return Draft(blocks, title, author, language)


def _outline(reader: PdfReader) -> dict[int, list[str]]:
    """The titles of the outline's two upper levels, by page."""
    from pypdf.generic import Destination

    titles_by_page: dict[int, list[str]] = defaultdict(list)

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
                titles_by_page[page].append(one_line(str(entry.title or "")))

    walk(reader.outline, 1)
    return titles_by_page


def _remove_edges(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of pages without page numbers, running heads and feet."""
    stripped = [[line.strip() for line in page] for page in pages]
    trimmed = [_trim(page) for page in stripped]
    edges = Counter(
        _shape(line)
        for page in trimmed
        for line in {_shape(edge): edge for edge in _edges(page) if edge}.values()
    )
    repeated = {shape for shape, n in edges.items() if n >= max(_MIN_REPETITIONS, len(pages) / 4)}
    seen: set[str] = set()
    return [list(_remove_repeated(page, repeated, seen)) for page in trimmed]


def _trim(page: Sequence[str]) -> list[str]:
    start, end = 0, len(page)
    while start < end and not page[start]:
        start += 1
    while end > start and not page[end - 1]:
        end -= 1
    return list(page[start:end])


def _edges(page: Sequence[str]) -> list[str]:
    return [*page[:_EDGE_LINES], *page[max(_EDGE_LINES, len(page) - _EDGE_LINES) :]]


def _remove_repeated(page: Sequence[str], repeated: set[str], seen: set[str]) -> Iterator[str]:
    """The lines of a page without numbers, and lines that other pages have, at its edges.

    The heading of a chapter stays at its first place; `seen` collects the headings so far.
    """
    last = len(page) - _EDGE_LINES
    for index, line in enumerate(page):
        inner = _EDGE_LINES <= index < last
        if is_chapter_line(line):
            if inner or line not in seen:
                yield line
            seen.add(line)
        elif inner or not line or not (_NUMBER.fullmatch(line) or _shape(line) in repeated):
            yield line


def _shape(line: str) -> str:
    """A line without its numbers, by which running heads are compared."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.casefold()).strip()


def _blocks(pages: Sequence[Sequence[str]], outline: Mapping[int, list[str]]) -> tuple[Block, ...]:
    """The text in blocks; headings are those of the outline, or else found by their words."""
    if not any(outline.values()):
        return mark(prose("\n".join(_paragraphs([line for page in pages for line in page]))))
    blocks: list[Block] = []
    lines: list[str] = []
    for number, page in enumerate(pages):
        titles = {_comparable(title): title for title in outline.get(number, ()) if title}
        for line in page:
            title = titles.pop(_comparable(line), "") if line else ""
            if title:
                blocks += map(Block, prose("\n".join(_paragraphs(lines))))
                blocks.append(Block(one_line(line), title))
                lines = []
            else:
                lines.append(line)
    blocks += map(Block, prose("\n".join(_paragraphs(lines))))
    return confirm(blocks, "")


def _comparable(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """The lines with a blank one where a paragraph ends: after a short line that ends a sentence.

    The heading of a chapter, and a title in the line below it, are paragraphs of their own.
    """
    lengths = sorted(len(line) for line in lines if line)
    full_length = 0.8 * lengths[int(0.9 * len(lengths))] if lengths else 0
    is_below_heading = False
    for line in _join_hyphenated(lines):
        heading = len(line) < full_length and is_chapter_line(line)
        if heading:
            yield ""
        yield line
        title = is_below_heading and len(line) < full_length and subtitle_line(line)
        if heading or title or (line and len(line) < full_length and _SENTENCE_END.search(line)):
            yield ""
        is_below_heading = heading or (is_below_heading and not line)


def _join_hyphenated(lines: Sequence[str]) -> Iterator[str]:
    """The lines with words that were hyphenated at a line's end joined on the first line."""
    known = {word for line in lines for word in re.findall(r"\w+-\w+", line)}
    pending = ""
    for line in lines:
        start = re.search(r"(\w+)-$", pending)
        rest = re.match(r"(\w+)(\S*)\s*(.*)", line)
        if start and rest and rest[1][0].islower():
            # A hyphen that the author wrote is found inside a line elsewhere.
            hyphen = "-" if f"{start[1]}-{rest[1]}" in known else ""
            whole = f"{pending[:-1]}{hyphen}{rest[1]}{rest[2]}"
            if rest[3]:
                yield whole
            pending = rest[3] or whole
            continue
        if pending or not line:
            yield pending
        pending = line
    yield pending
