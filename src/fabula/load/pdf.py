"""Read PDF: lines of pages, without running heads, joined to paragraphs."""

from __future__ import annotations

import io
import logging
import re
import struct
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from fabula.errors import LoadError
from fabula.load.blocks import Block, Draft
from fabula.load.chapters import (
    chapter_line,
    is_chapter_line,
    is_contents_name,
    numeral_line,
    subtitle_line,
)
from fabula.load.clean import fold_heading, one_line, prose, tidy
from fabula.load.headings import confirm, join_title, stated_title
from fabula.load.hyphens import Hyphens
from fabula.load.left_out import count_characters
from fabula.load.locators import page_mark
from fabula.load.titles import real_author, real_title
from fabula.load.word_gaps import DOUBTFUL_SPACE, resolve_gaps

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

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
    r"[-–—\[(]*\s*(?:page\s+|s(?:tr)?\.\s*)?(\d{1,4}|[ivxlc]{1,7})\s*[-–—\])]*", re.I
)
_SENTENCE_END = re.compile(r"[.!?:…]['\"”’»)\]]*$")
_EDGE_LINES = 2
"""The lines at either end of a page that may be running heads and feet."""
_MIN_REPETITIONS = 3
_MIN_LIST_LINES = 4
"""The fewest headings of chapters on a page that is a list of them."""
_USUAL_SHARE = 0.4
_SOFT_HYPHEN = "\ufdd5"
"""A non-character for soft hyphens, which cleaning would remove."""
_MAX_SOFT_SHARE = 0.04
"""If more words than this have soft hyphens within lines, they are not drawn."""
_FORMS = (
    "alt c2sc dlig fitted hlig liga lf lining lnum oldstyle onum osf proportionallining"
    " proportionaloldstyle sc smcp swash swsh tab taboldstyle tabularlining tf tnum"
)
_GLYPH = (
    rf"/([A-Za-z]{{1,12}}(?:_[A-Za-z]{{1,12}}){{0,3}})\.(?:{'|'.join(_FORMS.split())})(?![a-z])"
)
_GLYPH_NAME = re.compile(_GLYPH)
"""Glyphs that a font has in a special form, as old-style figures. pypdf prints their names."""
_GLYPH_NAMES = re.compile(rf"(?:{_GLYPH})+")
_SINGLE_LETTER = re.compile(r"/[A-Za-z]\.\w+")
_GLYPHS = {
    **{unicodedata.name(digit).split()[1].lower(): digit for digit in "0123456789"},
    "period": ".",
    "comma": ",",
    "hyphen": "-",
    "space": " ",
    "colon": ":",
    "semicolon": ";",
}
_DASHED_NUMBER = re.compile(r"^[-–—]\s*(\d{1,4}|[ivxlc]{1,7})\s*[-–—]$", re.IGNORECASE)
_ROMAN = re.compile(r"\b[ivxlc]+\b", re.IGNORECASE)
_SPACE_BEFORE_STOP = re.compile(r"(?<=\w) (?=[.,](?:[\s\"'”’»)]|$))(?!\. ?\.)")
"""The space that the gap between the boxes of two letters looks like, as in `day , and`.

The one before a spaced ellipsis is the author's.
"""
_SPACE_BEFORE_QUOTE = re.compile(r"(?<=[.,!?…]) (?=”)")
_MAX_OUTLINE_DEPTH = 3
_MAX_NAMED_PAGES = 5
_LARGE_TYPE = 1.15
"""How much larger the type of headings is than that of the text."""
_MAX_HEADING_LINES = 4
_MIN_INITIAL = 1.8
"""How much larger than the text a dropped initial is."""
_MAX_LARGE_SHARE = 0.2
"""Type that more of the text has is not that of headings."""
_MAX_HEADING_CHARACTERS = 120
_MIN_INDENT, _MAX_INDENT = 0.6, 5.0
"""How far the first line of a paragraph is indented, in ems."""
_MAX_FIRST_INDENT = 2.1
"""Whole stanzas and quotations are indented further."""
_GAP = 1.3
"""The distance of lines between which a paragraph ends, as a multiple of the usual one."""
_SAME_GAP = 0.1
"""How far two distances of lines that are the same may differ."""
_MIN_SIGNS = 3
"""The fewest indents or gaps that show how a file begins its paragraphs."""
_NARROW_CHARACTERS = 45
"""Lines shorter than this would be taken for verse."""


