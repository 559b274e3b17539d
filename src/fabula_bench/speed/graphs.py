"""Realistic graphs without a model: made by Fabula itself, from texts of any length."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from fabula.config.model_factory import ModelFactory
from fabula.graph import Part
from fabula.graph.installed import graph
from fabula.load import read_text
from fabula.models.counted import Meter
from fabula_bench.building import build_parts
from fabula_bench.speed.books import book
from fabula_bench.speed.server import offline_settings

WORDS_A_NODE = 38
"""About: of chunks, summaries and details together."""


def make_graph(nodes: int, collection: str, seed: int, books: Path | None) -> tuple[Part, ...]:
    """The parts of a document of about `nodes` passages, its text told with this seed."""
    name = f"book {seed}"
    text = book(nodes * WORDS_A_NODE, books, seed)
    document = read_text(
        text, source=name, collection=collection, title=name, author="", language="en"
    )
    with closing(ModelFactory(offline_settings())) as models:
        return tuple(build_parts(document, [graph("aspects")], models, Meter()).values())
