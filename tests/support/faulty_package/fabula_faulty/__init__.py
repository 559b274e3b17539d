"""A graph with faults, as a stranger's package brings it: the last word of each chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from fabula.graph import Edge, Node
from fabula.graph.builds import Build
from fabula.graph.extraction import ExtractionCalls, own_id
from fabula.graph.method import BuildText, BuildWork, Built, Graph, Known
from fabula.models.roles import ModelProfile
from fabula.text.document import Chunk

FAULTS = {"rule": "", "whole": ""}
"""Words of a text on which the rule fails, and on which all of the build does."""


class Options(BaseModel):
    """The table `[faulty]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def last_words(chunks: Sequence[Chunk]) -> list[tuple[Chunk, str]]:
    """Return the last word of each chunk."""
    fault = FAULTS["rule"]
    found = []
    for chunk in chunks:
        words = chunk.text.split()
        # The fault: one word beyond the end.
        found.append((chunk, words[len(words) if fault and fault in chunk.text else -1]))
    return found


def build(
    text: BuildText, options: Options, models: ModelProfile, known: Known, work: BuildWork
) -> Build[Built]:
    """Make an element of the last word of each chunk; no model is asked."""
    yield from ()
    calls = ExtractionCalls(models, work)
    found = calls.read_by_rule(last_words, text.chunks, own_id)
    counts = {} if FAULTS["whole"] and FAULTS["whole"] in text.document.text else {"words": 0}
    for _ in found:
        # The other fault: not every text has the key.
        counts["words"] += 1
    nodes = tuple(
        Node(f"{chunk.id}-last", "LastWord", {"name": word, "text": word}, (chunk.id,))
        for chunk, word in found
    )
    edges = tuple(Edge("ENDS", node.id, node.sources[0]) for node in nodes)
    return Built(nodes, edges, counts, calls.gaps)


def describe(facts: Mapping[str, Any]) -> Sequence[str]:
    """What a build says of itself."""
    return [f"{facts['words']} last words"]


GRAPH = Graph(
    name="faulty",
    about="the last word of each chunk",
    version=1,
    options=Options,
    build=build,
    elements=("LastWord",),
    edges=("ENDS",),
    describe=describe,
    warnings=lambda facts: describe(facts)[1:],
)
