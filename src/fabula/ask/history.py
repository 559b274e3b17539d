"""Cut a conversation to what a prompt has room for."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.ask.answer import CITATION
from fabula.models import Turn
from fabula.text import tokens


def latest_turns(history: Sequence[Turn], budget: int) -> list[Turn]:
    """Return the last turns, in order, that have at most `budget` tokens together.

    If the very last turn is longer, its answer is cut. Citations are left out: their numbers would
    be taken for those of other passages.
    """
    turns: list[Turn] = []
    for turn in reversed(history):
        question, answer = turn.question, CITATION.sub("", turn.answer)
        cost = tokens.count(question) + tokens.count(answer)
        if cost > budget and not turns:
            question = tokens.cut(question, budget)
            answer = tokens.cut(answer, budget - tokens.count(question))
            cost = budget
        if cost > budget or not question:
            break
        budget -= cost
        turns.append(Turn(question, answer))
    return turns[::-1]
