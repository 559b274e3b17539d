"""Build graphs of one text in memory: no database is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.values import DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_recipes
from fabula.graph import TEXT, Part
from fabula.graph.method import Graph, Known
from fabula.graph.parts import chunks_of
from fabula.models.counted import Meter
from fabula.text.document import Chunk, Document

Parts = Mapping[str, Part]
"""The parts of a document by their graphs' names, with that of its text."""


def build_parts(
    document: Document, graphs: Sequence[Graph[Any]], models: ModelFactory, meter: Meter
) -> Parts:
    """Build graphs of a document, each after those that it rests on. May raise ModelError."""
    recipes = make_recipes(models.settings, document.sha256, graphs)
    names = [graph.name for graph in graphs]
    plan = DocumentPlan(
        status="added",
        document=document,
        text_recipe=recipes[TEXT],
        chunks=(),
        graphs=tuple(
            GraphPlan(
                graph.name,
                models.table(graph.name),
                recipes[graph.name],
                (*graph.rests_on, *(name for name in graph.uses if name in names)),
                Known(),
            )
            for graph in graphs
        ),
        unchanged={},
    )
    built = make(plan, models, SilentProgress(), meter)
    return {part.owner.graph: part for part in built.parts}


def text_chunks(text: Part) -> tuple[Chunk, ...]:
    """Return the chunks of the part of a document's text."""
    nodes = tuple(node for node in text.nodes if node.label == "Chunk")
    return chunks_of(replace(text, nodes=nodes))
