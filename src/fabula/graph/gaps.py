"""How many gaps a build may have, and the gaps of a part as its graph keeps them."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.errors import BadReply
from fabula.graph import GAP, LACKS, Gap, Part

MAX_SHARE = 0.1
"""Of a graph's pieces: if more are missing, something other than a few passages is wrong."""
ALWAYS_ALLOWED = 1
"""Pieces that may be missing however short the text is. A story of 4,000 words has some nine
windows of `entities`: it would have to fail as a whole if a model declines one of them."""
MAX_REASON_CHARACTERS = 300
"""An endpoint may quote a whole passage."""


def gaps_of(part: Part) -> tuple[Gap, ...]:
    """Return the gaps of a part, in text order."""
    rests_on: dict[str, dict[str, float]] = {}
    for edge in part.edges:
        if edge.type == LACKS:
            rests_on.setdefault(edge.start, {})[edge.end] = edge.properties["weight"]
    nodes = [node for node in part.nodes if node.label == GAP]
    place = ("start", "end")
    nodes.sort(key=lambda node: (*(node.properties.get(name, 0) for name in place), node.id))
    return tuple(
        make_gap(node.properties, node.sources, rests_on.get(node.id, {})) for node in nodes
    )


def make_gap(
    properties: Mapping[str, Any], sources: Sequence[str], rests_on: Mapping[str, float]
) -> Gap:
    """Return a gap, made of the properties of the node that stands for it."""
    common = ("name", "step", "why")
    own = {name: value for name, value in properties.items() if name not in common}
    return Gap(properties["step"], properties["why"], tuple(sources), rests_on, own)


class GapLimit:
    """Lets a build go on without a piece that no model gives, as long as that is rare.

    The steps of one build share it, in all their threads. Each says how many pieces it will have,
    including those that are used again, and asks before it leaves one out. If it is `strict`, none
    may be left out.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._expected = self._gaps = 0
        self._counting = threading.Lock()

    def expect(self, pieces: int) -> None:
        """Add to the number of pieces that the graph should have."""
        with self._counting:
            self._expected += pieces

    def accept(self, error: BadReply) -> str:
        """Return why a piece is left out, for its gap.

        Raises:
            BadReply: Too many are left out: two or more, and over a tenth of the pieces expected so
                far; the only piece there is; or any, if `strict`.

        """
        if self._strict:
            raise error
        why = textwrap.shorten(str(error), MAX_REASON_CHARACTERS, placeholder="…")
        with self._counting:
            self._gaps += 1
            gaps, expected = self._gaps, self._expected
        # Of a single piece none may be missing: nothing would be left.
        if gaps > max(min(ALWAYS_ALLOWED, expected - 1), MAX_SHARE * expected):
            raise BadReply(
                f"{gaps:,} of {expected:,} pieces of the graph are missing, more than a tenth. "
                f"The last: {why}"
            ) from error
        return why
