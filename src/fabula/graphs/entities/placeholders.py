"""Placeholders: the replies about entities that a dry run assumes, to count what a build costs.

Their names are those that the passages print, so that statements about them pile up as they do
with a model: whoever is in every window has many statements, which a call merges.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from fabula.graph.extraction import TextWindow
from fabula.graphs.entities.types import EntityType
from fabula.text import tokens

USUAL = {
    "mean_entities": 10.0,
    "mean_relations": 9.0,
    "mean_gleaned": 3.0,
    "mean_said": 25.0,
    "mean_triples": 10.0,
}
"""What is assumed of a model that wrote nothing yet: records in a first reply and in a follow-up,
tokens of a record's description, and facts of a window. Edge et al. 2024 report, after merging, 5
entities and 6 to 12 relations for a piece of 600 tokens. `mean_merged`, the tokens of a merged
description, is a share of its limit."""
USUAL_SHARE = 0.7
_NAME = re.compile(r"(?<![.!?\"“”'‘’\n] )(?<!^)\b[A-Z]\w+(?: [A-Z]\w+)*")
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class EntityPlaceholders:
    """Makes replies of the mean lengths that models wrote before."""

    means: Mapping[str, float]

    @classmethod
    def of_means(cls, means: Mapping[str, float], description_tokens: int) -> EntityPlaceholders:
        """Return placeholders by the means of facts, and the usual lengths where there are none."""
        return cls({**USUAL, "mean_merged": USUAL_SHARE * description_tokens, **means})

    def extraction(self, window: TextWindow, types: Sequence[EntityType]) -> str:
        """Return as many entities and relations as are expected, as JSON."""
        names = list(islice(_names(window), max(1, round(self.means["mean_entities"]))))
        texts = _statements(window, self.means["mean_said"])
        kinds = cycle([type.name for type in types])
        entities = [
            {"name": name, "type": kind, "aliases": [], "description": text, "parts": []}
            for name, kind, text in zip(names, kinds, texts, strict=False)
        ]
        return self._reply(entities, names, round(self.means["mean_relations"]), texts)

    def follow_up(self, window: TextWindow, turn: int) -> str:
        """Return as many more records as are expected, all of them relations, as JSON."""
        names = list(islice(_names(window), max(1, round(self.means["mean_entities"]))))
        texts = _statements(window, self.means["mean_said"], turn + 1)
        return self._reply([], names[::-1], round(self.means["mean_gleaned"]), texts)

    def facts(self, window: TextWindow) -> str:
        """Return as many facts as are expected, as JSON."""
        names = cycle(list(_names(window)))
        texts = islice(_statements(window, 5), round(self.means["mean_triples"]))
        facts = [
            {"subject": next(names), "predicate": text, "object": next(names), "parts": []}
            for text in texts
        ]
        return json.dumps({"triples": facts}, ensure_ascii=False)

    def description(self, statements: str) -> str:
        """Return the beginning of the statements."""
        return tokens.cut(statements, round(self.means["mean_merged"])) or "nothing"

    def descriptions(self, statements: Sequence[str]) -> str:
        """Return the beginnings of the statements about each subject, as JSON."""
        descriptions = [
            {"number": number, "description": self.description(text)}
            for number, text in enumerate(statements, 1)
        ]
        return json.dumps({"descriptions": descriptions}, ensure_ascii=False)

    def _reply(
        self, entities: list[Any], names: Sequence[str], count: int, texts: Iterator[str]
    ) -> str:
        pairs = [(source, target) for source in names for target in names if source < target]
        relations = [
            {
                "source": source,
                "target": target,
                "description": text,
                "keywords": ["a word", "another word"],
                "strength": 5,
                "parts": [],
            }
            for (source, target), text in zip(pairs[:count], texts, strict=False)
        ]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)


def _names(window: TextWindow) -> Iterator[str]:
    """Words with a capital within sentences, commonest first; then long words."""
    text = "\n".join(chunk.text for chunk in window.chunks)
    for pattern in (_NAME, _WORD):
        counts = Counter(" ".join(match[0].split()) for match in pattern.finditer(text))
        yield from sorted(counts, key=lambda name: (-counts[name], name))
    yield from () if _WORD.search(text) else [" ".join(text.split())[:20] or "nothing"]


def _statements(window: TextWindow, length: float, turn: int = 0) -> Iterator[str]:
    """Endless runs of the passages' words, each of a number of tokens, no two alike."""
    words = " ".join(" ".join(chunk.text.split()) for chunk in window.chunks).split() or ["nothing"]
    size = max(1, round(length * 0.75))
    for start in range(turn * 7, 1_000_000, size):
        run = islice(cycle(words), start % len(words), start % len(words) + size)
        yield f"{start}: {' '.join(run)}"
