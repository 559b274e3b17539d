"""A-RAG's measure: whether a judge finds an answer correct. It is asked in our own words."""

from __future__ import annotations

from fabula_bench.metrics.answers import nonempty, remove_citations
from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.judging import judge_statements, number_lines
from fabula_bench.metrics.measure import Metric
from fabula_bench.model import BenchQuestion, Result


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


METRICS = (
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
)
