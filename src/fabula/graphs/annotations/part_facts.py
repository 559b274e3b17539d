"""What the graph of annotations counts of a document's part, and how it describes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.annotations import PlacedAnnotation
from fabula.text.anchoring import FUZZY, POSITION, QUOTE


def count_facts(placed: Mapping[str, Sequence[PlacedAnnotation]]) -> Mapping[str, Any]:
    """Return how many annotations there are, and how their words were found in the text."""
    counts: Counter[str] = Counter()
    for items in placed.values():
        for item in items:
            counts[item.anchor.how if item.anchor else "orphaned"] += 1
    return {
        "layers": sorted(placed),
        "annotations": sum(len(items) for items in placed.values()) - counts["orphaned"],
        "moved": counts[QUOTE],
        "changed": counts[FUZZY],
        "in_place": counts[POSITION],
        "orphaned": counts["orphaned"],
    }


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return how many annotations there are, and what became of them in an edited text."""
    layers = len(facts["layers"])
    if not layers:
        return ["nothing is imported or noted: `fabula annotations import` and `fabula notes add`"]
    lines = [
        f"{facts['annotations']:,} annotations of {layers:,} layer{'s' if layers != 1 else ''}"
    ]
    if facts["moved"]:
        lines.append(f"{facts['moved']:,} were found again elsewhere in the text")
    if facts["changed"]:
        lines.append(f"{facts['changed']:,} were found again at words that differ a little")
    if facts["orphaned"]:
        lines.append(
            f"{facts['orphaned']:,} are orphaned: their words stand nowhere in the text "
            "(`fabula annotations show --orphaned`)"
        )
    return lines
