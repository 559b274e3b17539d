"""Replies as models may be expected to write them, so that a build can be counted unpaid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice

from fabula.graphs.communities.contexts import Context
from fabula.graphs.entities.windows import Window
from fabula.text import tokens

USUAL = {"mean_findings": 5.0, "mean_claims": 3.0, "mean_claim": 25.0}
"""Of a model that nothing is known of: findings of a report, claims of a window, and the tokens of
what one says. `mean_report`, the tokens of a report, is a share of its limit."""
USUAL_SHARE = 0.8
QUOTED_WORDS = 4


@dataclass(frozen=True, slots=True)
class StandIns:
    """Replies of the mean lengths of what models wrote before."""

    means: Mapping[str, float]

    @classmethod
    def expected(cls, means: Mapping[str, float], report_tokens: int) -> StandIns:
        """By the means of facts, and by what is usual where nothing was written yet."""
        return cls({**USUAL, "mean_report": USUAL_SHARE * report_tokens, **means})

    def reported(self, context: Context) -> str:
        """A report in the words of its context, as JSON."""
        count = max(1, round(self.means["mean_findings"]))
        words = context.text.split()
        text = tokens.cut(" ".join(islice(cycle(words), 4000)), round(self.means["mean_report"]))
        size = max(1, len(text) // (count + 1))
        pieces = [text[start : start + size] for start in range(0, size * (count + 1), size)]
        numbers = cycle(range(1, len(context.rows) + 1))
        findings = [
            {"summary": f"{one}.", "explanation": "", "refs": list(islice(numbers, 3))}
            for one in pieces[1:]
        ]
        told = {"title": "A group", "summary": f"{pieces[0]}.", "findings": findings}
        return json.dumps({**told, "importance": 5, "why": "it is told"}, ensure_ascii=False)

    def claimed(self, window: Window, turn: int = 0) -> str:
        """As many claims as are expected in the first reply, and none after it, as JSON."""
        words = " ".join(chunk.text for chunk in window.chunks).split() or ["nothing"]
        length = max(1, round(self.means["mean_claim"] * 0.75))
        count = 0 if turn else round(self.means["mean_claims"])
        claims = [
            {
                "subject": words[start % len(words)],
                "object": None,
                "type": "statement",
                "status": "suspected",
                "start": None,
                "end": None,
                "speaker": None,
                "description": f"{start}: {' '.join(islice(cycle(words), start, start + length))}",
                "quotes": [" ".join(words[start % len(words) :][:QUOTED_WORDS])],
            }
            for start in range(0, count * QUOTED_WORDS, QUOTED_WORDS)
        ]
        return json.dumps({"claims": claims}, ensure_ascii=False)
