"""Whether one of two names is the other, misspelt."""

from __future__ import annotations

from rapidfuzz.distance import DamerauLevenshtein

MIN_LETTERS_ONE_WRONG, MIN_LETTERS_TWO_WRONG = 5, 9
"""Letters of a word in which one letter may be wrong, and two letters."""


def misspelt_by(name: str, other_name: str) -> int:
    """Return by how many letters two keys differ, if one of them may be a misspelling.

    A difference is a letter too few, one too many, a wrong one, or two exchanged (Damerau 1964).

    Returns:
        The number of letters; 0 where the names differ in several words, or are two names.
    """
    pairs = zip(name.split(), other_name.split(), strict=True)
    different = [pair for pair in pairs if pair[0] != pair[1]]
    if len(different) != 1:
        return 0
    [(first, second)] = different
    most = min(most_letters(first), most_letters(second))
    distance = DamerauLevenshtein.distance(first, second, score_cutoff=most) if most else 1
    is_word = (first + second).isalpha()
    # The Cratchits are more than one Cratchit, and Elizabethan is no Elizabeth.
    is_derived = first.startswith(second) or second.startswith(first)
    return distance if distance <= most and is_word and not is_derived else 0


def most_letters(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    if len(word) < MIN_LETTERS_ONE_WRONG:
        return 0
    return 1 if len(word) < MIN_LETTERS_TWO_WRONG else 2
