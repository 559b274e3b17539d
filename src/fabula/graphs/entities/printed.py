"""Where a text prints names: exactly as they are given, or where it has none, in any case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from fabula.text.document import Chunk

Printed = list[dict[str, list[int]]]
"""For each of some chunks the forms that it prints, with the characters of the document at which
they begin."""

_APOSTROPHES, _HYPHENS = "'’‘ʼ`", "-‐‑–"
_SOLID = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no space between words, so that a name may begin and end anywhere."""


def plain(name: str) -> str:
    """A name as forms are compared: composed, in lower case, on one line."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def find_printed(names: Collection[str], chunks: Sequence[Chunk]) -> dict[str, Printed]:
    """Where each of the names, by `plain` ones, is printed: one mapping a chunk.

    Of names within each other the longer one is found, as it begins earlier or ends later. A name
    that no chunk prints just so, be it a line's end for a space, is looked for in any case: a
    model may write "The Mill" for "the mill", and "Will" is not to be found in "will".
    """
    exact = _found(names, chunks, 0)
    missing = [name for name in names if not any(exact.get(plain(name), ()))]
    loose = _found(missing, chunks, re.IGNORECASE) if missing else {}
    return loose | exact


def _found(names: Iterable[str], chunks: Sequence[Chunk], flags: int) -> dict[str, Printed]:
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    if not longest_first:
        return {}
    pattern = re.compile("|".join(map(_pattern, longest_first)), flags)
    found: dict[str, Printed] = {}
    for row, chunk in enumerate(chunks):
        for match in pattern.finditer(chunk.text):
            form = " ".join(match[0].split())
            by_chunk = found.setdefault(_same(form), [{} for _ in chunks])
            by_chunk[row].setdefault(form, []).append(chunk.start + match.start())
    return {plain(name): found[_same(name)] for name in longest_first if _same(name) in found}


def _same(name: str) -> str:
    """A name with one apostrophe and one hyphen for all."""
    told = plain(name)
    for variants in (_APOSTROPHES, _HYPHENS):
        told = re.sub(f"[{re.escape(variants)}]", variants[0], told)
    return told


def _pattern(name: str) -> str:
    """What matches a name as print has it: lines end in it, apostrophes and hyphens vary."""
    words = r"\s+".join("".join(map(_letter, word)) for word in name.split())
    return words if _SOLID.search(name) else rf"(?<!\w){words}(?!\w)"


def _letter(letter: str) -> str:
    for variants in (_APOSTROPHES, _HYPHENS):
        if letter in variants:
            return f"[{re.escape(variants)}]"
    return re.escape(letter)