_Piece = tuple[str, float, float, float]
"""A run of text, the x and y of its beginning, and its size; a size of 0 if they are unknown."""
_CHARACTER_WIDTH = 0.45
"""About the width of a character, in ems."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page.

    Attributes:
        text: The text, without spaces at its ends.
        page: The number of the page, from 0.
        x: The distance of its beginning from the left, in points; None if it is unknown.
        y: The height of its baseline; None if it is unknown.
        size: The size of most of its type; 0 if it is unknown.
        is_apart: Whether there is a gap above it, or its type is of another size.
        is_indented: Whether it begins right of the lines of its column.
        mark: The mark of the page whose top it is.
    """

    text: str
    page: int
    x: float | None = None
    y: float | None = None
    size: float = 0.0
    is_apart: bool = False
    is_indented: bool = False
    mark: str = ""


@dataclass(frozen=True, slots=True)
class _OutlineEntry:
    """A title of the outline, and its depth, from 1."""

    title: str
    level: int


def read(data: bytes, source: str, limit: int = 0) -> Draft:
    """Read the text of a PDF. Raises LoadError if it is broken, protected, or has no text."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError(f"{source} is protected by a password: save a copy without it.")
        pages, warnings = _read_pages(reader, source)
        pages = _resolve_gaps(pages)
        outline, labels = _optional_parts(reader, source, warnings)
        info: Mapping[str, object] = reader.metadata or {}
        title, author = (one_line(str(info.get(name) or "")) for name in ("/Title", "/Author"))
        language = str(reader.root_object.get("/Lang") or "")
    except DependencyError as error:
        raise LoadError(
            f"{source} is encrypted: save a copy that is not, or `pip install pypdf[crypto]`."
        ) from error
    except (PyPdfError, *_BROKEN) as error:
        raise LoadError(f"{source} is not a valid PDF, it may be broken: {error}.") from error
    has_text = [any(any(map(str.isalnum, line.text)) for line in page) for page in pages]
    if not any(has_text):
        raise LoadError(f"{source} has no text in it, only pictures: run OCR on it first.")
    left_out: Counter[str] = Counter()
    body, numbers = _remove_edges(pages, left_out)
    body = _read_soft_hyphens(body)
    marked = _mark_pages(body, labels or _printed_labels(numbers))
    leading = _leading([line for page in marked for line in page])
    lines = [line for page in marked for line in _find_starts(page, leading)]
    lines = _join_hyphenated(_join_initials(lines))
    blocks = _blocks(lines, outline)
    title = real_title(title)
    chosen = confirm(blocks, title)
    if not title and (title := stated_title(blocks)):
        chosen = confirm(blocks, title)
    return Draft(
        chosen,
        title,
        ", ".join(filter(None, map(real_author, author.split(";")))),
        language,
        left_out=left_out,
        warnings=(*warnings, *([] if warnings else _picture_pages(source, has_text))),
    )


def _read_pages(reader: PdfReader, source: str) -> tuple[list[list[_Line]], list[str]]:
    """The lines of all pages and warnings of broken ones; raise the last error if none has text."""
    from pypdf.errors import DependencyError, PyPdfError

    pages: list[list[_Line]] = []
    broken: list[str] = []
    last_error: Exception | None = None
    for number in range(len(reader.pages)):
        try:
            pages.append(_lines(reader.pages[number], number))
        except DependencyError:
            raise
        except (PyPdfError, *_BROKEN) as error:
            last_error = error
            broken.append(str(number + 1))
            pages.append([])
    if last_error is not None and not any(line.text for page in pages for line in page):
        raise last_error
    if not broken:
        return pages, []
    some = ", ".join(broken[:_MAX_NAMED_PAGES]) + (
        ", ..." if len(broken) > _MAX_NAMED_PAGES else ""
    )
    return pages, [f"{len(broken)} of the {len(pages)} pages of {source} are broken: {some}."]


def _optional_parts(
    reader: PdfReader, source: str, warnings: list[str]
) -> tuple[dict[int, list[_OutlineEntry]], list[str]]:
    """The outline and the labels of the pages, without which the text can be read."""
    from pypdf.errors import PyPdfError

    outline: dict[int, list[_OutlineEntry]] = {}
    labels: list[str] = []
    try:
        outline = _outline(reader)
        labels = list(reader.page_labels) if "/PageLabels" in reader.root_object else []
    except (PyPdfError, *_BROKEN):
        warnings.append(f"The outline of {source} or the labels of its pages are broken.")
    return outline, labels


def _picture_pages(source: str, has_text: Sequence[bool]) -> tuple[str, ...]:
    """A warning if most pages have no text, as in a scan whose cover alone is text."""
    if 2 * sum(has_text) >= len(has_text):
        return ()
    missing = f"{len(has_text) - sum(has_text)} of the {len(has_text)} pages"
    return (f"{missing} of {source} have no text, only pictures: run OCR on it.",)


def _lines(page: PageObject, number: int) -> list[_Line]:
    """The lines of a page as the file orders them, with their places."""
    pieces: list[_Piece] = []

    def visit(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        if text:
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            vertical = tm[2] * cm[1] + tm[3] * cm[3]
            pieces.append((text, x, y, abs(size * vertical)))

    text = page.extract_text(visitor_text=visit)
    if "".join(piece[0] for piece in pieces) != text:
        pieces = [(text, 0.0, 0.0, 0.0)]
    rows: list[list[_Piece]] = [[]]
    for piece in pieces:
        first, *others = piece[0].split("\n")
        rows[-1].append((first, *piece[1:]))
        for index, other in enumerate(others):
            # Only the beginning of a piece is where it says.
            is_placed = index == len(others) - 1 and not other
            rows.append([(other, *piece[1:]) if is_placed else (other, 0.0, 0.0, 0.0)])
    return _join_rows([_line(row, number) for row in map(_with_spaces, rows)])


def _with_spaces(row: Sequence[_Piece]) -> list[_Piece]:
    """A row without the pieces that are only spaces, which end the pieces before them instead."""
    pieces: list[_Piece] = []
    for piece in row:
        if piece[0].strip() or len(row) == 1:
            pieces.append(piece)
        elif piece[0] and pieces:
            text, x, y, size = pieces[-1]
            pieces[-1] = (f"{text} ", x, y, size)
    return pieces


def _line(pieces: Sequence[_Piece], number: int) -> _Line:
    raw = _GLYPH_NAMES.sub(_read_glyphs, _join_pieces(pieces))
    text = " ".join(tidy(raw.replace("\u00ad", _SOFT_HYPHEN)).split())
    text = _SPACE_BEFORE_QUOTE.sub("", _SPACE_BEFORE_STOP.sub("", text))
    sizes: Counter[float] = Counter()
    for piece in pieces:
        sizes[round(piece[3], 1)] += len(piece[0].strip())
    placed = [piece for piece in pieces if piece[0].strip()]
    size = max(sizes, key=lambda key: sizes[key], default=0.0)
    if not placed or not size:
        return _Line(text, number)
    return _Line(text, number, placed[0][1], placed[0][2], size)


def _read_glyphs(match: re.Match[str]) -> str:
    """The characters of glyphs in a row; one letter alone behind another, as `w/o.sc`, is none."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    if before.isalnum() and _SINGLE_LETTER.fullmatch(match[0]):
        return match[0]
    return _GLYPH_NAME.sub(_read_glyph, match[0])


