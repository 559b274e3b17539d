"""Write tokens as natural text, and keep where each token stands in it.

LitBank prints its passages as tokens between spaces, one sentence a line ("Do n't"), and loses the
paragraphs. Fabula reads books as they are printed, so it has to be measured on natural text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_NO_SPACE_BEFORE = frozenset((*",.:;?!)]’”", "...", "n't", "n’t"))
_NO_SPACE_AFTER = frozenset("([“‘")
_JOINED_DASHES = frozenset(("--", "—", "----"))
_CLOSING = frozenset(("”", "’", '"', "'"))
_SHORTENED = frozenset(("'em", "'T", "'t", "'n", "’n’", "'ee"))
"""Tokens that begin with an apostrophe and are words of their own: not the end of one before."""


@dataclass(frozen=True, slots=True)
class NaturalText:
    """A text and, for each token, its first character and the one after its last."""

    text: str
    spans: tuple[tuple[int, int], ...]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the characters from a token to another, both included."""
        return self.spans[first][0], self.spans[last][1]


def detokenise(sentences: Sequence[Sequence[str]]) -> NaturalText:
    """Write sentences of tokens as natural text.

    Where a quotation ends and the next begins at once, a new paragraph begins, as in print. An
    undirected quotation mark that begins a sentence opens a quotation, one that ends a sentence
    closes it, and within a sentence they alternate.
    """
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    open_marks: set[str] = set()
    previous, is_glued, was_closed = "", True, False
    for sentence in sentences:
        for at, token in enumerate(sentence):
            kind = _kind(token, at, sentence, open_marks)
            if kind in ("close", "inner") or (kind == "word" and _belongs_to_word_before(token)):
                space = ""
            elif was_closed and kind == "open" and at == 0:
                space = "\n\n"
            elif was_closed and kind == "open":
                space = "\n\n" if token == previous or token in "“‘" else " "
            elif is_glued or token in _JOINED_DASHES:
                space = ""
            else:
                space = " "
            if not pieces:
                space = ""
            pieces += (space, token)
            length += len(space)
            spans.append((length, length + len(token)))
            length += len(token)
            is_glued = kind in ("open", "inner") or token in _JOINED_DASHES
            was_closed = kind == "close" and token in _CLOSING
            previous = token
    return NaturalText("".join(pieces), tuple(spans))


def _kind(token: str, at: int, sentence: Sequence[str], open_marks: set[str]) -> str:
    """Return open, close, inner (an apostrophe within a word), or word."""
    if token in _NO_SPACE_AFTER:
        return "open"
    if token in ('"', "'"):
        return _kind_of_undirected(token, at, sentence, open_marks)
    return "close" if token in _NO_SPACE_BEFORE else "word"


def _kind_of_undirected(token: str, at: int, sentence: Sequence[str], open_marks: set[str]) -> str:
    before = sentence[at - 1] if at else ""
    after = sentence[at + 1] if at + 1 < len(sentence) else ""
    if token == "'" and before[-1:].isalpha() and token not in open_marks:
        others = sentence[at + 1 :].count(token)
        if before.endswith(("s", "S")) or others % 2 == 0:
            is_short = len(before) < 3 and after[:1].islower()
            return "inner" if is_short else "close"
    is_open = (at == 0 and after != "") or (token not in open_marks and after != "")
    if is_open:
        open_marks.add(token)
        return "open"
    open_marks.discard(token)
    return "close"


def _belongs_to_word_before(token: str) -> bool:
    return len(token) > 1 and token[0] in "'’" and token not in _SHORTENED
