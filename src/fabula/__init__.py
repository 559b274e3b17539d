"""Graph RAG for long narrative texts, on Neo4j."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from fabula.answer import AnswerStream
    from fabula.app import App, Fabula
    from fabula.collection import Collection
    from fabula.errors import (
        BadReply,
        BudgetSpent,
        Changed,
        DatabaseDown,
        DataError,
        FabulaError,
        LoadError,
        ModelError,
        NotFound,
        ServerError,
        SettingsError,
        SpaceError,
        StoreError,
        TextRefused,
        TooLarge,
    )
    from fabula.ingest import Outcome
    from fabula.model import Answer, Entry, Hit, Layer, Passage, Quote, Usage
    from fabula.search import Query
    from fabula.settings import Settings

__all__ = [
    "Answer",
    "AnswerStream",
    "App",
    "BadReply",
    "BudgetSpent",
    "Changed",
    "Collection",
    "DataError",
    "DatabaseDown",
    "Entry",
    "Fabula",
    "FabulaError",
    "Hit",
    "Layer",
    "LoadError",
    "ModelError",
    "NotFound",
    "Outcome",
    "Passage",
    "Query",
    "Quote",
    "ServerError",
    "Settings",
    "SettingsError",
    "SpaceError",
    "StoreError",
    "TextRefused",
    "TooLarge",
    "Usage",
    "__version__",
]

_ERRORS = (
    "BadReply",
    "BudgetSpent",
    "Changed",
    "DataError",
    "DatabaseDown",
    "FabulaError",
    "LoadError",
    "ModelError",
    "NotFound",
    "ServerError",
    "SettingsError",
    "SpaceError",
    "StoreError",
    "TextRefused",
    "TooLarge",
)
_HOMES = {
    "AnswerStream": "answer",
    "App": "app",
    "Collection": "collection",
    "Fabula": "app",
    "Outcome": "ingest",
    "Query": "search",
    "Settings": "settings",
    **dict.fromkeys(_ERRORS, "errors"),
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: `fabula --help` needs none."""
    if name not in __all__:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        return version("fabula")
    return getattr(import_module(f"fabula.{_HOMES.get(name, 'model')}"), name)
