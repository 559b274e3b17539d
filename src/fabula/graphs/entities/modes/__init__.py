"""The modes of five published systems over a network of entities."""

from __future__ import annotations

from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode
from fabula.graphs.entities.modes.options import (
    FastOptions,
    HippoOptions,
    LightOptions,
    LocalOptions,
    MiniOptions,
)

MODES = {
    "fast": Mode(
        LazyFunction(f"{__name__}.fast:retrieve"),
        "a walk over entities from those that a question names or is near to (Fast GraphRAG)",
        options=FastOptions,
        graph="entities",
        sentence="Walks from the people and places of the question to those connected "
        "with them; quick.",
    ),
    "hippo": Mode(
        LazyFunction(f"{__name__}.hippo:retrieve"),
        "a walk over entities and chunks from the question's facts and passages (HippoRAG 2)",
        options=HippoOptions,
        graph="entities",
        sentence="Walks over people, places and passages from the facts that the "
        "question is about.",
    ),
    "light": Mode(
        LazyFunction(f"{__name__}.light:retrieve"),
        "entities by a question's details, relations by its themes, and their chunks (LightRAG)",
        options=LightOptions,
        graph="entities",
        sentence="Looks for people by the details of the question, and for relations by "
        "its themes.",
    ),
    "local": Mode(
        LazyFunction(f"{__name__}.local:retrieve"),
        "the entities nearest to a question, what ties them, and their chunks (Microsoft GraphRAG)",
        options=LocalOptions,
        graph="entities",
        uses=("communities",),
        sentence="Finds the people and places of the question, what connects them, and "
        "where the text says so.",
    ),
    "mini": Mode(
        LazyFunction(f"{__name__}.mini:retrieve"),
        "paths from what a question names to what its answer may be, and their chunks (MiniRAG)",
        options=MiniOptions,
        graph="entities",
        sentence="Follows paths from what the question names to what its answer may be.",
    ),
}
