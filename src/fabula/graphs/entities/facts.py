"""What the graph itself tells of a document's part, and how it is put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from fabula import tokens
from fabula.graphs.entities.extract import (
    ITSELF,
    MALFORMED,
    OVERLONG,
    SURPLUS,
    UNLISTED,
    UNPRINTED,
    Records,
)
from fabula.graphs.entities.triples import Fact, Triple
from fabula.graphs.entities.values import Cast

DROPPED = {
    UNPRINTED: "with a name that is printed nowhere",
    UNLISTED: "that tie what is no entity",
    ITSELF: "that tie an entity to itself",
    MALFORMED: "that were no records",
    OVERLONG: "with a name too long to be one",
    SURPLUS: "more than a reply may have",
}
"""Why records were left out, in words."""


@dataclass
class Tally:
    """Counts what models write while a build goes on.

    `reused` are those of the `windows` of which all was known.
    """

    windows: int = 0
    reused: int = 0
    retyped: int = 0
    listed: list[Records] = field(default_factory=list)
    gleaned: list[int] = field(default_factory=list)
    stated: list[int] = field(default_factory=list)
    unstated: Counter[str] = field(default_factory=Counter)
    merged: list[str] = field(default_factory=list)

    def count(self, first: Records, every: Records, retyped: int) -> None:
        """A window's records: of the first reply, and of it and those that added to it."""
        self.listed.append(first)
        self.gleaned.append(_size(every) - _size(first))
        self.retyped += retyped

    def count_facts(self, found: Sequence[Fact], dropped: Mapping[str, int]) -> None:
        """A window's facts."""
        self.stated.append(len(found))
        self.unstated.update(dropped)

    def means(self) -> dict[str, float]:
        """What a dry run expects of other documents; nothing where there was nothing to count."""
        said = [one.said for told in self.listed for one in told.entities]
        said += [one.said for told in self.listed for one in told.relations]
        counts: dict[str, Sequence[float]] = {
            "mean_entities": [len(one.entities) for one in self.listed],
            "mean_relations": [len(one.relations) for one in self.listed],
            "mean_gleaned": self.gleaned,
            "mean_said": tokens.count_all(said),
            "mean_triples": self.stated,
            "mean_merged": tokens.count_all(self.merged),
        }
        return {name: fmean(found) for name, found in counts.items() if found}


def facts(
    cast: Cast,
    triples: Sequence[Triple],
    dropped: Mapping[str, int],
    tally: Tally,
    before: Mapping[str, Any],
) -> Mapping[str, Any]:
    """How much there is, how many records were left out and why, and means for a dry run.

    Windows that were not asked again have the share in what was left out `before` that they have
    in the windows: which of those it was is not known any more.
    """
    counts = Counter({f"dropped_{why}": count for why, count in dropped.items()})
    counts.update({f"dropped_{why}": count for why, count in tally.unstated.items()})
    counts["retyped"] += tally.retyped
    share = tally.reused / max(1, tally.windows)
    for name, count in before.items():
        if name == "retyped" or name.startswith("dropped_"):
            counts[name] += round(share * count)
    means = {name: value for name, value in before.items() if name.startswith("mean_")}
    return {
        "entities": len(cast.entities),
        "relations": len(cast.relations),
        "triples": len(triples),
        "windows": tally.windows,
        **{name: count for name, count in sorted(counts.items()) if count},
        **means,
        **tally.means(),
    }


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """How many there are, and how much of what a model listed was not borne out by the text."""
    counted = [
        f"{facts[kind]:,} {kind}"
        for kind in ("entities", "relations", "triples")
        if facts.get(kind)
    ]
    said = [", ".join(counted)] if counted else ["no entities were found"]
    lost = {words: facts.get(f"dropped_{why}", 0) for why, words in DROPPED.items()}
    if total := sum(lost.values()):
        reasons = ", ".join(f"{count:,} {words}" for words, count in lost.items() if count)
        of = _records(total)
        said.append(f"{of} not borne out by the text, and left out: {reasons}")
    if retyped := facts.get("retyped", 0):
        said.append(f"{retyped:,} entities had a type that is not listed")
    return said


def _records(count: int) -> str:
    return "1 record was" if count == 1 else f"{count:,} records were"


def _size(records: Records) -> int:
    return len(records.entities) + len(records.relations)
