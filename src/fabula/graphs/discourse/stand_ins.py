"""Replies as models may be expected to write them, so that a build can be counted unpaid."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula.graphs.discourse.senses import Senses
from fabula.graphs.discourse.values import ENTITY, IMPLICIT, SLOTS
from fabula.graphs.entities.windows import Window
from fabula.text.document import Chunk

USUAL = {"mean_events": 1.5, "mean_slots": 4.0, "mean_words": 2.5, "mean_linked": 0.5}
"""Of a model that nothing is known of: events of a passage, slots of an event that say something,
words of each, and the share of pairs that it links."""
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class StandIns:
    """Replies of the mean lengths of what models wrote before."""

    means: Mapping[str, float]

    @classmethod
    def expected(cls, means: Mapping[str, float]) -> StandIns:
        """By the means of facts, and by what is usual where nothing was written yet."""
        return cls({**USUAL, **means})

    def events(self, window: Window) -> str:
        """As many events as are expected, as JSON; their values are words of the passages."""
        count = round(self.means["mean_events"] * len(window.chunks))
        filled = max(1, min(len(SLOTS), round(self.means["mean_slots"])))
        size = max(1, round(self.means["mean_words"]))
        told = []
        for at in range(count):
            # The first of each passage, then the second ones.
            row = at % len(window.chunks)
            found = _WORD.findall(window.chunks[row].text) or ["nothing"]
            begin = at // len(window.chunks)
            values = [
                " ".join(found[(begin + slot * size + word) % len(found)] for word in range(size))
                for slot in range(filled)
            ]
            none = [None] * (len(SLOTS) - filled)
            told.append({"part": row + 1, **dict(zip(SLOTS, [*values, *none], strict=True))})
        return json.dumps({"events": told}, ensure_ascii=False)

    def links(self, pairs: Sequence[tuple[Chunk, Chunk]], senses: Senses) -> str:
        """As many links as are expected, one item a pair, as JSON."""
        linked = round(self.means["mean_linked"] * len(pairs))
        sense = senses.leaves[0].path
        told = [
            {
                "pair": number,
                "relation": IMPLICIT if number <= linked else ENTITY,
                "sense": sense,
                "connective": "then" if number <= linked else None,
            }
            for number in range(1, len(pairs) + 1)
        ]
        return json.dumps({"links": told}, ensure_ascii=False)
