"""What a context holds of answers and evidence, by the stems of words, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from fabula.text.sentences import sentences
from fabula.text.stems import stemmer_of
from fabula_bench.metrics.measure import Judges, Metric, Scoring
from fabula_bench.model import BenchQuestion, Result

ENOUGH = 0.6
"""The share of a statement's stems from which the context counts as containing it."""
OURS = "Fabula's own"


def _coverage(
    of: Callable[[BenchQuestion], Iterable[str]],
    combine: Callable[[list[float]], float],
    *,
    count_question: bool = False,
) -> Scoring:
    """Return what combines the shares of each text's stems that the context has."""

    def score(question: BenchQuestion, result: Result, judges: Judges) -> float | None:
        stemmer = stemmer_of(judges.languages.get(question.text) or "en")
        # The stems of the question are left out, unless they count.
        asked = set() if count_question else stemmer.content(question.question)
        found = stemmer.content(" ".join(passage.text for passage in result.context))
        stems = [rest for text in of(question) if (rest := stemmer.content(text) - asked)]
        shares = [len(found & each) / len(each) for each in stems]
        return combine(shares) if shares else None

    return score


def _duplicates(question: BenchQuestion, result: Result, judges: Judges) -> float:
    """Return the share of sentences that are repeated; case and white space don't count."""
    language = judges.languages.get(question.text, "")
    texts = [
        " ".join(sentence.casefold().split())
        for passage in result.context
        for sentence in sentences(passage.text, language)
    ]
    return 1 - len(set(texts)) / len(texts)


METRICS = (
    Metric(
        name="answer_coverage",
        source=f"{OURS}: share of the references' stems, without the question's, in the context",
        blind=(
            "It can't tell whether the words stand together or say what the answer says, and a "
            "context that says it in other words holds nothing."
        ),
        needs=frozenset({"answers", "context"}),
        how=_coverage(lambda question: question.answers, fmean),
    ),
    Metric(
        name="evidence_coverage",
        source=f"{OURS}: share of the evidence's stems, without the question's, in the context",
        blind=(
            "It can't tell whether the words stand together or say what the evidence says, and "
            "evidence in other words than the text's can't be found whole."
        ),
        needs=frozenset({"evidence", "context"}),
        how=_coverage(lambda question: question.evidence, fmean),
    ),
    Metric(
        name="all_evidence",
        source=f"{OURS}: 1 where the context holds 60% of the stems of every statement of evidence",
        blind=(
            "It counts the question's own words too, which flatters a search by exact words, and "
            "of two statements alike in words it can't tell which was found."
        ),
        needs=frozenset({"evidence", "context"}),
        how=_coverage(
            lambda question: question.evidence,
            lambda shares: float(min(shares) >= ENOUGH),
            count_question=True,
        ),
    ),
    Metric(
        name="duplicates",
        source="Fabula's own: share of the context's sentences that are repeated",
        blind=(
            "It sees a sentence that is repeated word by word, not one that is repeated in other "
            "words, as in summaries and details."
        ),
        needs=frozenset({"context"}),
        how=_duplicates,
        empty=None,
    ),
    Metric(
        name="context_tokens",
        highest=float("inf"),
        source="Fabula's own: tokens of the context's texts in o200k_base",
        blind="It tells what a context costs to read, not what it is worth.",
        needs=frozenset({"context"}),
        how=lambda question, result, judges: float(result.context_tokens),
    ),
)
