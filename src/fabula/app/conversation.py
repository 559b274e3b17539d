"""A conversation: questions that lean on what was asked and answered before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from fabula.ask.answer import CITED, Answer, AnswerStream
from fabula.models import Turn
from fabula.text import tokens

if TYPE_CHECKING:
    from fabula.app.asking import Asked
    from fabula.app.collection import Collection


class Conversation:
    """Questions to a collection, each asked with those before it and their answers.

    Made by `Collection.chat`. `given` are fields of a Query that hold for all questions, and may be
    changed between two. For one thread.
    """

    def __init__(self, collection: Collection, given: Asked) -> None:
        self.collection = collection
        self.given = given
        self._streams: list[AnswerStream] = []

    def ask(self, question: str, **given: Unpack[Asked]) -> Answer:
        """The whole answer, with the passages it cites; takes what `Collection.query` takes."""
        return self.stream(question, **given).answer

    def stream(self, question: str, **given: Unpack[Asked]) -> AnswerStream:
        """An answer as it is written. What is read of it is part of the conversation."""
        asked: Asked = {**self.given, **given}
        stream = self.collection.stream(question, history=self.history, **asked)
        self._streams.append(stream)
        return stream

    @property
    def history(self) -> list[Turn]:
        """What was said, in order; where a model failed, nothing was."""
        return [Turn(one.question, one.said) for one in self._streams if one.said]

    @property
    def answers(self) -> list[Answer]:
        """The answers, in order; reads what has not been read of them."""
        return [one.answer for one in self._streams if one.said]

    def forget(self) -> None:
        """Begins anew: the next question leans on nothing."""
        self._streams.clear()


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
