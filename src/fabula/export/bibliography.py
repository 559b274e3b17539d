"""Documents as a bibliography has them: BibTeX, CSL-JSON, or a line to read.

A graph knows a book's title, author, language and where it came from, and of none the year.
pybtex writes BibTeX, too, but leaves escaping to its caller, which is most of what is done here.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from fabula.graph.entries import Entry

_YEAR = r"(?:\d{1,4}\??(?:\s*B\.?C\.?(?:E\.?)?)?\??)"
_YEARS = re.compile(rf",?\s*\(?\b(?:{_YEAR}\s*[-\N{{EN DASH}}]\s*{_YEAR}?)\)?$|,\s*-{_YEAR}$")
_PARTICLE = re.compile(r"(?:le|la|de|du|des|della|di|da|van|von|der|den|ten|ter|st\.?)\s", re.I)
_INITIAL = re.compile(r"\s\w\.$")
_BETWEEN = re.compile(r"\s*;\s*|\s+(?:and|&)\s+")
_SMALL = frozenset(("a", "an", "the", "le", "la", "les", "un", "une", "der", "die", "das", "ein"))
"""Words that a title begins with and is not known by."""
_WEB = re.compile(r"https?://", re.IGNORECASE)
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{one: f"\\{one}" for one in "&%$#_"},
}
"""BibTeX counts braces, also those with a backslash before them, so none may be left alone."""
_PERCENT = {one: f"%{ord(one):02X}" for one in '\\{}^`"<> '}
"""In an address nothing is escaped for TeX: it is read as it stands."""


class Person(NamedTuple):
    """A name in two parts; the family's is all where there is but one."""

    family: str
    given: str


def bibtex(entries: Iterable[Entry]) -> str:
    """The documents as BibTeX, each with its key; in UTF-8, as biber and today's BibTeX read it."""
    return "\n".join(_bibtex(key, entry) for key, entry in _keyed(entries))


def csl(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The documents as CSL-JSON, as Zotero, pandoc and citeproc read it."""
    return [_csl(key, entry) for key, entry in _keyed(entries)]


def people(author: str) -> list[Person]:
    """The persons that a book's author is: 'Dickens, Charles', 'C. Dickens and W. Collins'."""
    found: list[Person] = []
    for told in _BETWEEN.split(author):
        name = _YEARS.sub("", told).strip()
        parts = [part.strip() for part in name.split(",")]
        # One person where years follow, a particle begins or an initial ends: Le Guin, Ursula K.
        is_one = name != told.strip() or _PARTICLE.match(name) or _INITIAL.search(name)
        several = not is_one and len(parts) > 1 and all(" " in part for part in parts)
        found += [_person(one) for one in (parts if several else [name])]
    return [one for one in found if one.family]


def _person(name: str) -> Person:
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        # What follows, as Sir, is neither part of a name.
        return Person(family, given.partition(",")[0].rstrip())
    words = name.split() or [""]
    # Lower-case words before the last are the family's: Ludwig van Beethoven.
    first = len(words) - 1
    while first > 1 and words[first - 1].islower():
        first -= 1
    return Person(" ".join(words[first:]), " ".join(words[:first]))


def _keyed(entries: Iterable[Entry]) -> Iterable[tuple[str, Entry]]:
    """The entries with keys: the same for the same book on any machine, and none twice."""
    used: set[str] = set()
    for entry in entries:
        key = _key(entry)
        key = f"{key}_{entry.id}" if key in used else key
        used.add(key)
        yield key, entry


def _key(entry: Entry) -> str:
    family = people(entry.author)[0].family if people(entry.author) else ""
    told = "\x1f".join((entry.author, entry.title, _file(entry.source)))
    digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    words = [word for word in map(_plain, entry.title.split()) if word and word not in _SMALL]
    return "_".join(filter(None, [_plain(family), *words[:1], digest]))


def _plain(text: str) -> str:
    """The letters and figures of a text that ASCII has."""
    ascii = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", ascii.lower())


def _bibtex(key: str, entry: Entry) -> str:
    fields = {"title": f"{{{_tex(entry.title)}}}"}
    if persons := people(entry.author):
        fields = {"author": " and ".join(map(_tex_name, persons))} | fields
    if entry.language:
        fields["language"] = _tex(entry.language)
    if _WEB.match(entry.source):
        fields["url"] = "".join(_PERCENT.get(one, one) for one in entry.source)
        fields["urldate"] = entry.updated_at[:10]
    elif entry.source:
        fields["file"] = _tex(_file(entry.source))
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@book{{{key},\n{lines}}}\n"


def _tex_name(person: Person) -> str:
    # Braces keep a family's name whole, whatever is in it, "and" or a comma.
    family = f"{{{_tex(person.family)}}}"
    return f"{family}, {_tex(person.given)}" if person.given else family


def _tex(text: str) -> str:
    return "".join(_COMMANDS.get(one, one) for one in " ".join(text.split()))


def _csl(key: str, entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"id": key, "type": "book", "title": entry.title}
    if persons := people(entry.author):
        told["author"] = [
            {"family": person.family, "given": person.given}
            if person.given
            else {"literal": person.family}
            for person in persons
        ]
    if entry.language:
        told["language"] = entry.language
    if _WEB.match(entry.source):
        told["URL"] = entry.source
        told["accessed"] = {
            "date-parts": [[int(part) for part in entry.updated_at[:10].split("-")]]
        }
    elif entry.source:
        told["source"] = _file(entry.source)
    return told


def _file(source: str) -> str:
    """The name of a file without its folder, which is nobody else's business."""
    kind = PureWindowsPath if "\\" in source else PurePosixPath
    return source if _WEB.match(source) else kind(source).name
