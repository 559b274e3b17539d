"""What the graph of facts tells of a document's part, and how it is put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from fabula.graphs.entities.extract import MALFORMED, OVERLONG, SURPLUS, UNPRINTED
from fabula.graphs.facts.checking import ITSELF, UNFIT, UNRELATED, UNTYPED, Checked
from fabula.graphs.facts.normalising import MISNUMBERED
from fabula.graphs.facts.values import Statement

OF_RELATION = "of_relation_"
"""Begins the names of facts that count those of a relation."""
DROPPED = {
    UNPRINTED: "with a name that is printed nowhere",
    UNRELATED: "whose predicate is no relation of the ontology",
    UNTYPED: "with an end that is of no class of it",
    UNFIT: "whose ends are not of the classes that the relation is between",
    ITSELF: "that tie something to itself",
    MALFORMED: "that were no records",
    OVERLONG: "with a name too long to be one",
    SURPLUS: "more than a reply may have",
}
"""Why statements were left out, in words."""
CHECKED = (UNRELATED, UNTYPED, UNFIT, ITSELF)
"""Those that the ontology leaves out: they are counted anew in each build."""
DOUBTFUL = 0.5
"""Share of the statements: where more are left out, the ontology may not fit, or the model."""
SHOWN = 6
"""Relations that are told of by name."""


@dataclass
class Tally:
    """Counts what models write while a build goes on.

    `reused` are those of the `windows` of which all was known.
    """

    windows: int = 0
    reused: int = 0
    stated: list[int] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def count(self, found: Sequence[Statement], dropped: Mapping[str, int]) -> None:
        """A window's statements."""
        words = {(one.subject, one.predicate, one.object) for one in found}
        self.stated.append(len(words))
        self.dropped.update(dropped)


def facts(
    checked: Checked, language_has_rules: bool, tally: Tally, before: Mapping[str, Any]
) -> Mapping[str, Any]:
    """How many there are, how many statements were left out and why, and means for a dry run.

    Of windows that were not asked again, what their replies had that was none counts as much as
    their share in the windows.
    """
    counts = Counter({f"dropped_{why}": len(some) for why, some in checked.left_out.items()})
    counts.update({f"dropped_{why}": count for why, count in tally.dropped.items()})
    share = tally.reused / max(1, tally.windows)
    for name, count in before.items():
        why = name.removeprefix("dropped_")
        if why != name and why not in CHECKED:
            counts[name] += round(share * count)
    relations = Counter(one.predicate for one in checked.facts)
    stated = sum(len(one.statements) for one in checked.facts)
    means = {name: one for name, one in before.items() if name.startswith("mean_")}
    return {
        "facts": len(checked.facts),
        "records": stated + sum(counts[f"dropped_{why}"] for why in DROPPED),
        "turned": checked.turned,
        "proved": sum(any(said.proof for said in one.statements) for one in checked.facts),
        "windows": tally.windows,
        **({} if language_has_rules else {"without_rules": 1}),
        **{f"{OF_RELATION}{name}": count for name, count in sorted(relations.items())},
        **{name: count for name, count in sorted(counts.items()) if count},
        **means,
        **({"mean_statements": fmean(tally.stated)} if tally.stated else {}),
    }


def tell(facts: Mapping[str, Any]) -> Sequence[str]:
    """How many there are of the commonest relations, and what was left out."""
    if facts.get("without_rules"):
        return ["no facts: without a model there are rules for English alone"]
    relations = {
        name.removeprefix(OF_RELATION): count
        for name, count in facts.items()
        if name.startswith(OF_RELATION)
    }
    common = sorted(relations, key=lambda name: (-relations[name], name))
    told = ", ".join(f"{relations[name]:,} {name}" for name in common[:SHOWN])
    more = f", and {len(common) - SHOWN} relations more" if len(common) > SHOWN else ""
    return [f"by relation: {told}{more}" if told else "no facts were found", *_left_out(facts)]


def doubt(facts: Mapping[str, Any]) -> Sequence[str]:
    """What was left out, where it is so much that ontology or model hardly fit."""
    lost = sum(facts.get(f"dropped_{why}", 0) for why in DROPPED)
    return _left_out(facts) if lost > DOUBTFUL * facts.get("records", 0) else []


def _left_out(facts: Mapping[str, Any]) -> list[str]:
    lost = {words: facts.get(f"dropped_{why}", 0) for why, words in DROPPED.items()}
    said: list[str] = []
    if total := sum(lost.values()):
        reasons = ", ".join(f"{count:,} {words}" for words, count in lost.items() if count)
        said.append(f"{total:,} of {facts['records']:,} statements were left out: {reasons}")
    if wrong := facts.get(f"dropped_{MISNUMBERED}", 0):
        said.append(f"{wrong:,} answers named no candidate that was listed")
    return said
