"""Read the names of authors as catalogues print them: surname first, and with years."""

from __future__ import annotations

import re

_YEAR = (
    r"(?:(?:ca?|b|d|fl|active|approximately)\.?\s*)*\d{3,4}\??(?:/\d\d?)?"
    r"(?:\s*(?:B\.?C\.?|A\.?D\.?))?"
)
_YEARS = re.compile(
    rf"[\s,]*[(\[]?\s*(?:{_YEAR}\s*(?:[-–—]\s*(?:{_YEAR}|\?)?)?|[-–—]\s*{_YEAR})\s*[)\]]?[\s.,;]*$",
    re.IGNORECASE,
)
"""The years of a life at the end of a name."""
_ROLES = re.compile(r"[\s,]*[(\[]?\b(?:pseud\w*\.?|author|aut|attributed name)[)\]]?[\s.,]*$", re.I)
_TITLE = re.compile(
    r"(?:Sir|Lord|Lady|Dame|Mrs?|Miss|Dr|Rev|Baron(?:ess)?|Earl|Count(?:ess)?|Duke|Duchess|Saint|St"
    r"|King|Queen|Pope|Bishop|Emperor|Prince(?:ss)?|Viscount|Freiherr|Graf|Fürst|Abbé)\b\.?",
    re.IGNORECASE,
)
_ORDER = re.compile(r"(?:Jr|Sr|I{1,3}|IV|the (?:elder|younger)|père|fils)\.?", re.IGNORECASE)
_FULL_STOP = re.compile(r"(?<=\w\w\w)\.$")
"""A full stop that ends an entry, and no initial."""
MAX_WORDS = 5
"""Of a first name with all that belongs to it."""


def read_author(printed: str) -> str:
    """Return the name of a person, first name first, without years.

    "Dickens, Charles (1812-1870)" is Charles Dickens, and "Sidney, Philip, Sir, 1554-1586" is Sir
    Philip Sidney. What is no such name, as that of a saint or a ruler, only loses its years.
    """
    name = _YEARS.sub("", _ROLES.sub("", _YEARS.sub("", printed.strip())))
    if name != printed.strip():
        name = name.strip(" ,;")
    surname, *others = [part.strip() for part in name.split(",")]
    titles = [part for part in others if _TITLE.fullmatch(part)]
    endings = [part for part in others if _ORDER.fullmatch(part)]
    first = [part for part in others if part not in titles and part not in endings]
    if len(first) != 1 or not surname or not first[0] or _TITLE.match(first[0]):
        return name
    if len(first[0].split()) > MAX_WORDS or len(surname.split()) > MAX_WORDS:
        return name
    return " ".join((*titles, _FULL_STOP.sub("", first[0]), surname, *endings))
