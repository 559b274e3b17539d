"""How well names given by LitBank's annotators are joined.

`python -m fabula_bench.speed.aliases FOLDER` measures it.

The resolver of the graph of entities gets the proper names of each passage as the annotators marked
them, with their types and places, and no other names. A pair of printed names is right if both were
joined and are names of one cluster, wrong if they were joined and have no cluster in common, missed
if they have one and were not joined. `fabula bench run gold` measures the same and more; this lists
every pair that is wrong, by the rule that joined it, and every pair that is missed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from fabula.graphs.entities.findings import join_names
from fabula_bench.gold.litbank import read_litbank
from fabula_bench.gold.novels import AliasPair, pair_given_names


def measure_aliases(folder: Path) -> list[AliasPair]:
    """Return every pair that is right, wrong or missed, of all passages in a folder of LitBank."""
    return [pair for text in read_litbank(folder) for pair in pair_given_names(text, join_names)]


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
