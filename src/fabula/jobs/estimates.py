"""What a job would do, ask of models and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fabula.errors import FabulaError
from fabula.graph import Gap
from fabula.jobs.uploads import Upload
from fabula.models.batch_options import BatchOptions
from fabula.models.prices import Cost
from fabula.models.usage import Usage, sum_usage

if TYPE_CHECKING:
    from fabula.build.outcome import Outcome
    from fabula.config.settings import Settings
    from fabula.library.collection import Collection


@dataclass(frozen=True)
class ShownOutcome:
    """What became of a source, or what would, as JSON has it.

    Attributes:
        source: The file or address; of work on all of a collection, its name.
        status: What became of it.
        document: The document's id; '' where it failed.
        title: Its title; '' where it failed.
        graphs: The graphs that were built.
        counts: How many nodes were made, by kind.
        notes: Sentences about what was made or changed that are worth reading.
        gaps: The pieces that no model gave.
        left_out: How many characters of the file are not in the document's text, by kind.
        warnings: What was wrong with the file.
        usage: What each step asked of models.
        seconds: How long it took.
        error: Why it failed; '' if it did not.
    """

    source: str
    status: str
    document: str
    title: str
    graphs: Sequence[str]
    counts: Mapping[str, int]
    notes: Sequence[str]
    gaps: Sequence[Gap]
    left_out: Mapping[str, int]
    warnings: Sequence[str]
    usage: Mapping[str, Usage]
    seconds: float
    error: str

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """Return an outcome as it is shown."""
        same = [name for name in cls.__dataclass_fields__ if name not in ("usage", "error")]
        values = {name: getattr(outcome, name) for name in same}
        return cls(**values, usage=outcome.steps, error=str(outcome.error or ""))


@dataclass(frozen=True)
class Estimate:
    """What a job would do, ask of models and cost.

    It is an estimate, because the length of the models' replies is not known before.

    Attributes:
        items: What would become of each document, or of the collection.
        usage: What each step would ask of models.
        calls: How many calls that is.
        tokens: How many tokens are sent and received.
        money: US dollars, as far as prices are known; None if no price is.
        unpriced: The models whose price is not known.
        uploads: The files, which a later request may name within 24 hours.
    """

    items: Sequence[ShownOutcome]
    usage: Mapping[str, Usage]
    calls: int
    tokens: int
    money: float | None
    unpriced: Sequence[str]
    uploads: Sequence[Upload] = ()

    @classmethod
    def of(
        cls,
        settings: Settings,
        outcomes: Sequence[Outcome],
        *,
        batch: bool = False,
        uploads: Sequence[Upload] = (),
    ) -> Self:
        """Return the estimate of what a dry run expects, by the prices of the settings.

        Args:
            settings: The settings.
            outcomes: What the run expects.
            batch: Whether models would be asked by batches.
            uploads: The files.
        """
        usage = sum_usage(outcome.steps for outcome in outcomes)
        if batch:
            usage = {step: used.batched for step, used in usage.items()}
        cost, total = settings.cost(usage), sum(usage.values(), Usage())
        return cls(
            [ShownOutcome.of(outcome) for outcome in outcomes],
            usage,
            total.calls,
            total.prompt_tokens + total.completion_tokens,
            cost.money,
            cost.unpriced,
            uploads,
        )


def refuse_batches(collection: Collection) -> None:
    """Raise SettingsError if models can't be asked by batches here."""
    collection.models.batch_rounds(BatchOptions())


def cost_by_batches(collection: Collection, expected: Estimate) -> Cost | None:
    """Return what an estimate would cost by batches; None if models can't be asked so here."""
    try:
        refuse_batches(collection)
    except FabulaError:
        return None
    return collection.settings.cost({step: used.batched for step, used in expected.usage.items()})
