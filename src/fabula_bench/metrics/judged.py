"""Measures for which a model judges, asked in our own words.

GraphRAG-Bench's are as its code defines them. Beside the wording two things differ: nothing is cut
off before it is judged, and statements are judged by number, each once. Of several references the
one that an answer is nearest to counts.

Win rates are the comparison of Microsoft GraphRAG's paper (Edge et al. 2024, arXiv 2404.16130,
section 4.1.1), with its four criteria: a judge compares each answer with the first system's answer
to the same question. Both orders of the two answers are judged, as judges favour a place.

Answer relevance is RAGAS's measure (Es et al. 2023, arXiv 2309.15217, section 3): a model writes
questions that the answer would answer, and their mean cosine to the question is the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabula.models import Chat, Embedder
from fabula_bench.metrics.judging import (
    RATINGS,
    choose_winner,
    derive_questions,
    judge_statements,
    number_lines,
    rate_passages,
    split_statements,
)
from fabula_bench.metrics.measure import Judges, Metric, Scoring, nonempty, remove_citations
from fabula_bench.model import BenchQuestion, Result

PAPER = "Xiang et al. 2025, GraphRAG-Bench (arXiv 2506.05690)"
FACTS = 0.75
"""Weight of the statements' F1 in answer accuracy; the rest is the similarity's."""
RATERS = 2
CRITERIA: Mapping[str, str] = {
    "comprehensiveness": "Comprehensiveness: how much detail does the answer give to cover all "
    "aspects of the question?",
    "diversity": "Diversity: how varied and rich is the answer in different views on the question?",
    "empowerment": "Empowerment: how well does the answer help its reader to understand the topic "
    "and to judge it for themselves?",
    "directness": "Directness: how specifically and clearly does the answer address the question?",
}
"""The criteria of the paper; directness is its control, which the others should not follow."""
POINTS = {"won": 1.0, "tied": 0.5, "lost": 0.0}


def statements_f1(chat: Chat, question: str, answer: Sequence[str], truth: Sequence[str]) -> float:
    """Return F1 of an answer's statements against a reference's; 1 where neither has any."""
    if not answer or not truth:
        return float(not answer and not truth)
    judged = judge_statements(
        chat,
        "compare",
        len(answer) + len(truth),
        question=question,
        answer=number_lines(answer),
        reference=number_lines(truth, first=len(answer) + 1),
    )
    right, left_out = sum(judged[: len(answer)]), judged[len(answer) :].count(False)
    wrong = len(answer) - right
    return 2 * right / (2 * right + wrong + left_out) if right else 0.0


def similarity(embedder: Embedder, first: str, second: str) -> float:
    """Return the cosine of two texts, scaled from -1..1 to 0..1."""
    left, right = embedder.embed([first, second], "passage").vectors
    return (1 + float(left @ right)) / 2


def _answer_accuracy(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat and judges.embedder
    answer = remove_citations(result.answer)
    stated = split_statements(judges.chat, question.question, answer)
    values = []
    for reference in nonempty(question.answers):
        truth = split_statements(judges.chat, question.question, reference)
        facts = statements_f1(judges.chat, question.question, stated, truth)
        near = similarity(judges.embedder, answer, reference)
        values.append(FACTS * facts + (1 - FACTS) * near)
    return max(values)


def _coverage_score(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
    assert judges.chat
    values = []
    for reference in nonempty(question.answers):
        if truth := split_statements(judges.chat, question.question, reference):
            covered = judge_statements(
                judges.chat,
                "covered",
                len(truth),
                question=question.question,
                answer=remove_citations(result.answer),
                statements=number_lines(truth),
            )
            values.append(_share(covered))
    return max(values, default=None)


def _faithfulness(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
    assert judges.chat
    stated = split_statements(judges.chat, question.question, remove_citations(result.answer))
    return _supported_share(judges.chat, stated, result) if stated else None


def _evidence_recall(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat
    return _supported_share(judges.chat, nonempty(question.evidence), result)


def _context_relevance(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat
    passages = _passages(result)
    ratings = [
        rate_passages(judges.chat, question.question, passages, sample) for sample in range(RATERS)
    ]
    return sum(ratings) / (RATERS * RATINGS)


def _supported_share(chat: Chat, stated: Sequence[str], result: Result) -> float:
    passages, listed = _passages(result), number_lines(stated)
    return _share(
        judge_statements(chat, "supported", len(stated), passages=passages, statements=listed)
    )


def _passages(result: Result) -> str:
    return "\n\n".join(passage.text.strip() for passage in result.context)


def _share(judged: Sequence[bool]) -> float:
    return sum(judged) / len(judged)


def _judged_accuracy(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat
    answer = remove_citations(result.answer)
    for reference in nonempty(question.answers):
        [holds] = judge_statements(
            judges.chat,
            "correct",
            1,
            question=question.question,
            answer=answer,
            statements=number_lines([reference]),
        )
        if holds:
            return 1.0
    return 0.0


def _answer_relevance(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat and judges.embedder
    derived, is_evasive = derive_questions(judges.chat, remove_citations(result.answer))
    if is_evasive:
        return 0.0
    vectors = judges.embedder.embed([question.question, *derived], "passage").vectors
    return float(np.mean(vectors[1:] @ vectors[0]))


def _win_rate(criterion: str) -> Scoring:
    def score(question: BenchQuestion, result: Result, judges: Judges) -> float:
        assert judges.chat
        own, other = remove_citations(result.answer), remove_citations(judges.baseline[question.id])
        if not other:
            return POINTS["won"]
        as_first = choose_winner(judges.chat, question.question, CRITERIA[criterion], own, other)
        as_second = choose_winner(judges.chat, question.question, CRITERIA[criterion], other, own)
        points = (
            {"first": "won", "second": "lost", "tie": "tied"}[as_first],
            {"first": "lost", "second": "won", "tie": "tied"}[as_second],
        )
        return sum(POINTS[each] for each in points) / len(points)

    return score


METRICS = (
    Metric(
        name="answer_accuracy",
        source=f"{PAPER}: 0.75 x F1 of statements + 0.25 x similarity",
        blind=(
            "It is as good as its judge, and never near 0: an answer without one right statement "
            "still gets an eighth or more for its similarity."
        ),
        needs=frozenset({"answers", "answer", "judge", "embedder"}),
        how=_answer_accuracy,
    ),
    Metric(
        name="coverage_score",
        source=f"{PAPER}: share of the reference's statements that the answer covers",
        blind=(
            "It is as good as its judge, and takes nothing off for what an answer says beside, "
            "right or wrong: a long answer gains."
        ),
        needs=frozenset({"answers", "answer", "judge"}),
        how=_coverage_score,
    ),
    Metric(
        name="faithfulness",
        source=f"{PAPER}: share of the answer's statements that the context supports",
        blind=(
            "It is as good as its judge, and can't tell whether the answer is right: what a wrong "
            "context says counts as supported."
        ),
        needs=frozenset({"answer", "context", "judge"}),
        how=_faithfulness,
    ),
    Metric(
        name="evidence_recall",
        source=f"{PAPER}: share of the evidence that the context supports",
        blind=(
            "It is as good as its judge, and can't tell how much of the context is beside the "
            "question: a longer context only gains."
        ),
        needs=frozenset({"evidence", "context", "judge"}),
        how=_evidence_recall,
    ),
    Metric(
        name="context_relevance",
        source=f"{PAPER}: mean of two ratings of the context, 0 to 2, over 2",
        blind=(
            "It has five steps, and a judge who knows no reference answer: it can't tell a context "
            "that looks as if it answered from one that does."
        ),
        needs=frozenset({"context", "judge"}),
        how=_context_relevance,
    ),
    Metric(
        name="judged_accuracy",
        source="A-RAG (Ayanami0730/arag): the share of answers that a judging model finds correct",
        blind=(
            "It is as good as its judge, has two steps, and takes nothing off for what an answer "
            "says beside, right or wrong: a long answer gains."
        ),
        needs=frozenset({"answers", "answer", "judge"}),
        how=_judged_accuracy,
    ),
    Metric(
        name="answer_relevance",
        lowest=-1.0,
        source="RAGAS (Es et al. 2023, arXiv 2309.15217), asked in our own words: mean cosine of "
        "the question and three questions that a model derives from the answer; 0 if the answer is "
        "evasive",
        blind=(
            "It can't tell right from wrong: an answer to the point may be false; figures of two "
            "embedding models can't be compared."
        ),
        needs=frozenset({"answer", "judge", "embedder"}),
        how=_answer_relevance,
    ),
    *(
        Metric(
            name=f"win_{criterion}",
            source="Edge et al. 2024 (arXiv 2404.16130): share of answers that a judge prefers to "
            f"the first system's by {criterion}, a tie counts as half, mean of both orders",
            blind=(
                "It can't tell right from wrong: a judge prefers what reads well. 50% is as good "
                "as the first system, which has no value of its own."
            ),
            needs=frozenset({"answer", "baseline", "judge"}),
            how=_win_rate(criterion),
        )
        for criterion in CRITERIA
    ),
)
