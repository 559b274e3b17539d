"""Realistic graphs without a model: made by Fabula itself, from texts of any length."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.books import book
from fabula.build.pipeline import build
from fabula.ingest import Muted
from fabula.kit import Kit
from fabula.load import read_text
from fabula.model import DocumentGraph
from fabula.parallel import Job
from fabula.providers.counted import Meter
from fabula.settings import OFFLINE, STATIC, Settings

WORDS_A_NODE = 38
"""About: of chunks, summaries and details together."""


def offline() -> Settings:
    """Settings for no model at all, wherever the benchmark is run."""
    return Settings(model=OFFLINE, embedding_model=STATIC)


@dataclass(frozen=True, slots=True)
class Library:
    """Makes graphs with a kit that needs no endpoint, of the files in `books` where it's given."""

    kit: Kit
    books: Path | None = None

    def graph(self, nodes: int, collection: str, seed: int) -> DocumentGraph:
        """A document of about `nodes` passages, its text told with this seed."""
        text = book(nodes * WORDS_A_NODE, self.books, seed)
        document = read_text(text, source=f"book {seed}", collection=collection)
        models = self.kit.models(document.language, Meter())
        with Job(self.kit.workers) as job:
            return build(document, models, self.kit.method, job, Muted())
