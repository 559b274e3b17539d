"""Ask a judging model: judge statements, rate passages, compare answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fabula.errors import BadReply, first_problem
from fabula.models import Chat, Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import ask, read_as, read_object
from fabula.text import tokens
from fabula.text.sentences import sentences

FOLDER = Path(__file__).parent / "prompts"
RATINGS = 2
"""The best rating; the worst is 0."""
VERDICT_TOKENS = 120
"""Room for one verdict and its reason."""
USUAL_REASON = "The text says so in its second passage, in nearly the same words."
"""About as long as a judge's reason, for a dry run."""

_RATING = re.compile(r'"rating"\s*:\s*([012])\b|\A\W*([012])\W*\Z')


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StatementsReply(_Reply):
    """The statements of a text."""

    statements: list[str]


class Verdict(_Reply):
    """Whether the statement of that number holds, after the reason why."""

    statement: int
    reason: str
    holds: bool


class VerdictsReply(_Reply):
    """A verdict on each statement."""

    verdicts: list[Verdict]


Shape = TypeVar("Shape", bound=BaseModel)
Winner = Literal["first", "second", "tie"]


class WinnerReply(_Reply):
    """Which of two answers is better, after the reason why."""

    reason: str
    winner: Winner


class QuestionsReply(_Reply):
    """Questions that an answer answers, and whether it is evasive."""

    questions: list[str]
    evasive: bool


class RatingReply(_Reply):
    """A rating of passages."""

    rating: Literal[0, 1, 2]


def split_statements(chat: Chat, question: str, answer: str) -> list[str]:
    """Return the statements of an answer, without duplicates. May raise ModelError."""
    request = _prompt(
        "split",
        {"question": question, "answer": answer},
        StatementsReply,
        200 + 3 * tokens.count(answer),
        lambda: StatementsReply(statements=sentences(answer, "en")),
    )
    return ask(chat, request, _read_statements)


def judge_statements(chat: Chat, name: str, count: int, **values: str) -> list[bool]:
    """Judge whether each of `count` numbered statements in a prompt holds. May raise ModelError."""
    request = _prompt(
        *(name, values, VerdictsReply, 200 + VERDICT_TOKENS * count),
        lambda: VerdictsReply(
            verdicts=[
                Verdict(statement=number, reason=USUAL_REASON, holds=True)
                for number in range(1, count + 1)
            ]
        ),
    )
    return ask(chat, request, lambda reply: _read_verdicts(reply, count))


def rate_passages(chat: Chat, question: str, passages: str, sample: int) -> int:
    """Rate how well passages serve a question, 0 to RATINGS; each sample is a call of its own."""
    values = {"question": question, "passages": passages}
    request = _prompt("relevance", values, RatingReply, 100, lambda: RatingReply(rating=1))
    request = replace(request, sample=sample)
    return ask(chat, request, _read_rating)


def choose_winner(chat: Chat, question: str, criterion: str, first: str, second: str) -> Winner:
    """Return which of two answers is better by a criterion. May raise ModelError."""
    values = {"question": question, "criterion": criterion, "first": first, "second": second}
    request = _prompt(
        *("winner", values, WinnerReply, VERDICT_TOKENS),
        lambda: WinnerReply(reason=USUAL_REASON, winner="tie"),
    )
    return ask(chat, request, lambda reply: _read_shape(reply, WinnerReply).winner)


def derive_questions(chat: Chat, answer: str) -> tuple[list[str], bool]:
    """Return questions that an answer answers, and whether it is evasive. May raise ModelError."""
    request = _prompt(
        *("asked", {"answer": answer}, QuestionsReply, 400),
        lambda: QuestionsReply(questions=[USUAL_REASON] * 3, evasive=False),
    )
    return ask(chat, request, _read_questions)


def number_lines(texts: Sequence[str], first: int = 1) -> str:
    """Return the texts on numbered lines."""
    lines = (f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, first))
    return "\n".join(lines)


def _prompt(
    name: str,
    values: Mapping[str, str],
    schema: type[BaseModel],
    max_tokens: int,
    usual: Callable[[], BaseModel],
) -> Prompt:
    """Return the prompt of a name; `usual` makes the reply that a dry run assumes."""
    return Prompt(
        system=fill_template(FOLDER / f"{name}_system.txt"),
        user=fill_template(FOLDER / f"{name}.txt", **values),
        max_tokens=max_tokens,
        temperature=0,
        schema=schema,
        placeholder=lambda: usual().model_dump_json(),
    )


def _read_statements(reply: str) -> list[str]:
    texts = (" ".join(text.split()) for text in read_as(reply, StatementsReply).statements)
    return list(dict.fromkeys(text for text in texts if text))


def _read_shape(reply: str, shape: type[Shape]) -> Shape:
    """Return a reply of several fields. Raises BadReply if it has another shape."""
    try:
        return shape.model_validate(read_object(reply))
    except ValidationError as error:
        raise BadReply(f"That is not the JSON asked for: {first_problem(error)}.") from error


def _read_questions(reply: str) -> tuple[list[str], bool]:
    read = _read_shape(reply, QuestionsReply)
    questions = [question for question in read.questions if question.strip()]
    if not questions:
        raise BadReply("There are no questions.")
    return questions, read.evasive


def _read_verdicts(reply: str, count: int) -> list[bool]:
    verdicts = read_as(reply, VerdictsReply).verdicts
    if sorted(verdict.statement for verdict in verdicts) != list(range(1, count + 1)):
        raise BadReply(f"There is not one verdict on each of the statements 1 to {count}.")
    return [verdict.holds for verdict in sorted(verdicts, key=lambda verdict: verdict.statement)]


def _read_rating(reply: str) -> int:
    match = _RATING.search(reply)
    if not match:
        raise BadReply('Expected {"rating": 0}, or 1, or 2.')
    return int(match[1] or match[2])
