"""The replies that a dry run assumes, so that a build's calls and tokens are counted unpaid.

They consist of the passages' own words, so that a summary's embedding is near its passages'.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabula.graphs.aspects.options import DetailsForm, Options
from fabula.text import tokens

USUAL_ASPECTS = 2.0
"""How many aspects a model names of a cluster, as long as nothing is known of the model."""
USUAL_SHARE = 0.7
"""How much of the length that it may write it does, as long as nothing is known of the model."""


@dataclass(frozen=True, slots=True)
class AspectPlaceholders:
    """Replies of the mean lengths of what models wrote before."""

    aspects: float
    """Mean number of aspects of a cluster."""
    summary: float
    """Mean tokens of a summary."""
    detail: float
    """Mean tokens of a detail."""
    details_form: DetailsForm = "facts"
    _turns: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    @classmethod
    def expect(cls, means: Mapping[str, float], options: Options) -> AspectPlaceholders:
        """Return placeholders by the means of other documents, or by what is usual."""
        return cls(
            aspects=means.get("mean_aspects", USUAL_ASPECTS),
            summary=means.get("mean_summary", USUAL_SHARE * options.summary_tokens),
            detail=means.get("mean_detail", USUAL_SHARE * options.detail_tokens),
            details_form=options.details_form,
        )

    def detect(self, names: Sequence[str], sample: int) -> str:
        """Return as many aspects as are expected, taking turns, as JSON."""
        return json.dumps({"aspects": self._choose(names, sample)})

    def detect_and_summarise(self, text: str, names: Sequence[str], sample: int) -> str:
        """Return the same, each with a summary of the text."""
        summary = self.summarise(text)
        summaries = [{"aspect": name, "summary": summary} for name in self._choose(names, sample)]
        return json.dumps({"summaries": summaries}, ensure_ascii=False)

    def summarise(self, text: str) -> str:
        """Return the beginning of the text."""
        return tokens.cut(text.strip(), round(self.summary))

    def condense(self, text: str, count: int) -> str:
        """Return `count` runs of the passage's words as JSON, for facts one after the other."""
        return json.dumps({"details": self._details(text, count)}, ensure_ascii=False)

    def condense_several(self, texts: Sequence[str], count: int) -> str:
        """Return the same for each of several passages, with its number."""
        passages = [
            {"passage": number, "details": self._details(text, count)}
            for number, text in enumerate(texts, 1)
        ]
        return json.dumps({"passages": passages}, ensure_ascii=False)

    def _choose(self, names: Sequence[str], sample: int) -> list[str]:
        """Return the next names in turn; a single one if they are asked for again."""
        turn = next(self._turns)
        # Rounding the running total makes the mean count exact over many clusters.
        first, after = round(self.aspects * turn), round(self.aspects * (turn + 1))
        count = 1 if sample else min(after - first, len(names))
        return [names[(first + place) % len(names)] for place in range(count)]

    def _details(self, text: str, count: int) -> list[str]:
        if self.details_form == "whole":
            # Each is about the whole text. They begin one word further each, as of equal ones
            # only one would be kept.
            words = text.split()
            starts = (" ".join(words[number:]) for number in range(min(count, len(words))))
            return [tokens.cut(start, round(self.detail)) for start in starts] or ["nothing"]
        details, rest = [], " ".join(text.split())
        for _ in range(count):
            detail = tokens.cut(rest, round(self.detail))
            rest = rest[len(detail) :].lstrip()
            details += [detail] if detail else []
        return details or ["nothing"]
