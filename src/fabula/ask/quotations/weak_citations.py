"""Find citations whose passage has nothing to do with the sentence that cites it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from fabula.ask.answer import CITATION
from fabula.ask.quotations.checked import WeakCitation
from fabula.ask.quotations.passage_quotes import find_names
from fabula.graph.hits import Passage
from fabula.text.folding import fold, search_words
from fabula.text.sentences import spans
from fabula.text.stems import guess_language, stemmer_of

MIN_CONTENT_WORDS = 2
"""A sentence with fewer content words may well say in other words what its passage does."""
MIN_NAME_LETTERS = 4
MAX_NAME_ENDING = 2
"""Letters at the end of a name that may differ: Tadeusz and Tadeusza, Scrooge and Scrooge's."""
_CITATIONS = re.compile(rf"\s*(?:{CITATION.pattern}[\s.,;]*)+")


def find_weak_citations(text: str, context: Sequence[Passage]) -> list[WeakCitation]:
    """Return the citations of an answer whose passage does not bear their sentence.

    A passage bears a sentence if it has one of its content words, by their stems, or one of its
    names or numbers. If the answer is in another language than the passage, names and numbers count
    alone; of a sentence without any, and of a passage in another script, nothing is said.

    Args:
        text: The answer.
        context: The passages that it cites by their numbers.
    """
    passages = {passage.number: passage for passage in context}
    language = guess_language(CITATION.sub("", text))
    weak = []
    for start, end in _sentences(text, language):
        citations = list(CITATION.finditer(text, start, end))
        sentence = " ".join(CITATION.sub(" ", text[start:end]).split())
        for citation in citations:
            for number in map(int, re.findall(r"\d+", citation[0])):
                passage = passages.get(number)
                if passage and not _bears(passage, sentence, language):
                    weak.append(WeakCitation(number, sentence, citation.start(), citation.end()))
    return weak


def _sentences(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of an answer, each with the citations right behind it."""
    sentences: list[tuple[int, int]] = []
    for first, end in spans(text, language):
        # A citation often follows the full stop of its sentence.
        behind = _CITATIONS.match(text, first, end) if sentences else None
        start = behind.end() if behind else first
        if behind:
            sentences[-1] = (sentences[-1][0], start)
        if text[start:end].strip():
            sentences.append((start, end))
    yield from sentences


def _bears(passage: Passage, sentence: str, language: str) -> bool:
    """Return whether a passage bears a sentence, or whether that can't be told."""
    text = f"{passage.hit.title} {passage.hit.section} {passage.hit.text}"
    own = passage.hit.language
    for each in {own, language}:
        terms = set(stemmer_of(each).search_terms(sentence))
        if not terms.isdisjoint(stemmer_of(each).search_terms(text)):
            return True
    is_same_language = own == language or (not language and own != "en")
    if is_same_language and len(set(stemmer_of(own).search_terms(sentence))) >= MIN_CONTENT_WORDS:
        return _shares_name(_names(sentence, own), text)
    names = _names(sentence, language)
    if not names or _script("".join(names)) != _script(text):
        return True
    return _shares_name(names, text)


def _names(sentence: str, language: str) -> list[str]:
    """Return the folded names and numbers of a sentence, without what begins it."""
    return [word for name in find_names(sentence, language) for word in search_words(name)]


def _shares_name(names: Sequence[str], text: str) -> bool:
    words = set(search_words(text))
    for name in names:
        if name in words:
            return True
        if len(name) < MIN_NAME_LETTERS:
            continue
        stem = name[: max(MIN_NAME_LETTERS, len(name) - MAX_NAME_ENDING)]
        if any(word.startswith(stem) and len(word) <= len(name) + 3 for word in words):
            return True
    return False


def _script(text: str) -> str:
    """Return the script of most letters, as LATIN; '' if there are none."""
    counts: dict[str, int] = {}
    for letter in fold(text)[:2000]:
        if letter.isalpha():
            script = unicodedata.name(letter, "").partition(" ")[0]
            counts[script] = counts.get(script, 0) + 1
    return max(counts, key=lambda script: counts[script], default="")
