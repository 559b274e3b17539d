"""The usage of models: calls and tokens, by step and by model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from pydantic import Field

from fabula.text.nouns import count_noun


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of models.

    Attributes:
        calls: Calls that were answered and paid for.
        prompt_tokens: Tokens sent, as the endpoint counted them.
        completion_tokens: Tokens received, likewise.
        saved: Calls that were not made, as the graph or the response cache had their results.
        faults: Replies that failed or could not be used, and were asked for again.
        saved_prompt_tokens: Tokens that would have been sent by calls that the response cache
            answered; of calls that a graph saved, they are not known.
        saved_completion_tokens: Tokens that would have been received, likewise.
        cached_tokens: Those of `prompt_tokens` that the endpoint had in its prefix cache.
        batch_prompt_tokens: Those of `prompt_tokens` that were sent by batches, at their price.
        batch_completion_tokens: Those of `completion_tokens` that came by batches, likewise.
        models: The usage of each model, by its name, which is not shown with it. Calls that a graph
            saved have no model.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    faults: int = 0
    saved_prompt_tokens: int = 0
    saved_completion_tokens: int = 0
    cached_tokens: int = 0
    batch_prompt_tokens: int = 0
    batch_completion_tokens: int = 0
    models: Annotated[Mapping[str, Usage], Field(exclude=True)] = field(
        default_factory=dict, compare=False
    )

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self.counts.items() if count)
        return f"Usage({counts})"

    @classmethod
    def of_model(cls, model: str, usage: Usage) -> Usage:
        """Return a usage that is all of one model."""
        return replace(usage, models={model: replace(usage, models={})})

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Usage:
        """Return a usage from the JSON object that `row` made of it."""
        models = {name: cls.read(part) for name, part in row.get("models", {}).items()}
        return cls(**{**row, "models": models})

    @property
    def counts(self) -> dict[str, int]:
        """All counts by their names."""
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def row(self) -> dict[str, Any]:
        """The usage as a JSON object; it has the parts of models only if models are known."""
        models = {name: part.counts for name, part in self.models.items()}
        return {**self.counts, "models": models} if models else dict(self.counts)

    @property
    def unnamed(self) -> Usage:
        """The part of which the model is not known."""
        return self - sum(self.models.values(), Usage())

    @property
    def batched(self) -> Usage:
        """The usage as it would be if all calls were made by batches."""
        return replace(
            self,
            cached_tokens=0,
            batch_prompt_tokens=self.prompt_tokens,
            batch_completion_tokens=self.completion_tokens,
            models={name: part.batched for name, part in self.models.items()},
        )

    @property
    def uncached(self) -> Usage:
        """The usage as it would be without the response cache: saved calls count as made."""
        return Usage(
            self.calls + self.saved,
            self.prompt_tokens + self.saved_prompt_tokens,
            self.completion_tokens + self.saved_completion_tokens,
            faults=self.faults,
            batch_prompt_tokens=self.batch_prompt_tokens,
            batch_completion_tokens=self.batch_completion_tokens,
            models={name: part.uncached for name, part in self.models.items()},
        )

    def __add__(self, other: Usage) -> Usage:
        models = {**self.models}
        for name, part in other.models.items():
            models[name] = models[name] + part if name in models else part
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Usage(**counts, models=models)

    def __sub__(self, other: Usage) -> Usage:
        """Return what was added since `other`; no count is below 0."""
        counts = {name: max(0, getattr(self, name) - getattr(other, name)) for name in COUNTS}
        models = {
            name: part - other.models[name] if name in other.models else part
            for name, part in self.models.items()
        }
        return Usage(**counts, models=models)

    def __mul__(self, factor: float) -> Usage:
        """Return so many times the usage, in whole calls and tokens."""
        models = {name: part * factor for name, part in self.models.items()}
        counts = {name: round(count * factor) for name, count in self.counts.items()}
        return Usage(**counts, models=models)


COUNTS = tuple(count.name for count in fields(Usage) if count.name != "models")
"""The names of the counts of a usage."""


def sum_usage(parts: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """Return the usage of each step, or of each model, summed over all parts."""
    total: dict[str, Usage] = {}
    for part in parts:
        for name, usage in part.items():
            total[name] = total.get(name, Usage()) + usage
    return total


def describe_usage(usage: Usage) -> str:
    """Return calls and tokens in words, with the calls saved and the faulty replies, if any."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} prompt{cached} and {usage.completion_tokens:,} completion"
    paid = f"{count_noun(usage.calls, 'call')}, {tokens} tokens"
    parts = [paid if usage.calls else "no model calls"]
    parts += [f"{count_noun(usage.saved, 'call')} saved"] * (usage.saved > 0)
    parts += [f"{count_noun(usage.faults, 'faulty reply')} asked for again"] * (usage.faults > 0)
    return ", ".join(parts)
