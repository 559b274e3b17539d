"""Read the header of a TEI edition: title, authors, and which edition of which year it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from fabula.load.author_names import read_author
from fabula.load.clean import one_line
from fabula.load.markup import elements, local_name
from fabula.text.metadata import Metadata, Value, state_metadata

_NO_NAME_NAMES = "address affiliation availability birth date death email floruit idno note ptr sex"
_NO_NAME = frozenset(_NO_NAME_NAMES.split())
"""What stands in the element of a person, and is no part of the name."""
_NAME_ORDER = {"roleName": 0, "forename": 1, "nameLink": 2, "surname": 3, "genName": 4}
_NAMES = ("persName", "name", "orgName")
_NO_EDITION_NAMES = (
    "availability biblScope extent idno licence listWit msDesc note notesStmt ptr"
    " relatedItem respStmt"
)
_NO_EDITION = frozenset(_NO_EDITION_NAMES.split())
_EDITION_PARTS = frozenset(
    ["author", "date", "edition", "editor", "pubPlace", "publisher", "title"]
)
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_MIN_LETTERS = 4
_DATES = ("when", "notBefore", "from", "notAfter", "to")
_PRINT_EVENTS = ("print", "written", "premiere")
"""The dates that DraCor states of a play, the most telling one first."""

_FIRST_SOURCES = ("firstEdition", "printSource", "originalSource", "print")
"""The kinds of described books that were printed, the earliest one first."""
_ABOUT_THE_FILE = re.compile(
    r"\s*(?:[:;,–—-]\s+|[\[(])(?:[^:;,–—\[(-]|-(?!\s)){0,80}?\b(?:eltec|machine[- ]readable|e-?text"
    r"|(?:electronic|digital|tei|xml) (?:edition|version|text|transcription))\b.*",
    re.IGNORECASE,
)
"""What a header adds to the title to say that it is that of a file."""
_MAX_TITLE_CHARACTERS = 500
"""A longer title is not searched for what it says of the file."""


class Header(NamedTuple):
    """What a header says of its text; '' for what it does not say."""

    title: str
    author: str
    published: str
    edition: str
    metadata: Metadata


def read(root: Element) -> Header:
    """Return what the header of a book, or of a corpus, says."""
    header = next(elements(root, "teiHeader"), root)
    source = next(elements(header, "sourceDesc"), None)
    date = _find_date(root, header, source)
    return Header(title(root), _authors(header), date, _edition(source), _keywords(header))


def _keywords(header: Element) -> dict[str, Value]:
    """The keywords of a text by their types, and its description by the kinds of ELTeC."""
    found: dict[str, list[str]] = {}
    for term in header.iterfind(".//{*}textClass/{*}keywords//{*}term"):
        found.setdefault(term.get("type", "") or "keywords", []).append(_text(term))
    for described in header.iterfind(".//{*}textDesc/*[@key]"):
        found.setdefault(local_name(described), []).append(described.get("key", ""))
    return state_metadata(found)


def title(root: Element) -> str:
    """Return the title of a book, the main one if it has several."""
    header = next(elements(root, "teiHeader"), root)
    statement = next(elements(header, "titleStmt"), None)
    titles = list(elements(statement, "title")) if statement is not None else []
    titles = [element for element in titles if _text(element)]
    main = [element for element in titles if element.get("type") == "main"]
    # A title of type full holds the main one and the others.
    plain = [element for element in titles if next(elements(element, "title"), None) is element]
    leaves = [element for element in plain if len(list(elements(element, "title"))) == 1]
    chosen = next(iter(main or leaves or titles), None)
    if chosen is None:
        return ""
    whole = _text(chosen)
    if len(whole) > _MAX_TITLE_CHARACTERS:
        return whole
    return _ABOUT_THE_FILE.sub("", whole) or whole


def _authors(header: Element) -> str:
    for path in (".//{*}titleStmt/{*}author", ".//{*}sourceDesc//{*}author"):
        names = [_name(author) for author in header.iterfind(path)]
        if found := [name for name in dict.fromkeys(names) if name]:
            return ", ".join(found)
    return ""


def _name(author: Element) -> str:
    """The name of an author, without identifiers and dates."""
    # Of several forms of a name, the first is the one for readers.
    person = next((element for element in author.iter() if local_name(element) in _NAMES), author)
    parts = [part for part in person if local_name(part) in _NAME_ORDER]
    own_text = [person.text or "", *(child.tail or "" for child in person)]
    if parts and not "".join(own_text).strip():
        parts.sort(key=lambda part: _NAME_ORDER[local_name(part)])
        return " ".join(filter(None, map(_text, parts)))
    return read_author(_text(person).strip(" ,;"))


def _text(element: Element) -> str:
    """The text of an element without what is no part of a name or title."""
    return one_line("".join(_pieces(element, _NO_NAME)))


def _pieces(element: Element, skipped: frozenset[str]) -> Iterator[str]:
    if element.text:
        yield element.text
    for child in element:
        if local_name(child) not in skipped:
            # Parts that only layout separates are words of their own.
            yield from _pieces(child, skipped)
        if child.tail:
            yield child.tail


def _find_date(root: Element, header: Element, source: Element | None) -> str:
    """The year or date of the text's publication."""
    dated = [*elements(header, "date"), *elements(root, "event")]
    for event in _PRINT_EVENTS:
        for date in dated:
            if date.get("type") == event and (value := _date(date)):
                return value
    places = [] if source is None else _sources_of_date(source)
    for place in places:
        for date in elements(place, "date"):
            if value := _date(date):
                return value
    front = next(elements(root, "front"), None)
    dates = [] if front is None else [*elements(front, "docDate"), *elements(front, "docImprint")]
    for date in dates:
        for inner in (*elements(date, "date"), date):
            if value := _date(inner):
                return value
    year = _YEAR.search("" if source is None else "".join(_pieces(source, _NO_EDITION)))
    return year[0] if year else ""


