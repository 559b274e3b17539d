"""Find many phrases in one text at once: by a pass over the text, and not a search for each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_STEPS = 300_000_000
"""Of all searches for the annotations of one file, of about 0.1 microseconds each."""
FEW_PHRASES = 16
"""So many phrases are found faster one by one."""
KEY_SIZES = (16, 8, 4, 2, 1)
"""Of the beginnings of phrases that a pass looks for: the longest that a phrase has."""
_SCANNED_IN_A_STEP = 200
"""Characters of a text that a search for one phrase reads in the time of a step."""


class SearchBudget:
    """How much may still be done to find the quotations of one file, and how many it left out.

    It is counted in steps and not in seconds, so that one file has the same result everywhere.
    """

    def __init__(self) -> None:
        self._left = MAX_STEPS
        self.untried = 0
        """Quotations that were not looked for, or not everywhere."""

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be done."""
        return self._left < 0

    def spend(self, steps: int) -> None:
        """Count steps."""
        self._left -= steps


def find_phrases(
    text: str, phrases: Iterable[str], budget: SearchBudget
) -> Mapping[str, Sequence[int]]:
    """Return where each of some phrases begins in a text, in order, also where they overlap.

    A phrase that is empty, or is left when the budget is spent, is found nowhere.
    """
    wanted = {phrase for phrase in phrases if phrase}
    found: dict[str, Sequence[int]] = dict.fromkeys(wanted, ())
    if len(wanted) <= FEW_PHRASES:
        for phrase in wanted:
            found[phrase] = _find_one(text, phrase, budget)
        return found
    by_size: dict[int, dict[str, list[str]]] = {}
    for phrase in wanted:
        size = next(size for size in KEY_SIZES if size <= len(phrase))
        by_size.setdefault(size, {}).setdefault(phrase[:size], []).append(phrase)
    for size, keys in by_size.items():
        for phrase, at in _scan(text, size, keys, budget):
            # Most of many phrases are found nowhere: they share what is empty.
            places = found[phrase] or array("L")
            assert isinstance(places, array)
            places.append(at)
            found[phrase] = places
    return found


def _scan(
    text: str, size: int, keys: Mapping[str, Sequence[str]], budget: SearchBudget
) -> Iterator[tuple[str, int]]:
    """Yield phrases and where they begin, by their first `size` characters, in one pass."""
    budget.spend(len(text))
    for at in range(len(text) - size + 1):
        if budget.is_spent:
            break
        if (key := text[at : at + size]) in keys:
            budget.spend(len(keys[key]))
            yield from ((phrase, at) for phrase in keys[key] if text.startswith(phrase, at))


def _find_one(text: str, phrase: str, budget: SearchBudget) -> Sequence[int]:
    places = array("L")
    budget.spend(len(text) // _SCANNED_IN_A_STEP + 1)
    at = -1 if budget.is_spent else text.find(phrase)
    while at >= 0 and not budget.is_spent:
        places.append(at)
        budget.spend(1)
        at = text.find(phrase, at + 1)
    return places
