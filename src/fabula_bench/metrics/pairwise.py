"""Win rates: a judge compares each answer with the first system's answer to the same question.

The comparison of Microsoft GraphRAG's paper (Edge et al. 2024, arXiv 2404.16130, section 4.1.1),
with its four criteria. Both orders of the two answers are judged, as judges favour a place.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabula_bench.metrics.answers import remove_citations
from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.judging import choose_winner
from fabula_bench.metrics.measure import Metric, Scoring
from fabula_bench.model import BenchQuestion, Result

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


METRICS = tuple(
    Metric(
        name=f"win_{criterion}",
        source=f"Edge et al. 2024 (arXiv 2404.16130): share of answers that a judge prefers to the "
        f"first system's by {criterion}, a tie counts as half, mean of both orders",
        blind=(
            "It can't tell right from wrong: a judge prefers what reads well. 50% is as good as "
            "the first system, which has no value of its own."
        ),
        needs=frozenset({"answer", "baseline", "judge"}),
        how=_win_rate(criterion),
    )
    for criterion in CRITERIA
)
