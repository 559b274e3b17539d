"""The letters of the font Symbol, which old documents use for Greek."""

from __future__ import annotations

_CAPITALS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SMALL = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
SYMBOL_LETTERS = {
    **dict(zip(range(ord("A"), ord("Z") + 1), _CAPITALS, strict=True)),
    **dict(zip(range(ord("a"), ord("z") + 1), _SMALL, strict=True)),
}
"""The letters by their places in the font."""
