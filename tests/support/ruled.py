"""All graphs of a document that need no model, built in memory."""

from __future__ import annotations

from typing import Any

from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.values import DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.graph import TEXT, Part
from fabula.graph.installed import graphs
from fabula.graph.method import Graph, Known
from fabula.models.counted import Meter
from fabula.text.document import Document


def build_by_rules(
    document: Document, models: ModelFactory, *, alone: bool = False, strict: bool = True
) -> dict[str, Part]:
    """Return the parts of a document, by the graphs' names.

    Args:
        document: The document.
        models: The models: offline.
        alone: Whether graphs are built without those that they use but do not need.
        strict: Whether a rule that fails ends the build.

    """
    used = [graph for graph in graphs().values() if _is_made_by_rules(graph)]
    recipes = models.recipes(document.sha256, used)
    plans = tuple(
        GraphPlan(
            graph.name,
            models.graph_options(graph),
            recipes[graph.name],
            graph.rests_on if alone else (*graph.rests_on, *graph.uses),
            Known(),
        )
        for graph in used
    )
    plan = DocumentPlan("added", document, recipes[TEXT], (), plans, {}, strict=strict)
    built = make(plan, models, SilentProgress(), Meter())
    return {part.owner.graph: part for part in built.parts}


def _is_made_by_rules(graph: Graph[Any]) -> bool:
    return bool(graph.build) and not graph.imports and not graph.needs_model
