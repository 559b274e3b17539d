"""As much of a conversation as a prompt has room for."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ask.answer import CITED
from fabula.models import Turn
from fabula.text import tokens


def latest(history: Sequence[Turn], budget: int) -> list[Turn]:
    """The last turns, in order, of at most `budget` tokens together; the last one's answer is cut.

    Citations are left out: their numbers are those of other passages.
    """
    kept: list[Turn] = []
    for turn in reversed(history):
        question, answer = turn.question, CITED.sub("", turn.answer)
        cost = tokens.count(question) + tokens.count(answer)
        if cost > budget and not kept:
            question = tokens.cut(question, budget)
            answer = tokens.cut(answer, budget - tokens.count(question))
            cost = budget
        if cost > budget or not question:
            break
        budget -= cost
        kept.append(Turn(question, answer))
    return kept[::-1]
