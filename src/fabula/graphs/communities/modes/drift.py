"""Microsoft's DRIFT: what reports say opens questions, which are looked up in the text by turns.

microsoft/graphrag, read at 6dad6d2. Its code draws the report that shows the form, and the
questions of a round, at random, and asks again and again what it can't read the answer of; here the
report is the nearest one, the questions are ranked and none comes twice in other words, and each
costs one call of a budget. So the same question takes the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from pydantic import BaseModel, ConfigDict, Field

from fabula.ask.answer import shown
from fabula.ask.context import fill
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Mode, Pieces, Tools
from fabula.graphs.communities.finding import (
    AskedReport,
    Scope,
    at_level,
    by_cosine,
    embed,
    fall_back,
    read_reports,
)
from fabula.graphs.communities.points import (
    BEST,
    PROMPTS,
    TRIES,
    WORDS,
    Cites,
    Point,
    print_report,
    print_reports,
    rank_points,
    read_score,
    reduce,
)
from fabula.graphs.entities.finding import allows_report
from fabula.graphs.entities.modes import local
from fabula.graphs.entities.records import read_line, read_list
from fabula.models import Prompt
from fabula.models.prompts import filled
from fabula.models.replies import ask, ask_once, read_object, read_summary, said, shortened
from fabula.text.document import Vector

LOCAL = local.Knobs(report_share=0.1, entity_share=0.0, relation_share=0.0)
"""How a follow-up is looked up: in chunks, and a few reports."""
SAME = 0.9
"""Cosine from which on two follow-ups are one."""
LEAST, MOST = 5, 10
"""Follow-ups that the primer is asked for, and that are taken of one reply."""
RESPONSE_TOKENS = 2000
"""What is taken of the response of one reply, at most."""
LONGEST = 500
"""Characters of a follow-up; what is longer is no question."""


class Knobs(BaseModel):
    """How far a question is followed up, and how long an answer is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scope: Scope = Field(
        "document", description="reports of each document, or the collection's own"
    )
    level: int = Field(2, ge=0, le=99, description="level of the reports: 0 is the coarsest")
    reports: int = Field(20, ge=1, le=1000, description="reports that the first calls read")
    folds: int = Field(5, ge=1, le=100, description="calls that read them, side by side")
    rounds: int = Field(3, ge=1, le=20, description="rounds of follow-up questions")
    calls: int = Field(
        20, ge=0, le=100, description="follow-up questions in all rounds, a call each"
    )
    reply_words: int = Field(300, ge=20, le=5000, description="words of the answer to one of them")
    point_tokens: int = Field(
        12_000, ge=1, le=200_000, description="most tokens of these that the answer is made of"
    )
    words: int = Field(2000, ge=20, le=10_000, description="most words of the answer")


class StepReply(BaseModel):
    """What a step found, and what it would have looked up next."""

    model_config = ConfigDict(extra="forbid")

    response: str
    score: int
    follow_up_queries: list[str]