def _read_glyph(match: re.Match[str]) -> str:
    """The characters of a glyph that a font names by its form, as `/one.oldstyle`, `/f_i.liga`."""
    names = match[1].split("_")
    characters = [_GLYPHS.get(name, name if len(name) == 1 else "") for name in names]
    return "".join(characters) if all(characters) else match[0]


def _join_pieces(pieces: Sequence[_Piece]) -> str:
    """The text of pieces; where one begins with a space between letters, that is a doubtful one."""
    texts: list[str] = []
    for left, right in pairwise([("", 0.0, 0.0, 0.0), *pieces]):
        text, size = right[0], right[3]
        is_doubtful = (
            left[0][-1:].isalpha()
            and text[:1] == " "
            and text[1:2].isalpha()
            and left[3] == size
            and size
        )
        texts.append(f"{DOUBTFUL_SPACE}{text[1:]}" if is_doubtful else text)
    return "".join(texts)


def _resolve_gaps(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """The lines of all pages with spaces where the gaps between their pieces divide words."""
    texts = iter(resolve_gaps([line.text for page in pages for line in page]))
    return [[replace(line, text=next(texts)) for line in page] for page in pages]


def _join_rows(lines: Sequence[_Line]) -> list[_Line]:
    """The lines with those joined that are parts of the same line, as words drawn one by one."""
    joined: list[_Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and last.text and line.text and _is_beside(last, line):
            joined[-1] = replace(last, text=f"{last.text} {line.text}")
        elif line.text or not joined or joined[-1].text:
            joined.append(line)
    return joined


def _is_beside(left: _Line, right: _Line) -> bool:
    if left.x is None or right.x is None or left.y is None or right.y is None:
        return False
    width = _CHARACTER_WIDTH * left.size * len(left.text)
    is_row = abs(left.y - right.y) < 0.2 * left.size and left.size == right.size
    return is_row and 0 < right.x - left.x - width < 2 * left.size


def _printed_labels(numbers: Sequence[Sequence[str]]) -> list[str]:
    """The numbers printed on pages if they count up with them, or else those of the pages."""
    offsets = Counter(
        int(number) - index
        for index, page in enumerate(numbers)
        for number in page
        if number.isdecimal()
    )
    offset, count = max(offsets.items(), key=lambda item: item[1], default=(1, 0))
    if 2 * count < len(numbers):
        offset = 1
    roman = {index: number for index, page in enumerate(numbers) for number in page}
    return [
        str(index + offset) if index + offset > 0 else roman.get(index, "")
        for index in range(len(numbers))
    ]


def _outline(reader: PdfReader) -> dict[int, list[_OutlineEntry]]:
    """The entries of the outline's upper levels, by page."""
    from pypdf.generic import Destination

    entries_by_page: dict[int, list[_OutlineEntry]] = defaultdict(list)

    def walk(entries: Iterable[object], depth: int) -> None:
        for entry in entries:
            if isinstance(entry, list):
                if depth < _MAX_OUTLINE_DEPTH:
                    walk(entry, depth + 1)
            elif (
                isinstance(entry, Destination)
                and (page := reader.get_destination_page_number(entry)) is not None
                and page >= 0
                and (title := one_line(str(entry.title or "")))
            ):
                entries_by_page[page].append(_OutlineEntry(title, depth))

    walk(reader.outline, 1)
    return entries_by_page


def _remove_edges(
    pages: Sequence[Sequence[_Line]], left_out: Counter[str]
) -> tuple[list[list[_Line]], list[list[str]]]:
    """The lines of pages without page numbers, running heads and feet, and the page numbers."""
    trimmed = [[line for line in page if line.text] for page in pages]
    edges = Counter(
        _shape(line)
        for page in trimmed
        for line in {_shape(edge.text): edge.text for edge in _edges(page)}.values()
    )
    repeated = {shape for shape, n in edges.items() if n >= max(_MIN_REPETITIONS, len(pages) / 4)}
    # A line that is not apart from the text may be a refrain, unless most pages have it.
    usual = max(_MIN_REPETITIONS, _USUAL_SHARE * len(pages))
    certain = {shape for shape, n in edges.items() if n >= usual}
    seen: set[str] = set()
    numbers: list[list[str]] = []
    body: list[list[_Line]] = []
    large = _chapter_number_sizes(trimmed)
    for page in trimmed:
        numbers.append([])
        body.append([])
        is_list = sum(is_chapter_line(line.text) for line in page) >= _MIN_LIST_LINES
        for line, is_edge, is_apart in _with_edges(page):
            number = _NUMBER.fullmatch(line.text) if is_edge else None
            is_chapter = is_chapter_line(line.text)
            if number and line.size in large:
                body[-1].append(line)
            elif is_edge and number and not is_chapter:
                numbers[-1].append(number[1])
                left_out["page numbers"] += count_characters(line.text)
            elif is_edge and (
                line.text in seen
                if is_chapter
                else _shape(line.text) in (repeated if is_apart else certain)
            ):
                numbers[-1] += re.findall(r"^\d{1,4}\b|\b\d{1,4}$", line.text)
                left_out["running heads"] += count_characters(line.text)
            else:
                body[-1].append(line)
            # The heading of a chapter stays at its first place, which is not a list of them.
            if is_chapter and not is_list:
                seen.add(line.text)
    return body, numbers


def _chapter_number_sizes(pages: Sequence[Sequence[_Line]]) -> set[float]:
    """The sizes of type, larger than the text's, of numbers at edges that don't count the pages."""
    sizes: Counter[float] = Counter()
    offsets: defaultdict[float, Counter[int]] = defaultdict(Counter)
    for index, page in enumerate(pages):
        for line in page:
            sizes[line.size] += len(line.text)
        for line in _edges(page):
            if number := _NUMBER.fullmatch(line.text):
                numeral = numeral_line(number[1].upper())
                offsets[line.size][(numeral.value if numeral else 0) - index] += 1
    text_size = max(sizes, key=lambda size: sizes[size], default=0.0)
    # They are the headings of chapters that begin on a new page, as 'XII' and '- 2 -'.
    return {
        size
        for size, counts in offsets.items()
        if text_size
        and size >= _LARGE_TYPE * text_size
        and counts.total() > 1
        and 2 * max(counts.values()) < counts.total() + 1
    }


def _edges(page: Sequence[_Line]) -> list[_Line]:
    return [*page[:_EDGE_LINES], *page[max(_EDGE_LINES, len(page) - _EDGE_LINES) :]]


def _with_edges(page: Sequence[_Line]) -> Iterator[tuple[_Line, bool, bool]]:
    """The lines of a page, whether each is at an edge, and whether it is apart from the text."""
    last = len(page) - _EDGE_LINES
    gaps = [_gap(above, line) for above, line in pairwise(page)]
    usual = median([gap for gap in gaps if gap is not None] or [0.0])
    for index, line in enumerate(page):
        is_edge = not _EDGE_LINES <= index < last
        between = range(index, min(_EDGE_LINES, len(gaps)))
        if index >= last:
            between = range(max(0, last - 1), index)
        is_apart = is_edge and any(
            gap is None or gap > _GAP * usual for gap in (gaps[place] for place in between)
        )
        yield line, is_edge, is_apart


def _shape(line: str) -> str:
    """A line without its numbers, by which running heads are compared."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.casefold()).strip()


def _mark_pages(pages: Sequence[Sequence[_Line]], labels: Sequence[str]) -> list[list[_Line]]:
    """The pages with their labels at their first lines."""
    return [
        [
            replace(line, mark=page_mark(label)) if index == 0 else line
            for index, line in enumerate(page)
        ]
        for page, label in zip(pages, [*labels, *[""] * len(pages)], strict=False)
    ]


def _read_soft_hyphens(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """The lines with soft hyphens as hyphens, as fonts have them, or without those inside lines."""
    inner = words = 0
    for page in pages:
        for line in page:
            inner += line.text[:-1].count(_SOFT_HYPHEN)
            words += 1 + line.text.count(" ")
    hyphen = "" if inner > _MAX_SOFT_SHARE * words else "-"
    return [
        [replace(line, text=_with_hyphens(line.text, hyphen)) for line in page] for page in pages
    ]


def _with_hyphens(text: str, hyphen: str) -> str:
    if _SOFT_HYPHEN not in text:
        return text
    text = re.sub(rf"\s*{_SOFT_HYPHEN}$", "-", text)
    return re.sub(rf"(?<=\w) ?{_SOFT_HYPHEN}|{_SOFT_HYPHEN}", hyphen, text)


def _join_initials(lines: Sequence[_Line]) -> list[_Line]:
    """The lines with those that are a dropped initial joined to the rest of its word."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = max(sizes, key=lambda size: sizes[size], default=0.0)
    joined: list[_Line] = []
    for line in lines:
        initial = joined[-1] if joined else None
        if (
            initial is not None
            and body
            and len(initial.text) == 1
            and initial.text.isalpha()
            and initial.size >= _MIN_INITIAL * body
            and line.size < initial.size
        ):
            # 'A' may be a word, others are not; a word in capitals goes on in small ones.
            is_word = initial.text == "A" and line.text.split(" ", 1)[0].islower()
            text = f"{initial.text}{' ' if is_word else ''}{line.text}"
            joined[-1] = replace(line, text=text, is_apart=True, mark=initial.mark + line.mark)
        else:
            joined.append(line)
    return joined


def _leading(lines: Sequence[_Line]) -> float:
    """The usual distance of two lines of a paragraph; 0 if nothing shows it."""
    # Lines in lower case go on; of short speeches, most distances are those between paragraphs.
    gaps = [
        gap
        for above, line in pairwise(lines)
        if above.page == line.page
        and above.size == line.size
        and line.text[:1].islower()
        and (gap := _gap(above, line)) is not None
    ]
    return median(gaps) if len(gaps) >= _MIN_SIGNS else 0.0


def _find_starts(page: Sequence[_Line], leading: float) -> list[_Line]:
    """Mark lines that begin paragraphs by a gap or an indent; `leading` is 0 if it is not known."""
    sizes = Counter(line.size for line in page if line.size)
    if not sizes:
        return list(page)
    em = sizes.most_common(1)[0][0]
    gaps = [gap for above, line in pairwise(page) if (gap := _gap(above, line)) is not None]
    usual = median(gaps) if gaps else 0.0
    if own := _leading(page):
        usual = min(usual, own)
    elif sum(abs(gap - leading) < _SAME_GAP * leading for gap in gaps) >= _MIN_SIGNS:
        usual = min(usual, leading)
    placed = [line for line in page if line.x is not None and line.size == em]
    lefts = Counter(round(line.x or 0.0) for line in placed)
    continued = Counter(round(line.x or 0.0) for line in placed if line.text[:1].islower())
    marked: list[_Line] = []
    for index, line in enumerate(page):
        above = page[index - 1] if index else None
        gap = _gap(above, line) if above else None
        is_below_gap = gap is not None and usual > 0 and gap > _GAP * usual
        is_new_size = above is not None and _is_other_size(above.size, line.size)
        indent = _indent(line, lefts, continued, em)
        is_indented = indent > 0 and not _goes_on(above, line, indent)
        is_apart = is_below_gap or is_new_size
        marked.append(replace(line, is_apart=is_apart, is_indented=is_indented))
    return marked


def _indent(line: _Line, lefts: Counter[int], continued: Counter[int], em: float) -> float:
    """How many ems a line begins right of where the lines of its column do; 0 if it doesn't."""
    if line.x is None or not em:
        return 0.0
    place = round(line.x)
    # Of short speeches most lines are the first, but the `continued`, in lower case, are not.
    indents = (
        (line.x - left) / em
        for left, n in lefts.items()
        if n >= _MIN_SIGNS
        and (n > lefts[place] or continued[left] > max(continued[place], _MIN_SIGNS - 1))
    )
    return min((ems for ems in indents if _MIN_INDENT <= ems <= _MAX_INDENT), default=0.0)


def _goes_on(above: _Line | None, line: _Line, indent: float) -> bool:
    """Whether an indented line goes on with the one above, as those of a stanza or a quotation."""
    if above is None or above.x is None or line.x is None or abs(above.x - line.x) >= 1:
        return False
    # Lines of a conversation may be indented alike, too, but each of them ends a sentence.
    return indent > _MAX_FIRST_INDENT or not _SENTENCE_END.search(above.text)


def _gap(above: _Line, line: _Line) -> float | None:
    """How far a line is below another; None if it isn't, as at the top of a column."""
    if above.y is None or line.y is None or above.y <= line.y:
        return None
    return above.y - line.y


def _is_other_size(size: float, other: float) -> bool:
    return bool(size and other) and max(size, other) >= _LARGE_TYPE * min(size, other)


def _blocks(lines: Sequence[_Line], outline: Mapping[int, Sequence[_OutlineEntry]]) -> list[Block]:
    """The text in blocks; headings are those of the outline, or else lines in large type."""
    headings = _outline_headings(lines, outline) if any(outline.values()) else {}
    headings = headings or _large_headings(lines)
    blocks: list[Block] = []
    pending: list[_Line] = []
    index = 0
    while index < len(lines):
        if index in headings:
            end, title, level = headings[index]
            blocks += map(Block, _prose(pending))
            pending = []
            text = "\n".join(f"{line.mark}{line.text}" for line in lines[index:end])
            blocks.append(Block(text, title, level))
            index = end
        else:
            pending.append(lines[index])
            index += 1
    blocks += map(Block, _prose(pending))
    return blocks


def _outline_headings(
    lines: Sequence[_Line], outline: Mapping[int, Sequence[_OutlineEntry]]
) -> dict[int, tuple[int, str, int]]:
    """The headings by their first line: the line after them, their title and level."""
    headings: dict[int, tuple[int, str, int]] = {}
    starts: dict[int, int] = {}
    for index, line in enumerate(lines):
        starts.setdefault(line.page, index)
    for page, entries in outline.items():
        position = starts.get(page, len(lines))
        for entry in entries:
            place = _find_title(lines, position, page, entry.title)
            if place is not None:
                headings[place[0]] = (place[1], entry.title, entry.level)
                position = place[1]
    return headings


def _find_title(
    lines: Sequence[_Line], start: int, page: int, title: str
) -> tuple[int, int] | None:
    """The lines of a page that are a title of the outline, alone or together."""
    wanted = fold_heading(title)
    bare = fold_heading(re.sub(r"^(?:\w+\s+)?[\divxlc.]+[.:)]?\s+", "", title, flags=re.IGNORECASE))
    for first in range(start, len(lines)):
        if lines[first].page != page:
            return None
        text = ""
        for last in range(first, min(first + _MAX_HEADING_LINES, len(lines))):
            text += fold_heading(lines[last].text)
            if text and (text in (wanted, bare)):
                return first, last + 1
            if not wanted.startswith(text):
                break
    return None


def _large_headings(lines: Sequence[_Line]) -> dict[int, tuple[int, str, int]]:
    """The lines in type that is larger than that of the text, as headings."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = max(sizes, key=lambda size: sizes[size], default=0.0)
    total = sum(sizes.values())
    large = [size for size in sizes if body and size >= _LARGE_TYPE * body]
    if not large or sum(sizes[size] for size in large) > _MAX_LARGE_SHARE * total:
        return {}
    runs: list[tuple[int, int]] = []
    for index, line in enumerate(lines):
        if line.size in large:
            start, end = runs[-1] if runs else (0, 0)
            is_next = bool(runs) and end == index and lines[start].size == line.size
            if is_next and not is_chapter_line(line.text):
                runs[-1] = (start, index + 1)
            else:
                runs.append((index, index + 1))
    runs = [
        (start, end)
        for start, end in runs
        if end - start <= _MAX_HEADING_LINES
        and sum(len(line.text) for line in lines[start:end]) <= _MAX_HEADING_CHARACTERS
        and any(map(str.isalnum, lines[start].text))
        and not (end < len(lines) and _is_initial(lines[start], lines[end]))
    ]
    ranks = sorted({lines[start].size for start, _ in runs}, reverse=True)
    return {
        start: (
            end,
            _heading_title([line.text for line in lines[start:end]]),
            min(1 + ranks.index(lines[start].size), _MAX_OUTLINE_DEPTH),
        )
        for start, end in runs
    }


def _is_initial(line: _Line, after: _Line) -> bool:
    """Whether a line is the first letter of the text after it, and not the number of a chapter."""
    if len(line.text) != 1 or not line.text.isalpha():
        return False
    gap = _gap(line, after)
    return not _ROMAN.fullmatch(line.text) or gap is None or gap < line.size


def _heading_title(texts: Sequence[str]) -> str:
    """The title on several lines of one size: it goes on in the next line, or is below a number."""
    texts = [_DASHED_NUMBER.sub(r"\1", text) for text in texts]
    first, *others = texts
    is_number = chapter_line(first) or not re.search(r"[^\W\d_]{2}", _ROMAN.sub("", first))
    if not others or is_number:
        return join_title("\n".join(texts))
    return join_title(" ".join(texts))


def _prose(lines: Sequence[_Line]) -> list[str]:
    """The paragraphs of lines between headings."""
    texts = list(_paragraphs(lines))
    return prose("\n".join(texts))


def _paragraphs(lines: Sequence[_Line]) -> Iterator[str]:
    """The lines with a blank one where a paragraph ends: by indents, gaps or short last lines."""
    lengths = sorted(len(line.text) for line in lines)
    longest = lengths[int(0.9 * len(lengths))] if lengths else 0
    full_length = 0.8 * longest
    gaps = sum(line.is_apart for line in lines)
    indents = sum(line.is_indented for line in lines)
    shows_gaps = gaps < 0.5 * len(lines)
    shows_indents = _MIN_SIGNS <= indents < 0.7 * len(lines)
    is_shown = shows_indents or (shows_gaps and gaps >= _MIN_SIGNS)
    capitals = sum(line.text[:1].isupper() for line in lines)
    is_narrow = longest < _NARROW_CHARACTERS and 2 * capitals < len(lines)
    separator = " " if is_narrow else "\n"
    is_below_heading = False
    paragraph: list[str] = []
    for line in lines:
        text = line.text
        is_short = len(text) < full_length
        heading = is_short and (is_chapter_line(text) or is_contents_name(text))
        is_start = (line.is_apart and shows_gaps) or (line.is_indented and shows_indents)
        if heading or is_start:
            yield separator.join(paragraph)
            yield ""
            paragraph = []
        paragraph.append(f"{line.mark}{text}")
        title = is_below_heading and is_short and subtitle_line(text)
        ends = not is_shown and is_short and _SENTENCE_END.search(text)
        # A chapter's heading, and a title in the line below it, are paragraphs of their own.
        if heading or title or ends:
            yield separator.join(paragraph)
            yield ""
            paragraph = []
        is_below_heading = heading
    yield separator.join(paragraph)


def _join_hyphenated(lines: Sequence[_Line]) -> list[_Line]:
    """The lines with words that were divided at a line's end joined on the first line."""
    hyphens = Hyphens([[line.text for line in lines]])
    joined: list[_Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        # A line that begins with a capital may be a heading.
        if last and (line.text[:1].islower() or last.text[-3:-1].isupper()):
            hyphen = hyphens.join(last.text, line.text)
        else:
            hyphen = None
        if last is None or hyphen is None:
            joined.append(line)
            continue
        second, *rest = line.text.split(maxsplit=1)
        whole = f"{last.text[:-1]}{hyphen}{line.mark}{second}"
        joined[-1] = replace(last, text=whole)
        if rest:
            joined.append(replace(line, text=rest[0], mark="", is_apart=False, is_indented=False))
    return joined
