"""What the graph itself tells of a document's part, and how it is put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

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
from fabula.text import tokens

OF_TYPE = "of_type_"
"""Begins the names of facts that count the entities of a type."""
DROPPED = {
    UNPRINTED: "with a name that is printed nowhere",
    UNLISTED: "that tie what is no entity",
    ITSELF: "that tie an entity to itself",
    MALFORMED: "that were no records",
    OVERLONG: "with a name too long to be one",
    SURPLUS: "more than a reply may have",
}
"""Why records were left out, in words."""
DOUBTFUL = 0.1
"""Share of the records: where more are not borne out, a model may be unfit for it."""


@dataclass
class Tally:
    """Counts what models write while a build goes on.

    `reused` are those of the `windows` of which all was known; `is_stated` says whether all of
    them were asked for facts, too.
    """

    windows: int = 0
    reused: int = 0
    records: int = 0
    retyped: int = 0
    is_stated: bool = False
    listed: list[Records] = field(default_factory=list)
    gleaned: list[int] = field(default_factory=list)
    stated: list[int] = field(default_factory=list)
    unstated: Counter[str] = field(default_factory=Counter)
    merged: list[str] = field(default_factory=list)

    def count(self, first: Records, every: Records, retyped: int) -> None:
        """A window's records: of the first reply, and of it and those that added to it."""
        self.listed.append(first)
        self.gleaned.append(_size(every) - _size(first))
        self.records += _size(every) + sum(every.dropped.values())
        self.retyped += retyped

    def count_facts(self, found: Sequence[Fact], dropped: Mapping[str, int]) -> None:
        """A window's facts."""
        stated = len({(one.subject, one.predicate, one.object) for one in found})
        self.stated.append(stated)
        self.records += stated + sum(dropped.values())
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
    """How much there is, how many `records` models wrote, how many of them were left out and why.

    And means for a dry run. Windows that were not asked again have the share in what was counted
    `before` that they have in the windows: what was of which is not known any more.
    """
    counts = Counter({f"dropped_{why}": count for why, count in dropped.items()})
    counts.update({f"dropped_{why}": count for why, count in tally.unstated.items()})
    counts.update({"records": tally.records, "retyped": tally.retyped})
    types = Counter(sorted(one.type for one in cast.entities))
    share = tally.reused / max(1, tally.windows)
    for name, count in before.items():
        if name in ("records", "retyped") or name.startswith("dropped_"):
            counts[name] += round(share * count)
    means = {name: value for name, value in before.items() if name.startswith("mean_")}
    return {
        "entities": len(cast.entities),
        "relations": len(cast.relations),
        "triples": len(triples),
        **{f"{OF_TYPE}{type}": count for type, count in types.most_common()},
        "windows": tally.windows,
        "stated": tally.is_stated,
        **{name: count for name, count in sorted(counts.items()) if count},
        **means,
        **tally.means(),
    }


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """How many there are of each type, and how much of what a model listed was not borne out."""
    types = {
        name.removeprefix(OF_TYPE): count
        for name, count in facts.items()
        if name.startswith(OF_TYPE)
    }
    told = ", ".join(
        f"{types[type]:,} {type}" for type in sorted(types, key=lambda type: (-types[type], type))
    )
    return [f"by type: {told}" if told else "no entities were found", *_left_out(facts)]


def doubt(facts: Mapping[str, Any]) -> Sequence[str]:
    """What was left out, where it is so much that the model is hardly fit for it."""
    lost = sum(facts.get(f"dropped_{why}", 0) for why in DROPPED) + facts.get("retyped", 0)
    return _left_out(facts) if lost > DOUBTFUL * facts.get("records", 0) else []


def _left_out(facts: Mapping[str, Any]) -> list[str]:
    said: list[str] = []
    lost = {words: facts.get(f"dropped_{why}", 0) for why, words in DROPPED.items()}
    if total := sum(lost.values()):
        reasons = ", ".join(f"{count:,} {words}" for words, count in lost.items() if count)
        said.append(
            f"{total:,} of {facts['records']:,} records were not borne out by the text, and left "
            f"out: {reasons}"
        )
    if retyped := facts.get("retyped", 0):
        said.append(f"{retyped:,} entities had a type that is not listed")
    return said


def _size(records: Records) -> int:
    return len(records.entities) + len(records.relations)