def _sources_of_date(source: Element) -> list[Element]:
    """Where the date of the text may be stated, the most telling place first."""
    books = list(source.iter())
    # A file made from a web page also has the date when that page was put there.
    typed = [book for kind in _FIRST_SOURCES for book in books if book.get("type") == kind]
    return [*typed, *elements(source, "imprint"), source]


def _date(element: Element) -> str:
    """The date of an element: its machine-readable form, or the year in its text."""
    stated = next(filter(None, (element.get(name, "").strip() for name in _DATES)), "")
    if stated:
        return stated
    year = _YEAR.search("".join(element.itertext()))
    return year[0] if year else ""


def _edition(source: Element | None) -> str:
    """The printed edition that a text was made from."""
    if source is None:
        return ""
    entries = [
        element
        for element in source.iter()
        if local_name(element) in ("bibl", "biblFull", "biblStruct")
    ]
    # The printed source stands within the digital one.
    printed = [entry for entry in entries if entry.get("type") in ("originalSource", "print")]
    entry = next(iter(printed or entries), None)
    edition = _describe(source if entry is None else entry)
    return edition if sum(map(str.isalpha, edition)) >= _MIN_LETTERS else ""


def _describe(entry: Element) -> str:
    """A bibliographic entry on one line."""
    own_text = [entry.text or "", *(child.tail or "" for child in entry)]
    if "".join(own_text).strip(" \n\t.,;:"):
        return one_line("".join(_pieces(entry, _NO_EDITION)))
    parts = [one_line(text) for text in _edition_parts(entry)]
    if not parts:
        return one_line("".join(_pieces(entry, _NO_EDITION)))
    return ", ".join(dict.fromkeys(part.strip(" ,") for part in parts if part.strip(" ,")))


def _edition_parts(entry: Element) -> Iterator[str]:
    for child in entry:
        name = local_name(child)
        if name in _NO_EDITION or child.get("type") in ("originalSource", "premiere", "written"):
            continue
        if name in ("author", "editor"):
            yield _name(child)
        elif name in _EDITION_PARTS:
            yield _text(child) or _date(child)
        else:
            yield from _edition_parts(child)
