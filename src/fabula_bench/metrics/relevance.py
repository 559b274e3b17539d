"""Answer relevance: whether an answer says what was asked, told from the answer alone.

RAGAS's measure (Es et al. 2023, arXiv 2309.15217, section 3), asked in our own words: a model
writes questions that the answer would answer, and their mean cosine to the question is the value.
"""

from __future__ import annotations

import numpy as np

from fabula_bench.metrics.answers import remove_citations
from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.judging import derive_questions
from fabula_bench.metrics.measure import Metric
from fabula_bench.model import BenchQuestion, Result


def _answer_relevance(question: BenchQuestion, result: Result, judges: Judges) -> float:
    assert judges.chat and judges.embedder
    derived, is_evasive = derive_questions(judges.chat, remove_citations(result.answer))
    if is_evasive:
        return 0.0
    vectors = judges.embedder.embed([question.question, *derived], "passage").vectors
    return float(np.mean(vectors[1:] @ vectors[0]))


METRICS = (
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
)
