"""Recognise what libraries put around their books: headers, licences, guidelines and credits.

A paragraph is a library's only if it is known: it is at a marker, as `*** END OF THE PROJECT
GUTENBERG EBOOK ***`, and speaks of the library's files, or it begins with a sentence that a library
prints into all its books. Everything else stays, also after a licence, as several books may be
joined in one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabula.load.left_out import HEADER, LIBRARY_KINDS, LICENCE
from fabula.load.libraries import find_values, make_pattern

_MAX_HEADER_CHARACTERS = 20_000
"""The longest header; the old ones with their small print have about 12,000."""
_MAX_GAP_CHARACTERS = 600
"""The longest unknown passage within a licence."""
_MAX_PAGE_CHARACTERS = 8_000
"""The longest page of a library whose first and last sentences are known."""
_EDGE_CHARACTERS = 15_000
"""The beginning and the end of a text, where pages of libraries are."""
MAX_CREDIT_PARAGRAPHS = 4
"""The paragraphs after the header that may be credits."""
_MAX_CREDIT_CHARACTERS = 1_500
_MAX_OPENER_CHARACTERS = 250
_MAX_FIELD_LINE = 120
_MAX_NAME_CHARACTERS = 60
"""The longest name in a list of contributors."""

_START = re.compile(r"\*{2,}\s*START OF (?:THE|THIS) (?:COPYRIGHTED )?PROJECT GUTENBERG", re.I)
_SMALL_PRINT = re.compile(r"\*+\s*START\W{1,3}THE SMALL PRINT", re.I)
_SMALL_PRINT_END = re.compile(r"\*+\s*END\W{1,3}THE SMALL PRINT", re.I)
_END = re.compile(
    r"\*{2,}\s*END OF (?:THE|THIS) (?:COPYRIGHTED )?PROJECT GUTENBERG"
    r"|\*{3}\s*END OF (?:THE|THIS)\s*$"
    r"|(?:THE )?END OF (?:THE |THIS )?PROJECT GUTENBERG(?:'S|’S)?\b"
    r"|(?:ENDE DIESE[SR]?|FIN (?:DE|DU)|FINE (?:DI|DEL)|EINDE VAN) PROJE[CK]T GUTENBERG"
    r"|\*{0,3}\s*START: FULL LICENSE"
    r"|THE FULL PROJECT GUTENBERG(?:™|-tm)? LICENSE\b"
    r"|\*\*This is a COPYRIGHTED Project Gutenberg E-?text",
    re.I,
)
COLOPHON = re.compile(r"Ta lektura, podobnie jak tysiące innych, (?:jest )?dostępna")
_OPENER = re.compile(
    r"\W{0,4}(?:this is )?(?:an? |the )?project gutenberg(?:'s|’s)? ?(?:canada |(?:of )?australia )"
    r"?(?:e-?book|e-?text)s?\b(?: of |,| #|\W*$| ).{0,200}"
    r"|\W{0,4}project gutenberg's [^.!?]{3,150}, by .{3,80}",
    re.IGNORECASE,
)
_FIELD_NAMES = (
    "title|author|authors|translator|illustrator|editor|contributor|commentator|language|edition"
    "|release date|posting date|credits|produced by|original publication|publisher"
    "|character set encoding|date first posted|(?:date )?most recent(?:ly)? updated?"
    "|most recent update|date last updated|date of first publication"
    "|place and date of first publication|place and publisher|ebook (?:no\\.?|number)"
    "|e-?text (?:no\\.?|number)|edition used as base for this e-?book|last updated|first posted"
    "|subtitle|other information and formats|scanned by"
)
_FIELD = re.compile(rf"\W{{0,3}}({_FIELD_NAMES})\W{{0,2}}\s*:\W{{0,2}}\s*(\S.*)", re.IGNORECASE)
_FIELDS = {
    "title": "title",
    "author": "author",
    "authors": "author",
    "language": "language",
    "date of first publication": "published",
    "original publication": "edition",
    "edition used as base for this ebook": "edition",
}
_TITLE_LINE = re.compile(
    r"\W{0,4}(?:the )?project gutenberg(?:'s|’s)? ?(?:e-?book|e-?text)?(?: of|, | )?\s*"
    r"(?P<title>.+?)[\s*]*",
    re.IGNORECASE,
)
_BELOW_TITLE = re.compile(
    r"[\s*]*(?:#\s?\d+ in (?:our|the|a) series\b|\*{3,}\s*this (?:file|e-?text)\b).*", re.IGNORECASE
)
"""What follows the title and the author in the first paragraph of headers before 2003."""
_OLD_BY = re.compile(
    r"(?P<title>.*\S) by (?P<author>[A-Z]\S*(?: (?:[A-Z]|d[aeiu]|v[ao]n)\S*){0,5})"
)
"""A title and an author without a comma, as those headers may have them."""
_LONG_TITLE_CHARACTERS = 45
"""A title of this length continues in the indented line below; below others is a subtitle."""
_LIFE = re.compile(r"\s*\(\d{3,4}\s*[-–]\s*\d{3,4}\)$")
_ABOUT_FILES = re.compile(
    r"gutenberg|\be-?(?:text|book)s?\b|\belectronic (?:work|edition|text|version)|small print"
    r"|\bfoundation\b|\bdonat(?:e|ion)s?\b|\blicen[cs]e\b|\btrademark\b|\bcopyright|public domain"
    r"|\bwww\.|https?:|\bftp\b|@\w+\.\w|\.zip\b|\.txt\b|\bascii\b|you may copy (?:it|and)"
    r"|updated editions|\bdisclaimer|\brefund\b|\bdefect\b|\bindemnif|section \d\.|\b1\.[a-f]\.\d?"
    r"|\bvolunteers?\b|\bsubscrib|\bnewsletter|tax deductible|salt lake|fairbanks|email contact"
    r"|\[(?:e-?book|e-?text) ?#|character set|tax exempt|501\(c\)\(3\)|michael s\. hart"
    r"|damages|business office|creating derivative|information about"
    r"|\bwoln(?:e|ych) lektur|\bfundacj|\bwydawca:|prawem autorskim|domenie publicznej|\blicencj"
    r"|\bisbn\b|^opracowanie redakcyjne|^tekst opracowany na podstawie|^publikacj|^dofinansowano"
    r"|^(?:przypisy|ilustracja na okładce|okładka na podstawie|redakcja)\b.*:",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"\[?(?:(?:e-?text|text|html) (?:file|version|edition) (?:was )?)?"
    r"(?:produced|prepared|scanned|transcribed|digiti[sz]ed|proofread|html version|etext)"
    r"(?: and \w+)? by\b"
    r"|\[?(?:this )?(?:project gutenberg )?e-?(?:text|book) (?:was )?(?:prepared|produced|scanned"
    r"|created|transcribed) (?:by|from)\b"
    r"|updated editions|credits:|original publication:"
    r"|note: project gutenberg also has|images? (?:of the original|generously made)"
    r"|\(this (?:e-?book|file) was (?:produced|made) (?:from|using)"
    r"|and the (?:project gutenberg )?online distributed\s+proofread"
    r"|\W{0,2}https?://\S+\W{0,2}$",
    re.IGNORECASE,
)
_MAKERS_NOTE = re.compile(
    r"\W{0,4}"
    r"(?:(?:transcriber|redactor|transcription|digiti[sz]er)(?:'s|’s|s'|s’|s)? (?:end)?notes?"
    r"|notes? d[ue]s? transcripteurs?|note de transcription|note d[ie]l? trascrittore"
    r"|notas? del? transcriptor|notas? d[eo] transcri(?:tor|ção)"
    r"|anmerkungen (?:zur|der) transkription|anmerkungen des bearbeiters"
    r"|opmerkingen van de bewerker|aantekeningen van de bewerker)"
    r"(?= ?\d* ?(?:[:.\]—–*-]|$))",
    re.IGNORECASE,
)

_HEADER_SENTENCES = make_pattern("header")
_LICENCE_SENTENCES = make_pattern("licence")
_PAGES = [
    (re.compile(first, re.IGNORECASE), re.compile(last, re.IGNORECASE))
    for first, last in find_values("pages")
]
_COLOPHON_TITLE, _COLOPHON_CREDIT = (re.compile(each, re.I) for each in find_values("colophon"))
_MAX_COLOPHON_PARAGRAPHS = 3
"""The paragraphs from the title of a library's colophon to the one that names the library."""
_PAGE_TITLES = make_pattern("titles")
_PAGE_LINE = re.compile(rf"\W{{0,2}}(?:{'|'.join(find_values('lines'))})\W{{0,2}}", re.IGNORECASE)
"""A line that a scanner put on every page."""
_PAGE_LINE_WORD = re.compile("igiti|DIGITI|allica|Original from")
_CONTRIBUTORS = make_pattern("contributors")


