"""The order of the volumes of a series, and those that a reader of one of them has read.

A collection has no series of its own. What orders its documents is taken from what is there: a
number in each title, else a year of publication of each, else the titles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.graph.entries import Entry
from fabula.library.catalogue import find_document
from fabula.library.reading_place import check_place
from fabula.load.chapters import chapter_number

if TYPE_CHECKING:
    from fabula.store import Store

MIN_VOLUMES = 2
"""Documents of which a series has at least."""
_NUMBERED = re.compile(
    r"\b(?:volume|vol|book|part|no|nr|band|bd|buch|teil|tome|livre|tomo|libro|том|книга)\b\.?\s+(\w+)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d{1,4}")
_YEAR = re.compile(r"\b(\d{4})\b")


@dataclass(frozen=True, slots=True)
class ReadVolumes:
    """The volumes that were read: all up to one, that one included.

    `order` says what they are ordered by: "numbers in their titles", "years" or "titles".
    """

    entries: tuple[Entry, ...]
    order: str

    def __str__(self) -> str:
        """Return what was understood, for people."""
        titles = ", ".join(entry.title for entry in self.entries)
        return f"{titles} (the documents are in the order of their {self.order})"


def find_read_volumes(store: Store, collection: str, place: str) -> ReadVolumes | None:
    """Return the documents up to the one that a place names; None if it names none of several.

    Raises:
        NotFound: Several documents have the name.
    """
    if store.count(collection, MIN_VOLUMES)[0] < MIN_VOLUMES:
        return None
    matches = store.find_named(collection, check_place(place), MIN_VOLUMES)
    if not matches:
        return None
    volume = matches[0] if len(matches) == 1 else find_document(store, collection, place)
    return read_up_to(list(store.documents(collection)), volume)


def order_volumes(entries: Sequence[Entry]) -> tuple[list[Entry], str]:
    """Return documents in the order of a series, and what this order is of."""
    numbers = [_number(entry.title) for entry in entries]
    if all(numbers) and len(set(numbers)) == len(numbers):
        ordered = sorted(zip(numbers, entries, strict=True), key=lambda pair: pair[0])
        return [entry for _, entry in ordered], "numbers"
    years = [_YEAR.search(entry.published) for entry in entries]
    values = [int(match[1]) for match in years if match]
    if len(values) == len(entries) == len(set(values)):
        ordered = sorted(zip(values, entries, strict=True), key=lambda pair: pair[0])
        return [entry for _, entry in ordered], "years of publication"
    return sorted(entries, key=lambda entry: (entry.title.casefold(), entry.id)), "titles"


def read_up_to(entries: Sequence[Entry], volume: Entry) -> ReadVolumes:
    """Return the volumes up to one, that one included."""
    ordered, order = order_volumes(entries)
    place = [entry.id for entry in ordered].index(volume.id)
    return ReadVolumes(tuple(ordered[: place + 1]), order)


def _number(title: str) -> int:
    """Return the number of a volume in a title, in figures or words; 0 for none."""
    for match in _NUMBERED.finditer(title):
        if match[1].isdecimal():
            return int(match[1])
        if (number := chapter_number(f"chapter {match[1]}")) is not None:
            return number.value
    digits = _DIGITS.search(title)
    return int(digits[0]) if digits else 0