@dataclass(frozen=True, slots=True)
class Found:
    """What a step found, and the questions that it opens."""

    point: Point
    follow_ups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question that was opened: its embedding, and how much its answer may help, 0 to 1."""

    text: str
    vector: Vector = field(compare=False)
    rank: float


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The chunks that the question itself leads to, as a follow-up would; no model is asked."""
    if not read_reports(filters, tools):
        return fall_back(question, filters, tools)
    return _look_up(question, filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """An answer from what the reports say, and the text to the questions that they open."""
    if tools.models.offline:
        return None
    reports = [
        one
        for one in at_level(read_reports(filters, tools), tools.knobs.level)
        if allows_report(filters, one.hit.level)
    ]
    return _explored(question, reports, context, filters, tools) if reports else None


def _explored(
    question: str,
    reports: Sequence[AskedReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    [vector] = embed([question], tools)
    nearest = _prime(question, vector, reports, filters, tools)
    primed = read_folds(question, nearest, tools)

    def look_up(text: str) -> list[Passage]:
        return fill(_look_up(text, filters, tools), tools.tokens)

    found = primed + follow_up(question, vector, primed, look_up, tools)
    yield from reduce(question, rank_points([helping(found)]), context, filters, tools)


def helping(found: Sequence[Found]) -> list[Point]:
    """What steps found that helps at all, as they come."""
    return [one.point for one in found if one.point.score and one.point.text]


# The primer


def _prime(
    question: str, vector: Vector, reports: Sequence[AskedReport], filters: Filters, tools: Tools
) -> list[AskedReport]:
    """The reports nearest to an answer that a model makes up, in the form of the nearest one."""
    with tools.path.step("hypothesis") as step:
        form, *_ = by_cosine(vector, reports, filters, tools) or reports
        asked = Prompt(
            system=filled(PROMPTS / "hypothesis_system.txt"),
            user=filled(
                PROMPTS / "hypothesis.txt", question=question, report=print_report(form, 1)
            ),
            max_tokens=1000,
            temperature=0,
        )
        supposed = question
        try:
            supposed = read_summary(said(tools.models.chat("model", "primer"), asked))
            step.note = f"in the form of {form.title}"
        except BadReply as error:
            step.note = f"the question alone, as the model's reply is of no use: {error}"
    [near] = embed([supposed], tools)
    with tools.path.step("primer", "reports by cosine") as step:
        nearest = by_cosine(near, reports, filters, tools)
        kept = nearest[: tools.knobs.reports]
        step.found([one.hit for one in nearest], [one.hit for one in kept])
    return kept


def read_folds(question: str, reports: Sequence[AskedReport], tools: Tools) -> list[Found]:
    """What the reports say, a call for each fold of them, side by side."""
    size = max(1, math.ceil(len(reports) / tools.knobs.folds))
    folds = [reports[start : start + size] for start in range(0, len(reports), size)]
    chat = tools.models.chat("model", "primer")

    def read(fold: Sequence[AskedReport]) -> Found | BadReply:
        listed, cites = print_reports(fold)
        asked = _prompt("primer", tools, reports=listed, question=question, least=LEAST)
        try:
            return ask(chat, asked, lambda reply: read_step(reply, cites), TRIES)
        except BadReply as error:
            return error

    with tools.path.step("folds") as step:
        replies = tools.each(read, folds)
        step.note = _told(replies, "fold")
    return [one for one in replies if isinstance(one, Found)]


# The follow-ups


def follow_up(
    question: str,
    vector: Vector,
    primed: Sequence[Found],
    look_up: Callable[[str], list[Passage]],
    tools: Tools,
) -> list[Found]:
    """What the text says to the questions that the primer opens, and to those that these open.

    A call each, as many as the budget has, shared over rounds. It ends early where a round reads no
    chunk that was not read before. Where the primer failed, the question itself is looked up.
    """
    knobs = tools.knobs
    score = sum(one.point.score for one in primed) / len(primed) if primed else BEST
    texts = [text for one in primed for text in one.follow_ups] or [question]
    open_ = _ranked([(text, score) for text in texts], vector, tools)
    found: list[Found] = []
    asked: list[FollowUp] = []
    seen: set[str] = set()
    for turn in range(knobs.rounds):
        share = math.ceil((knobs.calls - len(asked)) / (knobs.rounds - turn))
        chosen, open_ = choose(open_, asked, share)
        if not chosen:
            break
        asked += chosen
        replies, read = _ask_round(question, [one.text for one in chosen], look_up, tools)
        found += replies
        if read <= seen:
            break
        seen |= read
        told = [(text, float(one.point.score)) for one in replies for text in one.follow_ups]
        open_ += _ranked(told, vector, tools)
    return found


def _ranked(told: Sequence[tuple[str, float]], vector: Vector, tools: Tools) -> list[FollowUp]:
    """Questions, each with the score of what opened it, by how near they are to the first one."""
    best: dict[str, float] = {}
    for text, score in told:
        best[text] = max(best.get(text, 0.0), score)
    vectors = embed(list(best), tools) if best else []
    return [
        FollowUp(text, row, float(row @ vector) * score / BEST)
        for (text, score), row in zip(best.items(), vectors, strict=True)
    ]


def choose(
    open_: Sequence[FollowUp], asked: Sequence[FollowUp], most: int
) -> tuple[list[FollowUp], list[FollowUp]]:
    """The best `most` follow-ups, and those that stay open; what was asked already is in neither.

    Equal ones come by their texts.
    """
    chosen: list[FollowUp] = []
    rest: list[FollowUp] = []
    for one in sorted(open_, key=lambda one: (-one.rank, one.text)):
        if any(float(one.vector @ other.vector) >= SAME for other in (*asked, *chosen)):
            continue
        (chosen if len(chosen) < most else rest).append(one)
    return chosen, rest


def _ask_round(
    question: str,
    chosen: Sequence[str],
    look_up: Callable[[str], list[Passage]],
    tools: Tools,
) -> tuple[list[Found], set[str]]:
    """What the text says to some follow-ups, a call each, side by side; and the chunks read."""
    read: list[tuple[str, list[Passage]]] = []
    for text in chosen:
        with tools.path.step("follow up", text) as step:
            passages = look_up(text)
            step.found([one.hit for one in passages])
        read.append((text, passages))
    chat = tools.models.chat("model", "follow-ups")

    def ask_one(one: tuple[str, Sequence[Passage]]) -> Found | BadReply:
        text, passages = one
        listed, cites = print_passages(passages)
        asked = _prompt(
            "follow_up", tools, passages=listed, asked=text, question=question, most=MOST
        )
        try:
            return ask_once(chat, asked, lambda reply: read_step(reply, cites))
        except BadReply as error:
            return error

    with tools.path.step("round") as step:
        replies = tools.each(ask_one, read)
        step.note = _told(replies, "follow-up")
    chunks = {
        passage.hit.id
        for _, passages in read
        for passage in passages
        if passage.hit.kind == "chunk"
    }
    return [one for one in replies if isinstance(one, Found)], chunks


def _look_up(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    # Without a model a report quotes sentences of chunks, and the chunks are here.
    knobs = LOCAL.model_copy(update={"report_share": 0.0}) if tools.models.offline else LOCAL
    return local.retrieve(question, filters, replace(tools, knobs=knobs))


def print_passages(passages: Sequence[Passage]) -> tuple[str, Cites]:
    """Passages as a model is shown them, chunks with their numbers; and these chunks, by number.

    Reports tell what the chunks are about, and are not cited.
    """
    chunks = [one for one in passages if one.hit.kind == "chunk"]
    others = [shown(one.text) for one in passages if one.hit.kind != "chunk"]
    numbered = [f"[{number}] {shown(one.text)}" for number, one in enumerate(chunks, 1)]
    return "\n\n".join([*others, *numbered]), {
        number: (one.hit.id,) for number, one in enumerate(chunks, 1)
    }


# Replies


def _prompt(name: str, tools: Tools, **values: object) -> Prompt:
    words = tools.knobs.reply_words
    return Prompt(
        system=filled(PROMPTS / f"{name}_system.txt"),
        user=filled(PROMPTS / f"{name}.txt", words=words, **values),
        max_tokens=round(2 * words / WORDS),
        temperature=0,
        schema=StepReply,
    )


def read_step(reply: str, cites: Cites) -> Found:
    """What a reply found, and opens. Raises BadReply where it says neither, or has no score."""
    told = read_object(reply)
    text, score = read_line(told.get("response")), read_score(told.get("score"), BEST)
    if score is None:
        raise BadReply('Expected "score", a whole number from 0 to 100.')
    lines = map(read_line, read_list(told.get("follow_up_queries")))
    questions = dict.fromkeys(line for line in lines if 0 < len(line) <= LONGEST)
    if not text and not questions:
        raise BadReply('Expected "response" or "follow_up_queries" to say something.')
    point = Point(shortened(text, RESPONSE_TOKENS), score, cites)
    return Found(point, tuple(islice(questions, MOST)))


def _told(replies: Sequence[Found | BadReply], what: str) -> str:
    failed = [
        f"{what} {place} failed: {one}"
        for place, one in enumerate(replies, 1)
        if isinstance(one, BadReply)
    ]
    scores = [str(one.point.score) for one in replies if isinstance(one, Found)]
    return "; ".join([f"scores {', '.join(scores) or '-'}", *failed])


MODE = Mode(
    retrieve,
    "questions that reports open, looked up in the text one by one (Microsoft DRIFT)",
    knobs=Knobs,
    graph="communities",
    answer=answer,
)
