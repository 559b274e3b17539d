"""What a graph counts of a model's replies, and how its facts say so.

The facts of a part have counts by the names `records` (of all that replies listed) and
`dropped_<reason>`, and averages by names that begin with `mean_`, which the next dry run goes by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

DROPPED, RECORDS = "dropped_", "records"


def count_dropped(reasons: Mapping[str, int]) -> Counter[str]:
    """Return how many records were left out, by the names of facts."""
    return Counter({f"{DROPPED}{reason}": count for reason, count in reasons.items()})


def means(values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the averages of values, without those of which there are none."""
    return {name: fmean(numbers) for name, numbers in values.items() if numbers}


def list_counts(facts: Mapping[str, Any], prefix: str) -> list[str]:
    """Return what facts count by names with a prefix, as ["12 person", "3 place"], most first."""
    counts = {
        name.removeprefix(prefix): count for name, count in facts.items() if name.startswith(prefix)
    }
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:,} {name}" for name, count in ordered]


@dataclass(frozen=True, slots=True)
class DroppedRecords:
    """Why records of replies are left out, and how a graph says so.

    Attributes:
        reasons: Each reason in words.
        max_share: The share of all records that may be left out. If more are, the model may be
            unfit for what it is asked.
        sentence: Names the {count} that was left out, of how many {records}, for which {reasons}.
        others: What else is reported, by the name of the fact that has the {count}.
    """

    reasons: Mapping[str, str]
    max_share: float
    sentence: str = "{count:,} of {records:,} records were left out: {reasons}"
    others: Mapping[str, str] = field(default_factory=dict)

    def count(self, facts: Mapping[str, Any]) -> int:
        """Return how many were left out."""
        return sum(facts.get(f"{DROPPED}{reason}", 0) for reason in self.reasons)

    def describe(self, facts: Mapping[str, Any]) -> list[str]:
        """Return what was left out, and what else is reported, in sentences."""
        sentences: list[str] = []
        if total := self.count(facts):
            counts = {words: facts.get(f"{DROPPED}{why}", 0) for why, words in self.reasons.items()}
            listed = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
            records = facts.get(RECORDS, 0)
            sentences.append(self.sentence.format(count=total, records=records, reasons=listed))
        found = ((facts.get(name, 0), sentence) for name, sentence in self.others.items())
        return sentences + [sentence.format(count=count) for count, sentence in found if count]

    def warnings(self, facts: Mapping[str, Any], others: int = 0) -> list[str]:
        """Return the same if too many were left out, `others` counted with them; else nothing."""
        lost: int = self.count(facts) + others
        return self.describe(facts) if lost > self.max_share * facts.get(RECORDS, 0) else []