@dataclass(frozen=True, slots=True)
class LibraryPages:
    """What of a text belongs to its library.

    Attributes:
        kinds: For each line of each paragraph the kind of what it is; '' if it is the book's.
        metadata: The title, author and so on that the header of the first book states.
        books: How many books of the library are joined in the text.
    """

    kinds: list[list[str]]
    metadata: dict[str, str]
    books: int


@dataclass(slots=True)
class _Piece:
    """A paragraph, or the part of one before or after a marker."""

    paragraph: int
    first: int
    end: int
    lines: list[str]
    text: str
    """The lines as one."""
    role: str
    """Which marker it is: 'start', 'end', 'small print', 'small print end', or ''."""
    kind: str = ""


def find_library_pages(paragraphs: Sequence[Sequence[str]]) -> LibraryPages:
    """Return which lines of a text are its library's.

    Args:
        paragraphs: The lines of each paragraph.
    """
    pieces = [*_split(paragraphs)]
    _mark_licences(pieces)
    headers = _mark_headers(pieces)
    _mark_credits(pieces, headers)
    _mark_pages(pieces)
    kinds = [[""] * len(lines) for lines in paragraphs]
    for piece in pieces:
        for line in range(piece.first, piece.end):
            kinds[piece.paragraph][line] = piece.kind
    for lines, line_kinds in zip(paragraphs, kinds, strict=True):
        for index, text in enumerate(lines):
            is_scan = _PAGE_LINE_WORD.search(text) and _PAGE_LINE.fullmatch(text.strip())
            if is_scan and not line_kinds[index]:
                line_kinds[index] = HEADER
    books = len({piece.text for piece in pieces if piece.role == "start"})
    return LibraryPages(kinds, _metadata(pieces), books)


