"""Realistic graphs without a model: made by Fabula itself, from texts of any length."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.graph import Part
from fabula.models.counted import Meter
from fabula_bench.speed.books import book
from fabula_bench.speed.making import cut, make, read

WORDS_A_NODE = 38
"""About: of chunks, summaries and details together."""


def offline(**given: Any) -> Settings:
    """Settings for no model at all, wherever the benchmark is run."""
    return Settings(model=OFFLINE, embedding_model=STATIC, **given)


@dataclass(frozen=True, slots=True)
class Library:
    """Makes graphs with a kit that needs no endpoint, of the files in `books` where it's given."""

    kit: ModelFactory
    books: Path | None = None

    def graph(self, nodes: int, collection: str, seed: int) -> tuple[Part, ...]:
        """The parts of a document of about `nodes` passages, its text told with this seed."""
        text = book(nodes * WORDS_A_NODE, self.books, seed)
        document = read(text, collection, f"book {seed}")
        return make(self.kit, document, cut(self.kit, document), self.kit.models(Meter()))
