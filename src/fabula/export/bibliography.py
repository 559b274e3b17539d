"""Convert documents to BibTeX and CSL-JSON.

The graph has the title, author, language and source of a book, and its year and edition where the
file says them. pybtex writes BibTeX too, but leaves the escaping to its caller, which is most of
the work here.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any, NamedTuple

from fabula.graph.entries import Entry
from fabula.text.locator import name_labels

_YEAR = r"(?:\d{1,4}\??(?:\s*B\.?C\.?(?:E\.?)?)?\??)"
_YEARS = re.compile(rf",?\s*\(?\b(?:{_YEAR}\s*[-\N{{EN DASH}}]\s*{_YEAR}?)\)?$|,\s*-{_YEAR}$")
_PARTICLE = re.compile(r"(?:le|la|de|du|des|della|di|da|van|von|der|den|ten|ter|st\.?)\s", re.I)
_INITIAL = re.compile(r"\s\w\.$")
_SEPARATORS = re.compile(r"\s*;\s*|\s+(?:and|&)\s+")
_SMALL = frozenset(("a", "an", "the", "le", "la", "les", "un", "une", "der", "die", "das", "ein"))
"""Articles, which are left out of keys."""
_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_YEAR_OF_DATE = re.compile(r"(?<!\d)\d{4}(?!\d)")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_"},
}
"""TeX for special characters. Braces become commands: BibTeX counts them even after a backslash."""
_PERCENT = {c: f"%{ord(c):02X}" for c in '\\{}^`"<> '}
"""Characters of a URL that are percent-encoded, as TeX escapes would become part of the URL."""


class PersonName(NamedTuple):
    """A name in two parts; a name of one part is a family name."""

    family: str
    given: str


class CitedPlaces(NamedTuple):
    """The labels of the printed pages and numbered lines that are cited of a document.

    They are as "113-114, 120"; '' for none. `publisher` and `address`, where it was published, are
    what a person says of the edition that is cited; '' for nothing.
    """

    pages: str = ""
    lines: str = ""
    publisher: str = ""
    address: str = ""


def bibtex(
    entries: Iterable[Entry], places: Mapping[str, CitedPlaces] = MappingProxyType({})
) -> str:
    """Return documents as BibTeX, each with its key; for biber and BibTeX that read UTF-8.

    Args:
        entries: The documents.
        places: What is cited of them, by their ids: the field `pages`, or `note` for lines.
    """
    return "\n".join(
        _bibtex(key, entry, places.get(entry.id, CitedPlaces()))
        for key, entry in _with_keys(entries)
    )


def csl(
    entries: Iterable[Entry], places: Mapping[str, CitedPlaces] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return documents as CSL-JSON, which Zotero, pandoc and citeproc read.

    Args:
        entries: The documents.
        places: What is cited of them, by their ids: the variable `locator`. If it has lines,
            `custom` says so by its `label`, as pages are what a locator has otherwise.
    """
    return [
        _csl(key, entry, places.get(entry.id, CitedPlaces())) for key, entry in _with_keys(entries)
    ]


def people(author: str) -> list[PersonName]:
    """Return the persons in an author field.

    It may be written as "Dickens, Charles" or as "C. Dickens and W. Collins".
    """
    persons: list[PersonName] = []
    for part in _SEPARATORS.split(author):
        name = _YEARS.sub("", part).strip()
        parts = [part.strip() for part in name.split(",")]
        # "Le Guin, Ursula K." is one person: years follow, a particle begins or an initial ends.
        is_single = name != part.strip() or _PARTICLE.match(name) or _INITIAL.search(name)
        several = not is_single and len(parts) > 1 and all(" " in part for part in parts)
        persons += [_split_name(part) for part in (parts if several else [name])]
    return [person for person in persons if person.family]


def _split_name(name: str) -> PersonName:
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        # A third part, such as "Sir", is neither a given name nor a family name.
        return PersonName(family, given.partition(",")[0].rstrip())
    words = name.split() or [""]
    # Lower-case words before the last belong to the family name: Ludwig van Beethoven.
    first = len(words) - 1
    while first > 1 and words[first - 1].islower():
        first -= 1
    return PersonName(" ".join(words[first:]), " ".join(words[:first]))


