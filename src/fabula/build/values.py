"""What the three steps of a build hand on: plans of what is to be made, and the parts made.

They are values: no connection, no model, no setting that is secret. So a plan of a document can be
pickled and sent to a worker on another machine, which makes the parts with `fabula.build.make` and
sends them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from fabula.graph import Part
from fabula.graph.annotations import AnnotationLayer
from fabula.graph.decisions import Decision
from fabula.graph.method import Graph, Known, PartReader
from fabula.graph.recipes import Recipe
from fabula.text.document import Chunk, Document


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """What one graph of a document is built from, besides the text.

    Attributes:
        name: The graph to build.
        options: Its table of settings, of the class that the graph names.
        recipe: All that the part is made from, which is recorded with it.
        below: The names of the graphs that it is given the parts of.
        known: What the store has of its previous version, to be used again.
        decisions: What people decided about it.
        layers: The document's layers of annotations, if it is made of these.
    """

    name: str
    options: BaseModel
    recipe: Recipe
    below: tuple[str, ...]
    known: Known
    decisions: tuple[Decision, ...] = ()
    layers: tuple[AnnotationLayer, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """What is to be made of one document; can be pickled.

    Attributes:
        status: What becomes of the document once the parts are committed.
        document: The text, with its sections.
        text_recipe: What the chunks are made from; None where those of the store stay.
        chunks: The chunks of the store, with embeddings. Where the text is cut anew, a new chunk
            that equals one of these keeps its embedding.
        graphs: The graphs to build, each after those that it rests on or uses.
        unchanged: The parts of the store that `graphs` are built on and that stay as they are, by
            their graphs' names.
        strict: Whether the build fails at the first piece that a model does not give.
    """

    status: Literal["added", "replaced"]
    document: Document
    text_recipe: Recipe | None
    chunks: tuple[Chunk, ...]
    graphs: tuple[GraphPlan, ...]
    unchanged: Mapping[str, Part]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """What is to be made of a graph that belongs to a collection itself.

    Its `reader` reads the documents' parts from the store one by one, because those of a whole
    collection may be too large to hold at once. So this plan stays where the store is.
    """

    status: Literal["added", "replaced"]
    graph: Graph[Any]
    options: BaseModel
    recipe: Recipe
    reader: PartReader
    known: Known
    dimensions: int
    strict: bool = False


@dataclass(frozen=True, slots=True)
class BuiltParts:
    """The parts that were made of one owner, and the number of dimensions of their vectors."""

    parts: tuple[Part, ...]
    dimensions: int
