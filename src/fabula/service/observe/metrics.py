"""Metrics for Prometheus: requests, answers, models and jobs. Each service has its own registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from fabula.models.usage import Usage

BUCKETS_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""The bounds of the histograms."""
SEVERAL = "several"
"""The mode's label of a question that was asked with several modes."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
Gauges = Callable[[], Mapping[str, Mapping[str, float]]]
"""Returns gauges by name, and the values of each by label."""


class Metrics:
    """Counters and histograms of this process, and gauges that are read when they are scraped."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "fabula_requests", "Requests.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "fabula_request_seconds",
            "Seconds until a response was sent.",
            ("route",),
            buckets=BUCKETS_SECONDS,
            registry=registry,
        )
        self._first = Histogram(
            "fabula_first_token_seconds",
            "Seconds from a question to the first piece of its answer.",
            buckets=BUCKETS_SECONDS,
            registry=registry,
        )
        self._retrieval = Histogram(
            "fabula_retrieval_seconds",
            "Seconds of finding what serves a question.",
            ("mode",),
            buckets=BUCKETS_SECONDS,
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

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        `route` is the pattern of its path, so that there are few labels. Methods that HTTP does not
        have are counted as "other", as a stranger may send any text.
        """
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def first_token(self, seconds: float) -> None:
        """Record the time to the first piece of an answer."""
        self._first.observe(seconds)

    def record_retrieval(self, modes: str, seconds: float) -> None:
        """Record the time of a retrieval.

        All combinations of several modes share one label: callers may combine them at will, and
        Prometheus keeps the series of each label for good.
        """
        self._retrieval.labels(SEVERAL if "," in modes else modes).observe(seconds)

    def spent(self, usage: Mapping[str, Usage]) -> None:
        """Count the usage of models by step."""
        for step, used in usage.items():
            self._calls.labels(step).inc(used.calls)
            self._tokens.labels(step, "input").inc(used.prompt_tokens)
            self._tokens.labels(step, "output").inc(used.completion_tokens)
            self._faults.labels(step).inc(used.faults)
            self._saved.labels(step).inc(used.saved)

    def watch(self, label: str, gauges: Gauges) -> None:
        """Add gauges that are read at each scrape; `label` is the name of their label."""
        self._registry.register(GaugeCollector(label, gauges))

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class GaugeCollector:
    """Reads gauges at each scrape."""

    def __init__(self, label: str, gauges: Gauges) -> None:
        self._label, self._gauges = label, gauges

    def collect(self) -> Iterable[Metric]:
        """Yield the gauges."""
        for name, values in self._gauges().items():
            gauge = GaugeMetricFamily(name, name.replace("_", " "), labels=(self._label,))
            for label, value in values.items():
                gauge.add_metric((label,), value)
            yield gauge

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, as the gauges may not be readable yet when they are registered."""
        return ()
