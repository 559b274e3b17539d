"""Multiple choice: whether the right option was chosen."""

from __future__ import annotations

from fabula_bench.metrics.judges import Judges
from fabula_bench.metrics.measure import Metric
from fabula_bench.model import BenchQuestion, Result


def _accuracy(question: BenchQuestion, result: Result, _: Judges) -> float:
    """Return 1 if the right option was chosen; 0 also if none was."""
    return float(result.choice == question.right)


METRICS = (
    Metric(
        name="accuracy",
        source="Pang et al. 2022, QuALITY (arXiv 2112.08608)",
        blind=(
            "It can't tell knowing from guessing: of four options one in four is right by chance, "
            "and a model that knows the text by heart needs no context."
        ),
        needs=frozenset({"options"}),
        how=_accuracy,
    ),
)
