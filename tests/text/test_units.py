"""Places of a text in characters, UTF-16 units and bytes, and which of them a file counts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.anchoring import TextQuote
from fabula.text.units import CHARACTERS, UTF8, UTF16, UnitPlaces, recognise_unit

ENCODINGS = {CHARACTERS: ("utf-32-le", 4), UTF16: ("utf-16-le", 2), UTF8: ("utf-8", 1)}


@pytest.mark.parametrize("unit", ENCODINGS)
@given(st.text("ab é€𝔎🦢"))
def test_each_place_is_converted_as_the_encoding_has_it(unit: str, text: str) -> None:
    encoding, width = ENCODINGS[unit]
    places = UnitPlaces(text, unit)
    for at in range(len(text) + 1):
        units = len(text[:at].encode(encoding)) // width
        assert places.to_units(at) == units
        assert places.to_character(units) == at
    # A place inside a character is after it.
    found = [places.to_character(units) for units in range(places.to_units(len(text)) + 1)]
    assert all(first <= second for first, second in pairwise(found))


def test_the_unit_of_most_quotations_is_recognised() -> None:
    text = "One 🦢, one é, one lantern and one bell."
    at = text.index("lantern")
    for unit in ENCODINGS:
        start = UnitPlaces(text, unit).to_units(at)
        quotes = [TextQuote("lantern", start=start), TextQuote("geese", start=2), TextQuote("bell")]
        assert recognise_unit(text, quotes) == unit
    assert recognise_unit(text, [TextQuote("lantern", start=1)]) == ""
    assert recognise_unit("plain", [TextQuote("in", start=3)]) == CHARACTERS
