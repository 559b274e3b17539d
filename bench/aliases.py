"""How well names given by LitBank's annotators are joined: `python -m bench.aliases FOLDER`.

The resolver of the graph of entities gets the proper names of each passage as the annotators marked
them, with their types and counts, and no other names. A pair of printed names is right if both were
joined and are names of one cluster, wrong if they were joined and have no cluster in common, missed
if they have one and were not joined.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from fabula.experiments.gold.litbank import LitBankText, read_litbank
from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.entities.pronouns import count_pronouns
from fabula.graphs.entities.resolve import NameForm, NameGroup, resolve

TYPES = {"PER": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organization"}
"""LitBank's types as the graph calls them; a vehicle is an object."""


@dataclass(frozen=True, slots=True)
class AliasPair:
    """Two printed names of a passage.

    Attributes:
        text: The passage.
        names: The names.
        counts: How often each is printed in the passage.
        is_person: Whether both are persons' names.
        verdict: right, wrong or missed.
        rule: The level of the resolver that joined them; '' for a missed pair.
    """

    text: str
    names: tuple[str, str]
    counts: tuple[int, int]
    is_person: bool
    verdict: str
    rule: str


def measure_aliases(folder: Path) -> list[AliasPair]:
    """Return every pair that is right, wrong or missed, of all passages in a folder of LitBank."""
    return [pair for text in read_litbank(folder) for pair in _pairs(text)]


def _pairs(text: LitBankText) -> Iterator[AliasPair]:
    clusters: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    places: dict[str, list[int]] = defaultdict(list)
    for mention in text.mentions:
        if mention.form == "PROP":
            clusters[mention.text, TYPES.get(mention.type, "object")][mention.cluster] += 1
            places[mention.text].append(mention.start)
    forms = {
        NameForm(name, type, of_name.total(), place=places[name][0]): of_name
        for (name, type), of_name in clusters.items()
    }
    ordinary = {word for word in text.text.split() if word.isalpha() and word.islower()}
    groups = resolve(
        frozenset(forms),
        language="en",
        decisions=Decisions(),
        ordinary=ordinary,
        pronouns=count_pronouns(places, text.text, "en"),
    ).groups
    group_of = {form: number for number, group in enumerate(groups) for form in group.forms}
    for first, second in combinations(forms, 2):
        is_gold = not forms[first].keys().isdisjoint(forms[second])
        is_joined = group_of[first] == group_of[second]
        if is_gold or is_joined:
            yield AliasPair(
                text.name,
                (first.name, second.name),
                (first.count, second.count),
                first.type == second.type == "person",
                "missed" if not is_joined else "right" if is_gold else "wrong",
                _rule(groups[group_of[first]], first, second) if is_joined else "",
            )


def _rule(group: NameGroup, first: NameForm, second: NameForm) -> str:
    """The levels on the way from one form to the other, over the pairs that were joined."""
    ways: dict[NameForm, tuple[str, ...]] = {first: ()}
    waiting = [first]
    for form in waiting:
        for one, other, why in group.joined:
            for here, there in ((one, other), (other, one)):
                if here == form and there not in ways:
                    ways[there] = (*ways[form], why)
                    waiting.append(there)
    return " + ".join(ways[second])


def main(folder: Path) -> None:
    """Print precision and recall, the wrong pairs by rule, and the missed pairs."""
    pairs = measure_aliases(folder)
    for which, of in (
        ("all", pairs),
        ("persons", [pair for pair in pairs if pair.is_person]),
    ):
        counts = Counter(pair.verdict for pair in of)
        right, wrong, missed = counts["right"], counts["wrong"], counts["missed"]
        print(
            f"{which}: {right} right, {wrong} wrong, {missed} missed: "
            f"precision {right / max(1, right + wrong):.3f}, "
            f"recall {right / max(1, right + missed):.3f}"
        )
    for verdict in ("wrong", "missed"):
        print(f"\n{verdict}:")
        for pair in sorted(pairs, key=lambda pair: (pair.rule, pair.text)):
            if pair.verdict == verdict:
                names = (f"{name} ({n})" for name, n in zip(pair.names, pair.counts, strict=True))
                print(f"  {pair.rule:20} {pair.text.split('_')[0]:>6}  {' = '.join(names)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
