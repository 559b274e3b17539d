"""Microsoft's DRIFT search: reports open questions, which are looked up in the text in rounds.

microsoft/graphrag, read at 6dad6d2. Its code draws at random both the report that shows the form of
the hypothetical answer and the questions of a round, and asks a question again and again if its
reply cannot be read. Here it is the report nearest to the question; questions are ranked, none is
asked twice in other words, and each costs one call of a budget. So the same question always takes
the same steps.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from fabula.ask.answer import find_citations
from fabula.ask.context import fill_with_passages
from fabula.errors import BadReply
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.mode import Pieces, Tools
from fabula.graphs.communities.points import (
    MAX_SCORE,
    MAX_TRIES,
    PROMPTS,
    Cites,
    Point,
    format_report,
    format_reports,
    rank_points,
    read_score,
    reduce,
)
from fabula.graphs.communities.report_search import (
    StoredReport,
    allowed_reports,
    fall_back,
    rank_by_cosine,
    read_reports,
    reports_at_level,
)
from fabula.graphs.entities.modes import local
from fabula.graphs.entities.modes.options import LocalOptions
from fabula.graphs.entities.records import read_line, read_list
from fabula.graphs.entities.retrieval import embed
from fabula.models import Prompt
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.prompts import (
    escape_marks,
    fill_template,
    number_texts,
    usual_text,
    without_notice,
)
from fabula.models.replies import ask, ask_once, complete, read_object, read_summary, shorten
from fabula.models.schemas import ReplyShape
from fabula.text.document import Vector

LOCAL_OPTIONS = LocalOptions(report_share=0.1, entity_share=0.0, relation_share=0.0)
"""How a follow-up question is looked up: in chunks and a few reports, as Microsoft's code does."""
MIN_SAME_COSINE = 0.9
"""Two follow-up questions whose cosine is at least this are the same question."""
MIN_FOLLOW_UPS = 5
"""How many follow-up questions the primer is asked for at least."""
MAX_FOLLOW_UPS = 10
"""How many follow-up questions of one reply are used."""
MAX_RESPONSE_TOKENS = 2000
"""How much of one reply's response is used."""
USUAL_RESPONSE_TOKENS, QUESTION_WORDS = 150, 6
"""What a dry run assumes: the tokens of a response, and the words of a follow-up question."""
MAX_FOLLOW_UP_CHARACTERS = 500
"""A longer text is not taken for a question."""


# Its name and docstring are sent with each call, and are part of the response cache's key.
class StepReply(ReplyShape):
    """What a step found, and what it would have looked up next."""

    response: str
    score: int
    follow_up_queries: list[str]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What the reply of one call says: a part of the answer, and follow-up questions."""

    point: Point
    follow_ups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question that a reply opened."""

    text: str
    vector: Vector = field(compare=False)
    """Its embedding, of length 1."""
    rank: float
    """How much its answer may help: its cosine with the question times its reply's score / 100."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Look the question up in the text as a follow-up question would be; no model is asked."""
    if not read_reports(filters, tools):
        return fall_back(question, filters, tools)
    return _look_up(question, filters, tools)


def answer(
    question: str, context: Sequence[Passage], filters: Filters, tools: Tools
) -> Pieces | None:
    """Answer from what reports say, and from what the text says to the questions they open."""
    if tools.models.offline:
        return None
    at_level = reports_at_level(read_reports(filters, tools), tools.options.level)
    reports = allowed_reports(at_level, filters)
    return _search_and_answer(question, reports, context, filters, tools) if reports else None


def _search_and_answer(
    question: str,
    reports: Sequence[StoredReport],
    context: Sequence[Passage],
    filters: Filters,
    tools: Tools,
) -> Pieces:
    [vector] = embed([without_notice(question)], tools)
    nearest = _nearest_to_hypothesis(question, vector, reports, filters, tools)
    primed = read_folds(question, nearest, tools)

    def look_up(text: str) -> list[Passage]:
        return fill_with_passages(_look_up(text, filters, tools), tools.tokens)

    results = primed + follow_up(question, vector, primed, look_up, tools)
    points = rank_points([helpful_points(results)])
    yield from reduce(question, points, context, filters, tools)


def helpful_points(results: Sequence[StepResult]) -> list[Point]:
    """Return the points that help and say something, in their order."""
    return [result.point for result in results if result.point.score and result.point.text]


# The primer


