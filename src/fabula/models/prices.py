"""What models cost: a shipped list of prices, and the user's own."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.models.usage import Usage

SHIPPED = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prompt: float = Field(ge=0)
    completion: float = Field(0.0, ge=0)
    cached: float | None = Field(None, ge=0)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens sent, for a million written, and for a million of those sent
    that the endpoint has in its prefix cache; None: as much as for others.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """What this usage costs, in US dollars."""
        cached = self.prompt if self.cached is None else self.cached
        sent = usage.prompt_tokens - usage.cached_tokens
        paid = sent * self.prompt + usage.cached_tokens * cached
        return (paid + usage.completion_tokens * self.completion) / MILLION


@dataclass(frozen=True, slots=True)
class Cost:
    """What a usage costs: US dollars as far as prices are known, and the models without a price.

    What is not known is never taken for nothing: where `unpriced` names a model, the cost is
    `known` and something more.
    """

    known: float = 0.0
    unpriced: tuple[str, ...] = ()

    @property
    def money(self) -> float | None:
        """The known part; None where nothing of the cost is known."""
        return None if self.unpriced and not self.known else round(self.known, 8)


def cost(prices: Mapping[str, Price], models: Mapping[str, Usage]) -> Cost:
    """Price what each model was asked; the one place where a usage becomes money."""
    known, unpriced = 0.0, []
    for model, usage in models.items():
        if not usage.prompt_tokens + usage.completion_tokens:
            continue
        own = price(prices, model)
        if own is None:
            unpriced.append(model)
        else:
            known += own.of(usage)
    return Cost(known, tuple(sorted(unpriced)))


def read_prices(own: Path | None) -> dict[str, Price]:
    """The shipped prices and a user's own by model, the user's first. Raises SettingsError."""
    return {**_read(SHIPPED, 0), **(_read(own, _changed_at(own)) if own else {})}


def price(prices: Mapping[str, Price], model: str) -> Price | None:
    """The price of a model, by its name, or by the longest name that it is a dated version of."""
    fitting = [name for name in prices if model == name or model.startswith(f"{name}-2")]
    return prices[max(fitting, key=len)] if fitting else None


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed_at: int) -> dict[str, Price]:
    """Read a list of prices, once for each time that it was changed: each call is priced by it."""
    try:
        entries = TypeAdapter(dict[str, _Entry]).validate_python(
            tomllib.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} can't be read as a list of prices: {error}.") from error
    except ValidationError as error:
        raise SettingsError(
            f"{path}, {first_problem(error)}. Each table is a model's name with prompt "
            "and completion, and maybe cached, in US dollars for a million tokens."
        ) from error
    return {name: Price(one.prompt, one.completion, one.cached) for name, one in entries.items()}
