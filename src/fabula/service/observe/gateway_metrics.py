"""Metrics of a gateway for Prometheus: calls, what was cached, tokens and money."""

from __future__ import annotations

from typing import Literal

from prometheus_client import CollectorRegistry, Counter, generate_latest

from fabula.models.usage import Usage
from fabula.service.observe.metrics import GaugeCollector, Gauges

Outcome = Literal["answered", "cached", "shared", "refused", "failed", "cancelled"]
"""What became of a client's call: answered by the endpoint, by the cache, or by an equal call under
way; refused by the budget; failed; or given up by its client."""
OTHER_MODEL = "other"
MAX_MODELS = 100
"""Models with labels of their own: a client may name any, and Prometheus keeps each label."""


class GatewayMetrics:
    """Counters of this gateway, and gauges that are read when they are scraped."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._models: set[str] = set()
        self._calls = Counter(
            "fabula_gateway_calls",
            "Calls of clients, by what became of them.",
            ("key", "model", "outcome"),
            registry=registry,
        )
        self._refused = Counter(
            "fabula_gateway_refusals",
            "Refusals by the endpoint for calling too often (429).",
            registry=registry,
        )
        self._tokens = Counter(
            "fabula_gateway_tokens",
            "Tokens of calls that the endpoint answered.",
            ("key", "model", "type"),
            registry=registry,
        )
        self._money = Counter(
            "fabula_gateway_dollars",
            "US dollars of calls that the endpoint answered, where the price is known.",
            ("key", "model"),
            registry=registry,
        )

    def count_call(self, key: str, model: str, outcome: Outcome) -> None:
        """Count a client's call."""
        self._calls.labels(key, self._label(model), outcome).inc()

    def count_refusal(self) -> None:
        """Count a refusal by the endpoint."""
        self._refused.inc()

    def spent(self, key: str, model: str, usage: Usage, money: float | None) -> None:
        """Count what a call has cost; `money` is None where the price is not known."""
        label = self._label(model)
        self._tokens.labels(key, label, "input").inc(usage.prompt_tokens)
        self._tokens.labels(key, label, "output").inc(usage.completion_tokens)
        if money is not None:
            self._money.labels(key, label).inc(money)

    def watch(self, label: str, gauges: Gauges) -> None:
        """Add gauges that are read at each scrape; `label` is the name of their label."""
        self._registry.register(GaugeCollector(label, gauges))

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _label(self, model: str) -> str:
        if model in self._models or len(self._models) < MAX_MODELS:
            self._models.add(model)
            return model
        return OTHER_MODEL