def _nearest_to_hypothesis(
    question: str, vector: Vector, reports: Sequence[StoredReport], filters: Filters, tools: Tools
) -> list[StoredReport]:
    """Return the reports nearest to an answer made up in the form of the question's nearest one."""
    with tools.trace.step("hypothesis") as step:
        example, *_ = rank_by_cosine(vector, reports, filters, tools, 1) or reports
        prompt = Prompt(
            system=fill_template(PROMPTS / "hypothesis_system.txt"),
            user=fill_template(
                PROMPTS / "hypothesis.txt", question=question, report=format_report(example, 1)
            ),
            max_tokens=1000,
            temperature=0,
            placeholder=lambda: format_report(example, 1),
        )
        hypothesis = question
        try:
            hypothesis = read_summary(complete(tools.models.chat("model", "primer"), prompt))
            step.note = f"in the form of {example.title}"
        except BadReply as error:
            step.note = f"the question alone, as the model's reply cannot be used: {error}"
    [hypothesis_vector] = embed([hypothesis], tools, "passage")
    with tools.trace.step("primer", "reports by cosine") as step:
        most = tools.options.reports
        ranked = rank_by_cosine(hypothesis_vector, reports, filters, tools, most)
        nearest = ranked[:most]
        step.record([report.hit for report in ranked], [report.hit for report in nearest])
    return nearest


def read_folds(question: str, reports: Sequence[StoredReport], tools: Tools) -> list[StepResult]:
    """Ask what reports say to a question: one call for each fold of them, side by side.

    Folds whose reply cannot be used are left out, and named in the path.
    """
    size = max(1, math.ceil(len(reports) / tools.options.folds))
    folds = [reports[start : start + size] for start in range(0, len(reports), size)]
    chat = tools.models.chat("model", "primer")

    def ask_fold(fold: Sequence[StoredReport]) -> StepResult | BadReply:
        text, cites = format_reports(fold)
        prompt = _prompt("primer", tools, reports=text, question=question, least=MIN_FOLLOW_UPS)
        try:
            return ask(chat, prompt, lambda reply: read_step(reply, cites), MAX_TRIES)
        except BadReply as error:
            return error

    with tools.trace.step("folds") as step:
        results = tools.run_each(ask_fold, folds)
        step.note = _describe(results, "fold")
    return [result for result in results if isinstance(result, StepResult)]


# Follow-up questions


def follow_up(
    question: str,
    vector: Vector,
    primed: Sequence[StepResult],
    look_up: Callable[[str], list[Passage]],
    tools: Tools,
) -> list[StepResult]:
    """Answer the questions that the primer opened, and those that their answers open.

    Each costs one call of the budget, which is shared over the rounds. The search ends early when a
    round reads no new chunk. Where the primer failed, the question itself is looked up.

    Args:
        question: The user's question.
        vector: Its embedding, of length 1.
        primed: What the primer's calls found.
        look_up: Returns the passages that a question leads to.
        tools: The model, and the mode's options.
    """
    options = tools.options
    scores = [result.point.score for result in primed]
    score = sum(scores) / len(scores) if scores else MAX_SCORE
    texts = [text for result in primed for text in result.follow_ups]
    texts = texts or [without_notice(question)]
    candidates = _rank([(text, score) for text in texts], vector, tools)
    results: list[StepResult] = []
    done: list[FollowUp] = []
    seen: set[str] = set()
    for number in range(options.rounds):
        share = math.ceil((options.calls - len(done)) / (options.rounds - number))
        chosen, candidates = choose(candidates, done, share)
        if not chosen:
            break
        done += chosen
        found, chunks = _ask_round(question, [each.text for each in chosen], look_up, tools)
        results += found
        if chunks <= seen:
            break
        seen |= chunks
        opened = [
            (text, float(result.point.score)) for result in found for text in result.follow_ups
        ]
        candidates += _rank(opened, vector, tools)
    return results


def _rank(questions: Sequence[tuple[str, float]], vector: Vector, tools: Tools) -> list[FollowUp]:
    """Return questions with their ranks, given the score of the reply that opened each."""
    scores: dict[str, float] = {}
    for text, score in questions:
        scores[text] = max(scores.get(text, 0.0), score)
    vectors = embed(list(scores), tools) if scores else []
    return [
        FollowUp(text, row, float(row @ vector) * score / MAX_SCORE)
        for (text, score), row in zip(scores.items(), vectors, strict=True)
    ]


def choose(
    candidates: Sequence[FollowUp], done: Sequence[FollowUp], limit: int
) -> tuple[list[FollowUp], list[FollowUp]]:
    """Choose follow-up questions for a round by rank, equal ranks by text.

    Returns:
        At most `limit` questions, and those that stay open. Questions that were asked already, or
        that are the same as a better one in other words, are in neither.
    """
    chosen: list[FollowUp] = []
    rest: list[FollowUp] = []
    for candidate in sorted(candidates, key=lambda each: (-each.rank, each.text)):
        cosines = (float(candidate.vector @ other.vector) for other in (*done, *chosen))
        if any(cosine >= MIN_SAME_COSINE for cosine in cosines):
            continue
        (chosen if len(chosen) < limit else rest).append(candidate)
    return chosen, rest


