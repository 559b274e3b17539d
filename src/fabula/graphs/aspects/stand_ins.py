"""Replies as models may be expected to write them, so that a build can be counted unpaid.

Their words are the passages' own, so that summaries are where their passages are.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.graphs.aspects.knobs import Knobs
from fabula.text import tokens

USUAL_ASPECTS, USUAL_SHARE = 2.0, 0.7
"""Of a model that nothing is known of: aspects it names of a cluster, as the prompt tells it, and
how much of the length that it may write it does."""


@dataclass(frozen=True, slots=True)
class StandIns:
    """Replies of the mean lengths of what models wrote before.

    `aspects`: named of a cluster; `summary` and `detail`: tokens of one.
    """

    aspects: float
    summary: float
    detail: float
    _turns: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    @classmethod
    def expected(cls, means: Mapping[str, float], knobs: Knobs) -> StandIns:
        """By the means of facts, and by what is usual where nothing was written yet."""
        return cls(
            aspects=means.get("mean_aspects", USUAL_ASPECTS),
            summary=means.get("mean_summary", USUAL_SHARE * knobs.summary_tokens),
            detail=means.get("mean_detail", USUAL_SHARE * knobs.detail_tokens),
        )

    def detected(self, names: Sequence[str], sample: int) -> str:
        """As many of the aspects as are expected, in turns, as JSON."""
        return json.dumps({"aspects": self._named(names, sample)})

    def detected_and_summarised(self, text: str, names: Sequence[str], sample: int) -> str:
        """The same, each with a summary of the text."""
        summary = self.summarised(text)
        told = [{"aspect": name, "summary": summary} for name in self._named(names, sample)]
        return json.dumps({"summaries": told}, ensure_ascii=False)

    def summarised(self, text: str) -> str:
        """The beginning of the text."""
        return tokens.cut(text.strip(), round(self.summary))

    def condensed(self, text: str, count: int) -> str:
        """`count` runs of the passage's words, one after the other, as JSON."""
        return json.dumps({"details": self._details(text, count)}, ensure_ascii=False)

    def condensed_several(self, texts: Sequence[str], count: int) -> str:
        """The same for each of some passages, by its number."""
        told = [
            {"passage": number, "details": self._details(text, count)}
            for number, text in enumerate(texts, 1)
        ]
        return json.dumps({"passages": told}, ensure_ascii=False)

    def _named(self, names: Sequence[str], sample: int) -> list[str]:
        """The next ones in turn; one alone of those that are asked for again."""
        turn = next(self._turns)
        first, after = (round(self.aspects * one) for one in (turn, turn + 1))
        count = 1 if sample else min(after - first, len(names))
        return [names[(first + place) % len(names)] for place in range(count)]

    def _details(self, text: str, count: int) -> list[str]:
        details, rest = [], " ".join(text.split())
        for _ in range(count):
            detail = tokens.cut(rest, round(self.detail))
            rest = rest[len(detail) :].lstrip()
            details += [detail] if detail else []
        return details or ["nothing"]
