"""The graph of episodes: a text retold in order, each summary of one stretch of it."""

from __future__ import annotations

from pathlib import Path

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.episodes import labels
from fabula.graphs.episodes.modes import MODES
from fabula.graphs.episodes.options import Options

GRAPH = Graph(
    name="episodes",
    title="The story so far",
    about="summaries of consecutive stretches of a text, in order, and levels above them",
    version=2,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    passages=(labels.EPISODE,),
    edges=(labels.COMPRISES, labels.NEXT_EPISODE),
    connects=(
        (labels.EPISODE, labels.COMPRISES, CHUNK),
        (labels.EPISODE, labels.COMPRISES, labels.EPISODE),
        (labels.EPISODE, labels.NEXT_EPISODE, labels.EPISODE),
    ),
    modes=MODES,
    prompts=Path(__file__).parent / "prompts",
    cypher=FOLDER / "episodes",
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
)