def _split(paragraphs: Sequence[Sequence[str]]) -> Iterator[_Piece]:
    """The paragraphs, divided before each marker, and after those that end a header."""
    for number, lines in enumerate(paragraphs):
        first, role = 0, ""
        index = 0
        while index < len(lines):
            found = _role(lines[index].lstrip())
            if found and (index > first or role):
                yield _piece(number, lines, first, index, role)
                first, role = index, ""
            role = role or found
            if found in ("start", "small print end"):
                index = _marker_end(lines, index)
                yield _piece(number, lines, first, index, found)
                first, role = index, ""
            else:
                index += 1
        if first < len(lines):
            yield _piece(number, lines, first, len(lines), role)


def _piece(number: int, lines: Sequence[str], first: int, end: int, role: str) -> _Piece:
    part = list(lines[first:end])
    return _Piece(number, first, end, part, " ".join(" ".join(part).split()), role)


def _role(line: str) -> str:
    if line[:1] not in "*TESFtesf":
        return ""
    for role, pattern in (
        ("start", _START),
        ("small print", _SMALL_PRINT),
        ("small print end", _SMALL_PRINT_END),
        ("end", _END),
        ("end", COLOPHON),
    ):
        if pattern.match(line):
            return role
    return ""


def _marker_end(lines: Sequence[str], index: int) -> int:
    """The line after a marker, which may go on for some lines until its closing asterisks."""
    for last in range(index, min(index + 4, len(lines))):
        text = lines[last].strip()
        if "***" in (text[5:] if last == index else text) or text.endswith("*END*"):
            return last + 1
    return index + 1


def _mark_licences(pieces: Sequence[_Piece]) -> None:
    """Mark each licence, from its marker on as far as the paragraphs are the library's."""
    for index, piece in enumerate(pieces):
        if piece.role == "small print":
            last = _find(pieces, index, "small print end", _MAX_HEADER_CHARACTERS)
            for part in pieces[index : last + 1]:
                part.kind = LICENCE
        elif piece.role == "end" and not piece.kind:
            _mark_licence(pieces, index)


def _mark_licence(pieces: Sequence[_Piece], index: int) -> None:
    pieces[index].kind = LICENCE
    last = index
    gap = 0
    for position in range(index + 1, len(pieces)):
        piece = pieces[position]
        if piece.role in ("start", "small print") or _is_opener(piece):
            return
        known = piece.role == "end" or _is_about_files(piece)
        if known:
            for part in pieces[last + 1 : position + 1]:
                part.kind = LICENCE
            last, gap = position, 0
        else:
            gap += len(piece.text)
            # What is directly below the marker may be the next text.
            if last == index or gap > _MAX_GAP_CHARACTERS:
                return