def _with_keys(entries: Iterable[Entry]) -> Iterable[tuple[str, Entry]]:
    """Pair documents with unique keys, which are the same for the same book on every machine."""
    used: set[str] = set()
    for entry in entries:
        key = _key(entry)
        key = f"{key}_{entry.id}" if key in used else key
        used.add(key)
        yield key, entry


def _key(entry: Entry) -> str:
    family = people(entry.author)[0].family if people(entry.author) else ""
    identity = "\x1f".join((entry.author, entry.title, _file(entry.source)))
    digest = hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    words = [word for word in map(_plain, entry.title.split()) if word and word not in _SMALL]
    return "_".join(filter(None, [_plain(family), *words[:1], digest]))


def _plain(text: str) -> str:
    """Return the letters and digits of a text in lower-case ASCII."""
    ascii = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", ascii.lower())


def _bibtex(key: str, entry: Entry, places: CitedPlaces) -> str:
    fields = {"title": f"{{{_tex(entry.title)}}}"}
    if persons := people(entry.author):
        fields = {"author": " and ".join(map(_tex_name, persons))} | fields
    if year := _YEAR_OF_DATE.search(entry.published):
        fields["year"] = year[0]
    if _DATE.fullmatch(entry.published):
        fields["date"] = entry.published
    if entry.edition:
        fields["edition"] = _tex(entry.edition)
    fields |= {
        name: _tex(value)
        for name, value in (("publisher", places.publisher), ("address", places.address))
        if value
    }
    if places.pages and ":" not in places.pages:
        fields["pages"] = _tex(places.pages).replace("-", "--")
    elif note := name_labels("page", places.pages) or name_labels("line", places.lines):
        fields["note"] = _tex(note).replace("-", "--")
    if entry.language:
        fields["language"] = _tex(entry.language)
    if _WEB.match(entry.source):
        fields["url"] = "".join(_PERCENT.get(c, c) for c in entry.source)
        fields["urldate"] = entry.updated_at[:10]
    elif entry.source:
        fields["file"] = _tex(_file(entry.source))
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@book{{{key},\n{lines}}}\n"


def _tex_name(person: PersonName) -> str:
    # Braces protect an "and" or a comma within a family name.
    family = f"{{{_tex(person.family)}}}"
    return f"{family}, {_tex(person.given)}" if person.given else family


def _tex(text: str) -> str:
    return "".join(_COMMANDS.get(c, c) for c in " ".join(text.split()))


def _csl(key: str, entry: Entry, places: CitedPlaces) -> dict[str, Any]:
    item: dict[str, Any] = {"id": key, "type": "book", "title": entry.title}
    if persons := people(entry.author):
        item["author"] = [
            {"family": person.family, "given": person.given}
            if person.given
            else {"literal": person.family}
            for person in persons
        ]
    if date := _DATE.fullmatch(entry.published):
        item["issued"] = {"date-parts": [[int(part) for part in date[0].split("-")]]}
    elif entry.published:
        item["issued"] = {"literal": entry.published}
    if entry.edition:
        item["edition"] = entry.edition
    of_edition = {"publisher": places.publisher, "publisher-place": places.address}
    item |= {name: value for name, value in of_edition.items() if value}
    if places.pages:
        item["locator"] = places.pages
    elif places.lines:
        label = "section" if places.lines.startswith("§") else "line"
        item |= {"locator": places.lines, "custom": {"label": label}}
    if entry.language:
        item["language"] = entry.language
    if _WEB.match(entry.source):
        item["URL"] = entry.source
        item["accessed"] = {
            "date-parts": [[int(part) for part in entry.updated_at[:10].split("-")]]
        }
    elif entry.source:
        item["source"] = _file(entry.source)
    return item


def _file(source: str) -> str:
    """Return the name of a file without its folder, which would reveal the user's machine."""
    kind = PureWindowsPath if "\\" in source else PurePosixPath
    return source if _WEB.match(source) else kind(source).name
