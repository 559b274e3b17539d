"""Where a text prints names: exactly as given, or else in any case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from fabula.text.document import Chunk

Printed = list[dict[str, list[int]]]
"""For each of some chunks: the forms that it prints, and for each form the characters of the
document at which it begins."""

_APOSTROPHES, _HYPHENS = "'’‘ʼ`", "-‐‑–"
_ONE_FOR_ALL = str.maketrans(
    {letter: variants[0] for variants in (_APOSTROPHES, _HYPHENS) for letter in variants}
)
_SOLID = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no space between words, so that a name may begin and end anywhere."""


def printed_key(name: str) -> str:
    """Return a name as printed forms are compared.

    It is composed, in lower case, on one line, and has one apostrophe and one hyphen for all.
    """
    composed = unicodedata.normalize("NFC", name).casefold()
    return " ".join(composed.split()).translate(_ONE_FOR_ALL)


def find_printed(names: Collection[str], chunks: Sequence[Chunk]) -> dict[str, Printed]:
    """Find where chunks print names.

    Of names within each other the longer one is found, as it begins earlier or ends later. A name
    that no chunk prints as it is given (a line's end for a space aside) is looked for in any case:
    a model may write "The Mill" for "the mill", while "Will" must not be found in "will".

    Returns:
        What each chunk prints, by the `printed_key` of the name; names that are printed nowhere
        are left out.
    """
    exact = _search(names, chunks, 0)
    missing = [name for name in names if not any(exact.get(printed_key(name), ()))]
    loose = _search(missing, chunks, re.IGNORECASE) if missing else {}
    return loose | exact


def _search(names: Iterable[str], chunks: Sequence[Chunk], flags: int) -> dict[str, Printed]:
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    if not longest_first:
        return {}
    pattern = re.compile("|".join(map(_pattern, longest_first)), flags)
    places: dict[str, Printed] = {}
    for row, chunk in enumerate(chunks):
        for match in pattern.finditer(chunk.text):
            form = " ".join(match[0].split())
            by_chunk = places.setdefault(printed_key(form), [{} for _ in chunks])
            by_chunk[row].setdefault(form, []).append(chunk.start + match.start())
    return {name: places[name] for name in map(printed_key, longest_first) if name in places}


def _pattern(name: str) -> str:
    """What matches a name as print has it: lines end in it, apostrophes and hyphens vary."""
    words = r"\s+".join("".join(map(_letter, word)) for word in name.split())
    return words if _SOLID.search(name) else rf"(?<!\w){words}(?!\w)"


def _letter(letter: str) -> str:
    for variants in (_APOSTROPHES, _HYPHENS):
        if letter in variants:
            return f"[{re.escape(variants)}]"
    return re.escape(letter)
