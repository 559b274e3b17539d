"""How likely it is that a quotation's speaker is the right one.

The shares are those of LitBank's quotations whose speaker was right (67 texts, 1,186 quotations);
docs/speech.md says how they hold for a text that is left out, and for told stories.
"""

from __future__ import annotations

from fabula_graphs.speech.values import NAME, NAMED, NOUN, PRONOUN, TAG, TALE, TURNS, VOCATIVE

CLEAR_LEAD = 40
"""By how much the nearest person must be nearer than the next, that a pronoun is clear."""
TAG_SHARES = {NAME: 0.96, NOUN: 0.85, PRONOUN: 0.82}
SHARES = {NAMED: 0.99, TALE: 1.0, VOCATIVE: 0.6, TURNS: 0.45}
"""Those of tales and turns are of the share of the quotation that has the speaker."""
READ_SHARE = 0.9
"""A model's: not measured."""
UNCLEAR, LOOSE = 0.75, 0.6
"""What is left of a share if a pronoun may mean two persons, and where sentences of narration stand
between a quotation and the one that has its speaker."""


def estimate_confidence(rule: str, kind: str, lead: float) -> float:
    """Return how likely the speaker is right whom a rule found.

    Args:
        rule: What says who speaks.
        kind: How the speaker is mentioned there: NAME, NOUN or PRONOUN.
        lead: By how much the next person is farther from a pronoun.
    """
    share = TAG_SHARES[kind] if rule == TAG else SHARES[rule]
    return share if lead >= CLEAR_LEAD else UNCLEAR * share
