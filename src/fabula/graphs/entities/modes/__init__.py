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
        # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy.
        serves={"fact": 56.95, "reasoning": 48.55, "overview": 56.41, "creative": 46.18},
        # `python -m bench choosing`: ahead of hybrid on facts of novels, level on stories.
        serves_offline={"fact": 67.2},
    ),
    "hippo": Mode(
        LazyFunction(f"{__name__}.hippo:retrieve"),
        "a walk over entities and chunks from the question's facts and passages (HippoRAG 2)",
        options=HippoOptions,
        graph="entities",
        # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy; with facts.
        serves={"fact": 60.14, "reasoning": 53.38, "overview": 64.10, "creative": 48.28},
    ),
    "light": Mode(
        LazyFunction(f"{__name__}.light:retrieve"),
        "entities by a question's details, relations by its themes, and their chunks (LightRAG)",
        options=LightOptions,
        graph="entities",
        # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy.
        serves={"fact": 58.62, "reasoning": 49.07, "overview": 48.85, "creative": 23.80},
    ),
    "local": Mode(
        LazyFunction(f"{__name__}.local:retrieve"),
        "the entities nearest to a question, what ties them, and their chunks (Microsoft GraphRAG)",
        options=LocalOptions,
        graph="entities",
        # GraphRAG-Bench's Novel table (arXiv 2506.05690; its site, 2026): accuracy; with reports.
        serves={"fact": 49.29, "reasoning": 50.93, "overview": 64.40, "creative": 39.10},
        uses=("communities",),
    ),
    "mini": Mode(
        LazyFunction(f"{__name__}.mini:retrieve"),
        "paths from what a question names to what its answer may be, and their chunks (MiniRAG)",
        options=MiniOptions,
        graph="entities",
    ),
}
