"""How many gaps a build may have, and why each is one."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.errors import BadReply
from fabula.graph import (
    GAP,
    LACKS,
    Gap,
    Part,
)


def gaps_of(part: Part) -> tuple[Gap, ...]:
    """The gaps of a part, in text order."""
    rests_on: dict[str, dict[str, float]] = {}
    for edge in part.edges:
        if edge.type == LACKS:
            rests_on.setdefault(edge.start, {})[edge.end] = edge.properties["weight"]
    nodes = [node for node in part.nodes if node.label == GAP]
    place = ("start", "end")
    nodes.sort(key=lambda node: (*(node.properties.get(one, 0) for one in place), node.id))
    return tuple(
        make_gap(node.properties, node.sources, rests_on.get(node.id, {})) for node in nodes
    )


def make_gap(
    properties: Mapping[str, Any], sources: Sequence[str], rests_on: Mapping[str, float]
) -> Gap:
    """A gap out of the properties of the node that stands for it."""
    own = {name: one for name, one in properties.items() if name not in ("name", "step", "why")}
    return Gap(properties["step"], properties["why"], tuple(sources), rests_on, own)


MOST = 0.1
"""Share of a graph's pieces: beyond, what is wrong is not a passage here and there."""
ALWAYS = 1
"""Pieces that may be missing however short the text is. A story of 4,000 words has some nine
windows of `entities`: it would have to fail as a whole where a model declines one of them."""
LONGEST = 300
"""Characters of a gap's reason; an endpoint may quote a whole passage."""


class GapLimit:
    """Lets a build go on without a piece that no model gives, as long as that is rare.

    The steps of one build share it, in all their threads. Each says how many pieces it will have,
    those that are used again too, and asks before it leaves one out. Where it is `strict`, none
    may be left out.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._expected = self._gaps = 0
        self._counting = threading.Lock()

    def expect(self, pieces: int) -> None:
        """So many more pieces are part of the graph."""
        with self._counting:
            self._expected += pieces

    def accept(self, error: BadReply) -> str:
        """Why a piece is left out, for its gap.

        Raises BadReply where it is the second one, or all there are, and over a tenth of the pieces
        expected so far are left out, or if `strict`.
        """
        if self._strict:
            raise error
        why = textwrap.shorten(str(error), LONGEST, placeholder="…")
        with self._counting:
            self._gaps += 1
            gaps, expected = self._gaps, self._expected
        # Of a single piece none may be missing: nothing would be left.
        if gaps > max(min(ALWAYS, expected - 1), MOST * expected):
            raise BadReply(
                f"{gaps:,} of {expected:,} pieces of the graph could not be had from the model, "
                f"more than a tenth. The last: {why}"
            ) from error
        return why
