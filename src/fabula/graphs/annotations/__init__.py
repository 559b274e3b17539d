"""The graph of annotations: what people or other programs marked in a text, found again in it."""

from __future__ import annotations

from fabula.graph import CHUNK
from fabula.graph.method import Graph, LazyFunction
from fabula.graph.mode import Mode
from fabula.graph.queries import FOLDER
from fabula.graphs.annotations.options import Options, part_settings

# Here, and not in modules of their own: every question imports what declares a graph.
ANNOTATION = "Annotation"
"""The label of its nodes."""
FROM_CHUNK = "FROM_CHUNK"
"""The type of their edges to the chunks that have some of their words."""
MODES = {
    "annotations": Mode(
        LazyFunction(f"{__name__}.modes.annotated:retrieve"),
        "the passages whose annotations and notes are nearest to the question",
        options=Options,
        graph="annotations",
    )
}

GRAPH = Graph(
    name="annotations",
    title="Annotations",
    about="annotations and notes that were imported or made by readers, on their words in the text",
    version=1,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    reads_edges=False,
    elements=(ANNOTATION,),
    edges=(FROM_CHUNK,),
    connects=((ANNOTATION, FROM_CHUNK, CHUNK),),
    modes=MODES,
    cypher=FOLDER / "annotations",
    settings=part_settings,
    describe=LazyFunction(f"{__name__}.part_facts:describe"),
    imports=True,
    tools=LazyFunction(f"{__name__}.tools:make_tools"),
)
