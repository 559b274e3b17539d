"""Graph RAG for long narrative texts, on Neo4j."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.answer import AnswerStream
    from fabula.app import App, Fabula
    from fabula.collection import Collection
    from fabula.errors import FabulaError
    from fabula.ingest import Outcome
    from fabula.model import Answer, Entry, Hit, Layer, Passage, Quote, Usage
    from fabula.search import Query
    from fabula.settings import Settings

__all__ = [
    "Answer",
    "AnswerStream",
    "App",
    "Collection",
    "Entry",
    "Fabula",
    "FabulaError",
    "Hit",
    "Layer",
    "Outcome",
    "Passage",
    "Query",
    "Quote",
    "Settings",
    "Usage",
]

_HOMES = {
    "AnswerStream": "answer",
    "App": "app",
    "Collection": "collection",
    "Fabula": "app",
    "FabulaError": "errors",
    "Outcome": "ingest",
    "Query": "search",
    "Settings": "settings",
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: `fabula --help` needs none."""
    if name not in __all__:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    return getattr(import_module(f"fabula.{_HOMES.get(name, 'model')}"), name)
