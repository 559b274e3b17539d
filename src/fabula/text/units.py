"""Places of a text in the units that programs count: characters, UTF-16 units and bytes of UTF-8.

Python counts code points, here called characters. What runs in a browser or in Java counts UTF-16
units, of which an emoji or a rare letter has two, and a few programs count bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from fabula.text.anchoring import TextQuote

CHARACTERS, UTF16, UTF8 = "characters", "UTF-16 units", "bytes of UTF-8"
_WIDE = {
    CHARACTERS: re.compile(r"(?!)"),
    UTF16: re.compile(r"[\U00010000-\U0010ffff]"),
    UTF8: re.compile(r"[^\0-\x7f]"),
}
"""The characters that have more than one unit."""


class UnitPlaces:
    """Converts places of a text between characters and a unit.

    Args:
        text: The text.
        unit: CHARACTERS, UTF16 or UTF8.
    """

    def __init__(self, text: str, unit: str) -> None:
        wide = list(_WIDE[unit].finditer(text))
        self._wide = [match.start() for match in wide]
        more = (1 if unit == UTF16 else _count_bytes(match[0]) - 1 for match in wide)
        self._more = [0, *accumulate(more)]
        """How many units more than characters there are before each wide character."""
        self._units = [at + more for at, more in zip(self._wide, self._more, strict=False)]

    def to_units(self, at: int) -> int:
        """Return the units before a character."""
        return at + self._more[bisect_left(self._wide, at)]

    def to_character(self, units: int) -> int:
        """Return the character that begins after some units, or after one that these divide."""
        number = bisect_right(self._units, units - 1)
        at = units - self._more[number]
        return max(at, self._wide[number - 1] + 1) if number else at


def recognise_unit(text: str, quotes: Iterable[TextQuote]) -> str:
    """Return the unit in which quotations with places stand in a text; '' if none does in any.

    Of several units that of the most quotations is returned, and characters before the others.
    """
    known = [quote for quote in quotes if quote.exact and quote.start >= 0]
    found: Counter[str] = Counter()
    for unit in _WIDE:
        if unit == CHARACTERS or _WIDE[unit].search(text):
            places = UnitPlaces(text, unit)
            found[unit] = sum(
                text.startswith(quote.exact, places.to_character(quote.start)) for quote in known
            )
    unit, count = found.most_common(1)[0]
    return unit if count else ""


def _count_bytes(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))
