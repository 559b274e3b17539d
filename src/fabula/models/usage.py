"""What models were asked: calls and tokens, by step and by model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """What models were asked: calls answered, and tokens as the endpoint counted them.

    `saved` are calls that needed no asking, as the graph or the response cache had what they would
    have brought; `faults` are replies that failed, or could not be used, and were asked for again.
    The saved tokens are of what the response cache answered; those of a graph's are not known.
    `cached_tokens` are those of the prompts' that the endpoint had in its own prefix cache.
    `models` has the part of each model that was asked, by its name. What was recorded by an earlier
    version names no model, and neither do calls that a graph saved.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    faults: int = 0
    saved_prompt_tokens: int = 0
    saved_completion_tokens: int = 0
    cached_tokens: int = 0
    models: Mapping[str, Usage] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={count}" for name, count in self.counts.items() if count)
        return f"Usage({told})"

    @classmethod
    def of_model(cls, model: str, usage: Usage) -> Usage:
        """Return a usage with the name of the one model that was asked."""
        return replace(usage, models={model: replace(usage, models={})})

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Usage:
        """Return a usage from what `row` made of it."""
        models = {name: cls.read(part) for name, part in row.get("models", {}).items()}
        return cls(**{**row, "models": models})

    @property
    def counts(self) -> dict[str, int]:
        """All numbers by their names."""
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def row(self) -> dict[str, Any]:
        """The usage as JSON holds it; the part of each model only where models are known."""
        models = {name: part.counts for name, part in self.models.items()}
        return {**self.counts, "models": models} if models else dict(self.counts)

    @property
    def unnamed(self) -> Usage:
        """The part of which no model is known."""
        return self - sum(self.models.values(), Usage())

    @property
    def uncached(self) -> Usage:
        """What it would have been without a cache: what was saved counts as asked."""
        return Usage(
            self.calls + self.saved,
            self.prompt_tokens + self.saved_prompt_tokens,
            self.completion_tokens + self.saved_completion_tokens,
            faults=self.faults,
            models={name: part.uncached for name, part in self.models.items()},
        )

    def __add__(self, other: Usage) -> Usage:
        models = {**self.models}
        for name, part in other.models.items():
            models[name] = models[name] + part if name in models else part
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.saved + other.saved,
            self.faults + other.faults,
            self.saved_prompt_tokens + other.saved_prompt_tokens,
            self.saved_completion_tokens + other.saved_completion_tokens,
            self.cached_tokens + other.cached_tokens,
            models,
        )

    def __sub__(self, other: Usage) -> Usage:
        """Return what was added since `other`; no number is below 0."""
        counts = {name: max(0, getattr(self, name) - getattr(other, name)) for name in COUNTS}
        models = {
            name: part - other.models[name] if name in other.models else part
            for name, part in self.models.items()
        }
        return Usage(**counts, models=models)


COUNTS = tuple(one.name for one in fields(Usage) if one.name != "models")
"""The names of the numbers of a usage."""


def sum_usage(parts: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """The usage of each step, or of each model, in all parts together."""
    total: dict[str, Usage] = {}
    for part in parts:
        for name, usage in part.items():
            total[name] = total.get(name, Usage()) + usage
    return total
