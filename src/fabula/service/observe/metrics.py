"""Numbers for Prometheus: requests, answers, models, jobs; a registry a house."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from fabula.models.usage import Usage

WAITS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds; the bounds of the histograms."""
SEVERAL = "several"
"""What the label of a mode says where a question was asked by more than one."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
Levels = Callable[[], Mapping[str, Mapping[str, float]]]
"""What is read when it is asked for: gauges by name, and of each the values by label."""


class Metrics:
    """What is counted as it happens, and what is read when somebody looks."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "fabula_requests", "Requests.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "fabula_request_seconds",
            "Seconds until a response was sent.",
            ("route",),
            buckets=WAITS,
            registry=registry,
        )
        self._first = Histogram(
            "fabula_first_token_seconds",
            "Seconds from a question to the first piece of its answer.",
            buckets=WAITS,
            registry=registry,
        )
        self._retrieval = Histogram(
            "fabula_retrieval_seconds",
            "Seconds of finding what serves a question.",
            ("mode",),
            buckets=WAITS,
            registry=registry,
        )
        self._calls = Counter(
            "fabula_model_calls", "Calls that models answered.", ("step",), registry=registry
        )
        self._tokens = Counter(
            "fabula_model_tokens", "Tokens of models.", ("step", "type"), registry=registry
        )
        self._faults = Counter(
            "fabula_model_faults", "Replies that failed.", ("step",), registry=registry
        )
        self._saved = Counter(
            "fabula_model_calls_saved",
            "Calls that the graph or the cache saved.",
            ("step",),
            registry=registry,
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered; `route` is its pattern, so that there are few of them.

        A stranger may call a method anything: what is none of HTTP's is "other".
        """
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def first_token(self, seconds: float) -> None:
        """An answer has begun to come."""
        self._first.observe(seconds)

    def retrieved(self, modes: str, seconds: float) -> None:
        """Count a question whose passages were found.

        Several modes at once are one label: a caller may choose them in any order, and each label
        is a set of series that is kept for good.
        """
        self._retrieval.labels(SEVERAL if "," in modes else modes).observe(seconds)

    def spent(self, usage: Mapping[str, Usage]) -> None:
        """Models were asked, by step."""
        for step, one in usage.items():
            self._calls.labels(step).inc(one.calls)
            self._tokens.labels(step, "input").inc(one.prompt_tokens)
            self._tokens.labels(step, "output").inc(one.completion_tokens)
            self._faults.labels(step).inc(one.faults)
            self._saved.labels(step).inc(one.saved)

    def watch(self, label: str, levels: Levels) -> None:
        """Has gauges read whenever somebody looks; `label` is what their values are told by."""
        self._registry.register(_Levels(label, levels))

    def text(self) -> bytes:
        """All of it, in Prometheus' own format."""
        return generate_latest(self._registry)


class _Levels:
    """Gauges that are read as they are now."""

    def __init__(self, label: str, levels: Levels) -> None:
        self._label, self._levels = label, levels

    def collect(self) -> Iterable[Metric]:
        """Reads them."""
        for name, values in self._levels().items():
            gauge = GaugeMetricFamily(name, name.replace("_", " "), labels=(self._label,))
            for value, level in values.items():
                gauge.add_metric((value,), level)
            yield gauge

    def describe(self) -> Iterable[Metric]:
        """Nothing: what it reads may not be there yet when it is registered."""
        return ()
