"""What a context costs: its tokens, and the sentences that are repeated in it."""

from __future__ import annotations

from fabula.text.sentences import sentences
from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.measure import Metric
from fabula_bench.model import BenchQuestion, Result


def _duplicates(question: BenchQuestion, result: Result, judges: Judges) -> float:
    """Return the share of sentences that are repeated; case and white space don't count."""
    language = judges.languages.get(question.text, "")
    texts = [
        " ".join(sentence.casefold().split())
        for passage in result.context
        for sentence in sentences(passage.text, language)
    ]
    return 1 - len(set(texts)) / len(texts)


def _context_tokens(_: BenchQuestion, result: Result, __: Judges) -> float:
    return float(result.context_tokens)


METRICS = (
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
        how=_context_tokens,
    ),
)
