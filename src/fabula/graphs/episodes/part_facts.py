"""The facts that a document's part of this graph records about itself, and how they are worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from fabula.graph.extraction import RULES
from fabula.graphs.episodes.values import Episode


def count_facts(episodes: Sequence[Episode], window: int) -> Mapping[str, Any]:
    """Return what was written: counts, the size of windows, and means for dry runs of others."""
    counts: dict[str, Any] = {
        "episodes": len(episodes),
        "windows": sum(episode.level == 1 for episode in episodes),
        "levels": max((episode.level for episode in episodes), default=0),
        "window": window,
        "extracts": sum(episode.by == RULES for episode in episodes),
    }
    if episodes:
        counts["mean_episode"] = fmean(episode.tokens for episode in episodes)
    return counts


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return what is worth saying of the facts, in sentences."""
    episodes, windows = facts.get("episodes", 0), facts.get("windows", 0)
    if not episodes:
        return ()
    kind = " of extracts" if facts.get("extracts") == episodes else ""
    noun = "episode" if episodes == 1 else "episodes"
    line = f"{episodes:,} {noun}{kind}: {windows:,} of up to {facts.get('window', 0)} chunks each"
    if above := episodes - windows:
        levels = facts.get("levels", 1) - 1
        line += f", {above:,} on {levels} level{'s' if levels > 1 else ''} above"
    return (line,)
