"""Score each result of a run as soon as it exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fabula.config.model_factory import ModelFactory
from fabula.errors import SettingsError
from fabula.models.counted import Meter
from fabula_bench.metrics import Judges, Metric, metric, missing
from fabula_bench.model import BenchQuestion, DataSet, Need, Result
from fabula_bench.plan import TestedSystem
from fabula_bench.suite import Ask, Suite

OF_MODELS = frozenset[Need]({"judge", "answer", "options"})
"""What exists only with a chat model."""
JUDGE = "judge"
"""The step under which the calls of a judging model are counted."""


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The metrics of a run, the reasons why others are left out, and the texts' languages."""

    metrics: tuple[Metric, ...]
    left_out: Mapping[str, str]
    languages: Mapping[str, str]

    def by(
        self, models: ModelFactory, system: TestedSystem, baseline: Mapping[str, str] | None = None
    ) -> Callable[[BenchQuestion, Result], Result]:
        """Return a function that scores a result; the system's models judge, within its budget.

        `baseline` has the answers of the first system by question; none for that system itself.
        """

        def score_result(question: BenchQuestion, result: Result) -> Result:
            meter = Meter()
            judges = _judges(models, system, meter, self.languages, baseline or {})
            values = {
                metric.name: metric.score(question, result, judges) for metric in self.metrics
            }
            scores = {name: value for name, value in values.items() if value is not None}
            return replace(result, scores=scores, judged=system.settings.by_model(meter.usage()))

        return score_result


def choose_metrics(suite: Suite, data: DataSet, system: TestedSystem) -> RunMetrics:
    """Return the metrics of a suite, without those that need a chat model if there is none.

    Raises:
        SettingsError: A metric does not exist, its library isn't installed, or none is left.
    """
    languages = {text.id: text.language for text in data.texts}
    models = ModelFactory(system.settings)
    judges = _judges(models, system, Meter(), languages, {})
    chosen: list[Metric] = []
    left_out: dict[str, str] = {}
    for name in suite.metrics:
        candidate = metric(name)
        reason = _why_unfit(candidate, system.ask) or missing(candidate, judges)
        if reason and not (candidate.needs & OF_MODELS and system.settings.offline):
            raise SettingsError(f"Suite {suite.name}: {reason}")
        if reason:
            left_out[name] = reason
        else:
            chosen.append(candidate)
    models.close()
    if not chosen:
        raise SettingsError(f"Suite {suite.name} measures nothing here: {reason}")
    return RunMetrics(tuple(chosen), left_out, languages)


def _why_unfit(candidate: Metric, ask: Ask) -> str:
    if ("triples" in candidate.needs) != (ask == "build"):
        of = "graphs" if "triples" in candidate.needs else "what is answered or found"
        compared = "graphs" if ask == "build" else "answers and contexts"
        return f"{candidate.name} is of {of}, and here {compared} alone are compared."
    if "answer" in candidate.needs and ask != "answer":
        return f"{candidate.name} is of answers, and here only contexts are compared."
    if "options" in candidate.needs and ask != "choose":
        return f"{candidate.name} is of choices, and here nothing is chosen."
    return ""


def _judges(
    models: ModelFactory,
    system: TestedSystem,
    meter: Meter,
    languages: Mapping[str, str],
    baseline: Mapping[str, str],
) -> Judges:
    chat = None if system.settings.offline else models.chat(meter, JUDGE)
    return Judges(chat, models.counted_embedder(meter), languages, baseline)
