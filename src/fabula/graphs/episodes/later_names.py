"""Find names in a summary that its text prints only after the summarised stretch.

A model that knows a famous book may name in the summary of an early chapter who comes in later.
"""

from __future__ import annotations

import re

from fabula.text.sentences import sentences

WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
UNCHECKED = frozenset({"de", "lb"})
"""Languages in which every noun has a capital letter, so that a capital shows no name."""
MIN_STEM = 3
MAX_ENDING = 3
"""Letters that an ending of a name may have in languages that inflect names."""


def find_later_names(summary: str, text: str, end: int, language: str) -> list[str]:
    """Return the names of a summary that its text prints, but only after character `end`.

    A name is a word with a capital letter that does not begin a sentence, and that the text never
    prints in lower case. What the text does not print is no finding of this check: it may be a word
    of the summary's own. In languages other than English another form of the name before `end` will
    do, as names are inflected there.
    """
    if language in UNCHECKED:
        return []
    later: list[str] = []
    for sentence in sentences(summary, language):
        words = [match[0] for match in WORD.finditer(sentence)][1:]
        for word in dict.fromkeys(words):
            name = re.sub(r"['’]s$", "", word)
            if not name[:1].isupper() or len(name) < MIN_STEM or name in later:
                continue
            first = _find(name, text)
            if first is None or first < end or _find(name.lower(), text) is not None:
                continue
            if not _is_inflected(name, text, end, language):
                later.append(name)
    return later


def drop_sentences_with(names: list[str], summary: str, language: str) -> str:
    """Return a summary without the sentences that have one of the names."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    kept = [sentence.strip() for sentence in sentences(summary, language)]
    return " ".join(sentence for sentence in kept if not pattern.search(sentence))


def _find(word: str, text: str) -> int | None:
    """Return where a text first prints a word in just this form; None if nowhere."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return match.start() if match else None


def _is_inflected(name: str, text: str, end: int, language: str) -> bool:
    """Return whether the text prints another form of a name before a character."""
    if language == "en":
        return False
    stem = re.escape(name[: max(MIN_STEM, len(name) - MAX_ENDING)])
    form = re.compile(rf"(?<!\w){stem}\w{{0,{2 * MAX_ENDING}}}")
    return form.search(text, 0, end) is not None