def _is_about_files(piece: _Piece) -> bool:
    return bool(_ABOUT_FILES.search(piece.text) or _is_sentence(piece))


def _is_sentence(piece: _Piece) -> str:
    """The kind of a paragraph that begins as a library's known ones do; '' for others."""
    if _HEADER_SENTENCES.match(piece.text):
        return HEADER
    return LICENCE if _LICENCE_SENTENCES.match(piece.text) else ""


def _is_opener(piece: _Piece) -> bool:
    return len(piece.text) <= _MAX_OPENER_CHARACTERS and bool(_OPENER.fullmatch(piece.text))


def _is_header(piece: _Piece) -> bool:
    return _is_opener(piece) or _has_fields(piece) or bool(_is_sentence(piece))


def _has_fields(piece: _Piece) -> bool:
    """Whether a paragraph is a list of fields, as 'Title: Emma', whose values may go on below."""
    lines = [line.strip() for line in piece.lines]
    return bool(_FIELD.fullmatch(lines[0])) and all(len(line) < _MAX_FIELD_LINE for line in lines)


def _mark_headers(pieces: Sequence[_Piece]) -> list[int]:
    """Mark each header up to its marker; return the numbers of the first pieces below them."""
    below: list[int] = []
    for index, piece in enumerate(pieces):
        if piece.role in ("start", "small print"):
            for part in pieces[_header_start(pieces, index) : index]:
                part.kind = HEADER
            piece.kind = piece.kind or HEADER
        if piece.role in ("start", "small print end"):
            piece.kind = piece.kind or HEADER
            below.append(index + 1)
    # Headers without a marker at their end.
    tops = [i for i in range(len(pieces)) if not pieces[i].kind and (not i or pieces[i - 1].kind)]
    for index in tops:
        if _is_opener(pieces[index]):
            end = index
            while end < len(pieces) and not pieces[end].kind and _is_header(pieces[end]):
                pieces[end].kind = HEADER
                end += 1
            below.append(end)
    return below


def _header_start(pieces: Sequence[_Piece], end: int) -> int:
    """The number of the first piece of the header that ends with a marker."""
    lowest, length = end, 0
    while lowest and not (pieces[lowest - 1].kind or pieces[lowest - 1].role):
        length += len(pieces[lowest - 1].text)
        if length > _MAX_HEADER_CHARACTERS:
            break
        lowest -= 1
    openers = [start for start in range(lowest, end) if _is_opener(pieces[start])]
    # Headlines of another title are those of another book, with its text below them.
    title = _headline_title(pieces[openers[-1]]) if openers else ""
    openers = [start for start in openers if _headline_title(pieces[start]) == title]
    for start in openers:
        region = pieces[start:end]
        known = [len(part.text) for part in region if _is_about_files(part) or _is_header(part)]
        # A text between a headline and a marker would not speak of files and copyright.
        if 3 * sum(known) >= 2 * sum(len(part.text) for part in region):
            return start
    start = end
    while start > lowest and (_is_header(pieces[start - 1]) or _is_about_files(pieces[start - 1])):
        start -= 1
    return start


def _headline_title(piece: _Piece) -> str:
    """The first words of the title in a headline, which may go on with other things."""
    name = re.split(r"\b(?:e-?book|e-?text|gutenberg's)\b(?:,| of)?", piece.text, flags=re.I)[-1]
    return " ".join(re.findall(r"\w+", name.casefold())[:3])


def _find(pieces: Sequence[_Piece], index: int, role: str, longest: int) -> int:
    """The number of the next piece with a role; `index` itself if none is near."""
    length = 0
    for position in range(index + 1, len(pieces)):
        length += len(pieces[position].text)
        if length > longest:
            break
        if pieces[position].role == role:
            return position
    return index


def _mark_credits(pieces: Sequence[_Piece], headers: Sequence[int]) -> None:
    """Mark the paragraphs below headers that say who made the file, or from what."""
    for start in headers:
        for piece in pieces[start : start + MAX_CREDIT_PARAGRAPHS]:
            is_short = len(piece.text) <= _MAX_CREDIT_CHARACTERS
            if not piece.kind and is_short and _CREDIT.match(piece.text):
                piece.kind = HEADER


