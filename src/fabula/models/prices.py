"""What models cost, by a list of prices that comes with Fabula and the user's own list."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.models.usage import Usage

SHIPPED = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in US dollars for a million tokens.

    Attributes:
        prompt: For tokens sent.
        completion: For tokens received.
        cached: For tokens sent that the endpoint has in its prefix cache; None: as for others.
        batch: The share of these prices that is paid for tokens of batches.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    prompt: Annotated[float, Field(ge=0)]
    completion: Annotated[float, Field(ge=0)] = 0.0
    cached: Annotated[float, Field(ge=0)] | None = None
    batch: Annotated[float, Field(ge=0, le=1)] = 0.5

    def of(self, usage: Usage) -> float:
        """Return the cost of a usage in US dollars."""
        cached = self.prompt if self.cached is None else self.cached
        sent = usage.prompt_tokens - usage.cached_tokens
        paid = sent * self.prompt + usage.cached_tokens * cached
        # Tokens of batches are never counted as cached: `fabula.models.batched`.
        batched = (
            usage.batch_prompt_tokens * self.prompt
            + usage.batch_completion_tokens * self.completion
        )
        return (
            paid + usage.completion_tokens * self.completion - (1 - self.batch) * batched
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a usage.

    An unknown price is never taken for 0: where `unpriced` is not empty, the cost is higher than
    `known` by an unknown amount.

    Attributes:
        known: The cost, in US dollars, of models whose price is known.
        unpriced: The models without a known price.
    """

    known: float = 0.0
    unpriced: tuple[str, ...] = ()

    @property
    def money(self) -> float | None:
        """The known part of the cost, in US dollars; None if no part is known."""
        return None if self.unpriced and not self.known else round(self.known, 8)


def cost(prices: Mapping[str, Price], models: Mapping[str, Usage]) -> Cost:
    """Return the cost of the usage of each model. All costs are computed here."""
    known, unpriced = 0.0, []
    for model, usage in models.items():
        if not usage.prompt_tokens + usage.completion_tokens:
            continue
        model_price = price(prices, model)
        if model_price is None:
            unpriced.append(model)
        else:
            known += model_price.of(usage)
    return Cost(known, tuple(sorted(unpriced)))


def read_prices(file: Path | None) -> dict[str, Price]:
    """Return the prices by model: those that come with Fabula, and over them the user's file.

    Raises:
        SettingsError: The user's list can't be read.
    """
    return {**_read(SHIPPED, 0), **(_read(file, _changed_at(file)) if file else {})}


def price(prices: Mapping[str, Price], model: str) -> Price | None:
    """Return the price of a model, or of the longest name that it is a dated version of."""
    matches = [name for name in prices if model == name or model.startswith(f"{name}-2")]
    return prices[max(matches, key=len)] if matches else None


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed_at: int) -> dict[str, Price]:
    """Read a list of prices, again only after a change, as each call is priced by it."""
    try:
        prices = tomllib.loads(path.read_text(encoding="utf-8"))
        return TypeAdapter(dict[str, Price]).validate_python(prices)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} can't be read as a list of prices: {error}.") from error
    except ValidationError as error:
        raise SettingsError(
            f"{path}, {first_problem(error)}. Each table is named like a model and has prompt and "
            "completion, and optionally cached, in US dollars for a million tokens; batch is "
            "the share of them that is paid for batches."
        ) from error
