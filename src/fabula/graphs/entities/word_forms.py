"""Whether two names are other cases of one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rapidfuzz.distance import Prefix

from fabula.graphs.entities.words import words_of

MIN_STEM, MIN_STEM_OF_SEVERAL = 4, 3
"""Letters before a case ending in a name of one word, and in one of several."""
_SOFT_LETTERS = {"ć": "ci", "ś": "si", "ź": "zi", "ń": "ni"}
_SOFT = re.compile("[ćśźń](?=k)")


def beginnings(name: str) -> tuple[str, ...]:
    """Return what two keys have in common if they are case forms of one name."""
    return tuple(_soften(word)[:MIN_STEM_OF_SEVERAL] for word in name.split())


def count_common_letters(first: str, second: str) -> int:
    """Return how many letters two words begin with alike."""
    return int(Prefix.similarity(first, second))


def is_inflected(first: str, second: str, language: str) -> bool:
    """Return whether two keys may be case forms of one name, by the endings of their words."""
    words, other_words = first.split(), second.split()
    if first == second or len(words) != len(other_words):
        return False
    min_stem = MIN_STEM if len(words) == 1 else MIN_STEM_OF_SEVERAL
    paradigms = words_of(language).paradigms
    return all(
        word == other or _has_common_stem(word, other, min_stem, paradigms)
        for word, other in zip(words, other_words, strict=True)
    )


def find_nominative(counts: dict[str, int], language: str) -> str:
    """Return the key from which the endings of a language make most uses of the others.

    Where none makes another, it is the commonest. `counts` has the keys of case forms of one name
    with how often each is printed, the commonest first.
    """
    explained = {
        base: sum(count for key, count in counts.items() if _is_base(base, key, language))
        for base in counts
    }
    best = max(counts, key=lambda key: (explained[key] + counts[key], counts[key]))
    return best if explained[best] else next(iter(counts))


def _has_common_stem(
    word: str, other: str, min_stem: int, paradigms: Collection[Sequence[str]]
) -> bool:
    """Whether two words are one stem with endings of one paradigm."""
    word, other = _soften(word), _soften(other)
    return any(
        word[cut:] in paradigm and other[cut:] in paradigm
        for cut in range(MIN_STEM_OF_SEVERAL, count_common_letters(word, other) + 1)
        # Endings of two letters and more say more than short ones: Jacek, Jacka.
        if cut >= min_stem or min(len(word), len(other)) >= cut + 2
        for paradigm in paradigms
    )


def _is_base(name: str, other_name: str, language: str) -> bool:
    """Whether the first of two case forms has the ending of the nominative, the other another."""
    pairs = [
        (_soften(word), _soften(other))
        for word, other in zip(name.split(), other_name.split(), strict=True)
    ]
    return name != other_name and all(
        word == other
        or any(
            word[cut:] == paradigm[0] and other[cut:] in paradigm[1:]
            for cut in range(count_common_letters(word, other) + 1)
            for paradigm in words_of(language).paradigms
        )
        for word, other in pairs
    )


def _soften(word: str) -> str:
    """A Polish word with its soft consonants before k written as before vowels: Maćka, Maciek."""
    return _SOFT.sub(lambda match: _SOFT_LETTERS[match[0]], word)
