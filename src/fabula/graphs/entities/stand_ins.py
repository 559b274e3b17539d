"""Replies as models may be expected to write them, so that a build can be counted unpaid.

Their names are those that the passages print, so that what is told of them piles up as it does
with a model: who is in every window has many statements, which a call merges.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from fabula.graph.extraction import Window
from fabula.graphs.entities.types import EntityType
from fabula.text import tokens

USUAL = {
    "mean_entities": 10.0,
    "mean_relations": 9.0,
    "mean_gleaned": 3.0,
    "mean_said": 25.0,
    "mean_triples": 10.0,
}
"""Of a model that nothing is known of: records in a first reply and in one that adds to it, tokens
of what a record says, and facts of a window. Edge et al. 2024 have, merged, 5 entities and 6 to 12
relations of a piece of 600 tokens. `mean_merged`, tokens of a merged description, is a share of its
limit."""
USUAL_SHARE = 0.7
_NAME = re.compile(r"(?<![.!?\"“”'‘’\n] )(?<!^)\b[A-Z]\w+(?: [A-Z]\w+)*")
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class StandIns:
    """Replies of the mean lengths of what models wrote before."""

    means: Mapping[str, float]

    @classmethod
    def expected(cls, means: Mapping[str, float], description_tokens: int) -> StandIns:
        """By the means of facts, and by what is usual where nothing was written yet."""
        return cls({**USUAL, "mean_merged": USUAL_SHARE * description_tokens, **means})

    def extracted(self, window: Window, types: Sequence[EntityType]) -> str:
        """As many entities and relations as are expected, as JSON."""
        names = list(islice(_names(window), max(1, round(self.means["mean_entities"]))))
        said = _statements(window, self.means["mean_said"])
        kinds = cycle([one.name for one in types])
        entities = [
            {"name": name, "type": kind, "aliases": [], "description": text, "parts": []}
            for name, kind, text in zip(names, kinds, said, strict=False)
        ]
        return self._told(entities, names, round(self.means["mean_relations"]), said)

    def gleaned(self, window: Window, turn: int) -> str:
        """As many more records as are expected, all of them relations, as JSON."""
        names = list(islice(_names(window), max(1, round(self.means["mean_entities"]))))
        said = _statements(window, self.means["mean_said"], turn + 1)
        return self._told([], names[::-1], round(self.means["mean_gleaned"]), said)

    def stated(self, window: Window) -> str:
        """As many facts as are expected, as JSON."""
        names = cycle(list(_names(window)))
        said = islice(_statements(window, 5), round(self.means["mean_triples"]))
        facts = [
            {"subject": next(names), "predicate": text, "object": next(names), "parts": []}
            for text in said
        ]
        return json.dumps({"triples": facts}, ensure_ascii=False)

    def described(self, statements: str) -> str:
        """The beginning of the statements."""
        return tokens.cut(statements, round(self.means["mean_merged"])) or "nothing"

    def described_together(self, statements: Sequence[str]) -> str:
        """The beginnings of the statements about each subject, as JSON."""
        told = [
            {"number": number, "description": self.described(some)}
            for number, some in enumerate(statements, 1)
        ]
        return json.dumps({"descriptions": told}, ensure_ascii=False)

    def _told(
        self, entities: list[Any], names: Sequence[str], count: int, said: Iterator[str]
    ) -> str:
        pairs = [(one, other) for one in names for other in names if one < other]
        relations = [
            {
                "source": one,
                "target": other,
                "description": text,
                "keywords": ["a word", "another word"],
                "strength": 5,
                "parts": [],
            }
            for (one, other), text in zip(pairs[:count], said, strict=False)
        ]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)


def _names(window: Window) -> Iterator[str]:
    """What the passages print with a capital within sentences, commonest first; then long words."""
    text = "\n".join(chunk.text for chunk in window.chunks)
    for pattern in (_NAME, _WORD):
        counts = Counter(" ".join(found[0].split()) for found in pattern.finditer(text))
        yield from sorted(counts, key=lambda name: (-counts[name], name))
    yield from () if _WORD.search(text) else [" ".join(text.split())[:20] or "nothing"]


def _statements(window: Window, length: float, turn: int = 0) -> Iterator[str]:
    """Runs of the passages' words of so many tokens, none like another, without an end."""
    words = " ".join(" ".join(chunk.text.split()) for chunk in window.chunks).split() or ["nothing"]
    size = max(1, round(length * 0.75))
    for start in range(turn * 7, 1_000_000, size):
        told = islice(cycle(words), start % len(words), start % len(words) + size)
        yield f"{start}: {' '.join(told)}"