def _ask_round(
    question: str,
    chosen: Sequence[str],
    look_up: Callable[[str], list[Passage]],
    tools: Tools,
) -> tuple[list[StepResult], set[str]]:
    """Answer follow-up questions side by side, and return the ids of the chunks read with them."""
    contexts: list[tuple[str, list[Passage]]] = []
    for text in chosen:
        with tools.trace.step("follow up", text) as step:
            passages = look_up(text)
            step.record([passage.hit for passage in passages])
        contexts.append((text, passages))
    chat = tools.models.chat("model", "follow-ups")

    def ask_follow_up(context: tuple[str, Sequence[Passage]]) -> StepResult | BadReply:
        text, passages = context
        listed, cites = format_passages(passages)
        prompt = _prompt(
            "follow_up", tools, passages=listed, asked=text, question=question, most=MAX_FOLLOW_UPS
        )
        try:
            return ask_once(chat, prompt, lambda reply: read_step(reply, cites))
        except BadReply as error:
            return error

    with tools.trace.step("round") as step:
        results = tools.run_each(ask_follow_up, contexts)
        step.note = _describe(results, "follow-up")
    chunks = {
        passage.hit.id
        for _, passages in contexts
        for passage in passages
        if passage.hit.kind == "chunk"
    }
    return [result for result in results if isinstance(result, StepResult)], chunks


def _look_up(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    return local.retrieve(question, filters, replace(tools, options=LOCAL_OPTIONS))


def format_passages(passages: Sequence[Passage]) -> tuple[str, Cites]:
    """Return passages as prompts show them, and the numbered chunks among them by number.

    Reports come first, without a number: they help to understand the chunks and are not cited.
    """
    chunks = [passage for passage in passages if passage.hit.kind == "chunk"]
    reports = [escape_marks(passage.text) for passage in passages if passage.hit.kind != "chunk"]
    numbered = number_texts(chunk.text for chunk in chunks)
    return "\n\n".join([*reports, *numbered]), {
        number: (chunk.hit.id,) for number, chunk in enumerate(chunks, 1)
    }


# Replies


def _prompt(name: str, tools: Tools, **values: object) -> Prompt:
    words = tools.options.reply_words
    return Prompt(
        system=fill_template(PROMPTS / f"{name}_system.txt"),
        user=fill_template(PROMPTS / f"{name}.txt", words=words, **values),
        max_tokens=round(2 * words / WORDS_PER_TOKEN),
        temperature=0,
        schema=StepReply,
        placeholder=lambda: expected_step(" ".join(map(str, values.values())), words),
    )


def expected_step(text: str, words: int) -> str:
    """Return the reply that a dry run assumes of a call: it opens as many questions as are asked.

    Each question has other words of the text, so that no two are the same question.
    """
    found = sorted(set(re.findall(r"[^\W\d_]{4,}", text)), key=len, reverse=True)
    questions = [
        f"{' '.join(found[start : start + QUESTION_WORDS])}?"
        for start in range(0, len(found), QUESTION_WORDS)
    ]
    response = f"{usual_text(text, min(words, USUAL_RESPONSE_TOKENS))} [1]"
    reply = {"response": response, "score": MAX_SCORE // 2}
    return json.dumps({**reply, "follow_up_queries": questions[:MIN_FOLLOW_UPS]})


def read_step(reply: str, cites: Cites) -> StepResult:
    """Return what a reply found, and the questions that it opens.

    Args:
        reply: A model's reply to the prompt `primer` or `follow_up`.
        cites: The chunks that the numbers in its prompt stand for.

    Raises:
        BadReply: The reply has no score, or neither a response with citations nor a question.
    """
    fields = read_object(reply)
    text = read_line(fields.get("response"))
    score = read_score(fields.get("score"), MAX_SCORE)
    if score is None:
        raise BadReply('Expected "score", a whole number from 0 to 100.')
    lines = map(read_line, read_list(fields.get("follow_up_queries")))
    questions = dict.fromkeys(line for line in lines if 0 < len(line) <= MAX_FOLLOW_UP_CHARACTERS)
    if not text and not questions:
        raise BadReply('Expected "response" or "follow_up_queries" to say something.')
    is_proven = any(map(cites.get, find_citations(text, max(cites, default=0))))
    if score and text and not is_proven:
        # What no passage proves must not reach the answer; its questions may still lead to one.
        if not questions:
            raise BadReply("Cite the numbers that prove the response, as [1].")
        text = ""
    point = Point(shorten(text, MAX_RESPONSE_TOKENS), score, cites)
    return StepResult(point, tuple(islice(questions, MAX_FOLLOW_UPS)))


def _describe(results: Sequence[StepResult | BadReply], noun: str) -> str:
    """Return a note on how calls went: the scores of their replies, and which failed."""
    failures = [
        f"{noun} {number} failed: {result}"
        for number, result in enumerate(results, 1)
        if isinstance(result, BadReply)
    ]
    scores = [str(result.point.score) for result in results if isinstance(result, StepResult)]
    return "; ".join([f"scores {', '.join(scores) or '-'}", *failures])
