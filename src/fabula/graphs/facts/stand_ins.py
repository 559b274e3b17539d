"""Replies as models may be expected to write them, so that a build can be counted unpaid."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from fabula.graphs.entities.windows import Window

USUAL = {"mean_statements": 10.0}
"""Of a model that nothing is known of: facts of a window."""
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class StandIns:
    """Replies of the mean lengths of what models wrote before."""

    means: Mapping[str, float]

    @classmethod
    def expected(cls, means: Mapping[str, float]) -> StandIns:
        """By the means of facts, and by what is usual where nothing was written yet."""
        return cls({**USUAL, **means})

    def stated(self, window: Window, classes: Sequence[str]) -> str:
        """As many facts as are expected, as JSON: words that the passages print."""
        text = "\n".join(chunk.text for chunk in window.chunks)
        counts = Counter(_WORD.findall(text)) or Counter(["nothing"])
        words = sorted(counts, key=lambda word: (not word[0].isupper(), -counts[word], word))
        ends, kinds = cycle(words), cycle(classes)
        told = [
            {
                "subject": next(ends),
                "predicate": f"has to do with {number}",
                "object": next(ends),
                "subject_type": next(kinds),
                "object_type": next(kinds),
                "parts": [1],
            }
            for number in range(round(self.means["mean_statements"]))
        ]
        return json.dumps({"triples": told}, ensure_ascii=False)

    def chosen(self, names: int, predicates: int) -> str:
        """The first candidate of all, as JSON."""
        numbers = {"names": names, "predicates": predicates}
        return json.dumps(
            {
                name: [{"n": number, "is": 1} for number in range(1, count + 1)]
                for name, count in numbers.items()
            }
        )
