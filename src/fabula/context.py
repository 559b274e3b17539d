"""What an answer is given to read: the hits' sentences, each once, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from fabula import tokens
from fabula.model import Hit, Passage
from fabula.sentences import spans


def fill(hits: Sequence[Hit], budget: int) -> list[Passage]:
    """The hits' texts, best first, in whole sentences of at most `budget` tokens together.

    No sentence comes twice: measured, repeats between a chunk, its details and its summaries
    turn the tree's gain into a loss. A hit that adds no sentence is left out. The first sentence
    that does not fit ends the context: whole sentences of the best passages, not scraps of more.
    Only where the very first does not, it is cut.
    """
    said: set[str] = set()
    context: list[Passage] = []
    for hit in hits:
        kept: list[str] = []
        for start, end in spans(hit.text, hit.language):
            sentence = hit.text[start:end]
            key = " ".join(sentence.casefold().split())
            if not key or key in said:
                continue
            cost = tokens.count(sentence)
            if cost > budget:
                if not context and not kept:
                    kept = [tokens.cut(sentence, budget)]
                return _with(context, hit, kept)
            said.add(key)
            budget -= cost
            kept.append(sentence)
        context = _with(context, hit, kept)
    return context


def _with(context: list[Passage], hit: Hit, kept: list[str]) -> list[Passage]:
    # Sentences keep the white space after them, so that paragraphs stay paragraphs.
    text = "".join(kept).strip()
    return [*context, Passage(len(context) + 1, hit, text)] if text else context