def _mark_pages(pieces: Sequence[_Piece]) -> None:
    """Mark the pages of other libraries at the beginning and the end of the text."""
    total = sum(len(piece.text) for piece in pieces)
    edges: list[int] = []
    offset = 0
    for index, piece in enumerate(pieces):
        if min(offset, total - offset) <= _EDGE_CHARACTERS:
            edges.append(index)
        offset += len(piece.text) + 1
    for index in edges:
        for first, last in _PAGES:
            if first.match(pieces[index].text):
                _mark_until(pieces, index, last)
        if _COLOPHON_TITLE.fullmatch(pieces[index].text):
            _mark_colophon(pieces, index)
        pieces[index].kind = pieces[index].kind or _is_sentence(pieces[index])
        if _CONTRIBUTORS.match(pieces[index].text):
            _mark_names(pieces[index:])
    for index in [*edges, *reversed(edges)]:
        piece = pieces[index]
        beside = [pieces[i] for i in (index - 1, index + 1) if 0 <= i < len(pieces)]
        is_page = _PAGE_TITLES.fullmatch(piece.text) or _has_fields(piece)
        if not piece.kind and is_page and any(other.kind in LIBRARY_KINDS for other in beside):
            piece.kind = HEADER


def _mark_colophon(pieces: Sequence[_Piece], index: int) -> None:
    """Mark the title of a colophon up to its credit, if it is a library's and not the book's."""
    for end in range(index + 1, min(index + 1 + _MAX_COLOPHON_PARAGRAPHS, len(pieces))):
        if _COLOPHON_CREDIT.match(pieces[end].text):
            for piece in pieces[index : end + 1]:
                piece.kind = HEADER


def _mark_names(pieces: Sequence[_Piece]) -> None:
    """Mark a list of contributors, if it is the last of the text."""
    if all(len(piece.text) <= _MAX_NAME_CHARACTERS or piece.kind for piece in pieces[1:]):
        for piece in pieces:
            piece.kind = piece.kind or HEADER


def _mark_until(pieces: Sequence[_Piece], index: int, last: re.Pattern[str]) -> None:
    """Mark a page up to the last of its known paragraphs; only the first if there is no other."""
    end, length = index, 0
    for position in range(index, len(pieces)):
        length += len(pieces[position].text)
        if length > _MAX_PAGE_CHARACTERS:
            break
        if last.match(pieces[position].text):
            end = position
    for piece in pieces[index : end + 1]:
        piece.kind = piece.kind or HEADER


def _metadata(pieces: Sequence[_Piece]) -> dict[str, str]:
    """The metadata in the header of the first book."""
    metadata: dict[str, str] = {}
    headline = ""
    for piece in pieces:
        if piece.role == "end" and piece.kind:
            break
        if piece.kind not in LIBRARY_KINDS:
            continue
        headline = headline or (piece.text if _is_opener(piece) else "")
        for index, line in enumerate(piece.lines):
            match = _FIELD.fullmatch(line.strip())
            name = _FIELDS.get(match[1].casefold()) if match else None
            if match and name:
                value = match[2]
                below = piece.lines[index + 1] if index + 1 < len(piece.lines) else ""
                if len(value) >= _LONG_TITLE_CHARACTERS and below.startswith("  "):
                    value = f"{value} {below.strip()}"
                metadata.setdefault(name, _LIFE.sub("", value.strip(" *_=")))
    whole_headline, headline = headline, _BELOW_TITLE.sub("", headline)
    title, author = split_title(headline)
    if not author and "etext" in headline.casefold() and (old := _OLD_BY.fullmatch(title)):
        # A single word may be the end of a title, as of 'Stand by Me'.
        is_series = re.search(rf"series by [^#]*\b{re.escape(old['author'])}(?!\w)", whole_headline)
        if " " in old["author"] or "." in old["author"] or is_series:
            title, author = old["title"], old["author"]
    if title and (author or "title" in metadata):
        metadata = {"title": title, "author": author} | metadata
    return metadata


def split_title(title: str) -> tuple[str, str]:
    """Return title and author of 'The Project Gutenberg eBook of Emma, by Jane Austen'."""
    head = re.split(r"\s+[|]\s+", title)[0]
    match = _TITLE_LINE.fullmatch(head)
    if not match:
        return head if "|" in title and "gutenberg" in title.casefold() else title, ""
    name, _, author = match["title"].partition(", by ")
    return name.strip(), author.strip()


def is_makers_note(paragraph: str) -> bool:
    """Return whether a paragraph begins as the notes of those who made the file do."""
    return bool(_MAKERS_NOTE.match(paragraph))


def books_warning(books: int) -> str:
    """Return a warning if several books of a library are joined in one text; '' otherwise."""
    if books < 2:
        return ""
    return f"The file holds {books} books of a library: they are one document, under one title."
