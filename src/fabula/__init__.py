"""Graph RAG for long narrative texts, on Neo4j."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from fabula.app import App, Fabula
    from fabula.app.catalogue import Documents
    from fabula.app.collection import Collection, Conversation, Settled
    from fabula.app.reading import Lines, Reading
    from fabula.app.rereading import ReadingChange
    from fabula.ask.answer import Answer, AnswerStream
    from fabula.ask.query import Query
    from fabula.build.outcome import Outcome
    from fabula.build.reembed import Reembedded
    from fabula.config.settings import Settings
    from fabula.errors import (
        BadReply,
        BadValue,
        BudgetSpent,
        Changed,
        DatabaseDown,
        DataError,
        FabulaError,
        LoadError,
        ModelError,
        NotFound,
        Refused,
        ServerError,
        SettingsError,
        SpaceError,
        Stopped,
        StoreError,
        TextRefused,
        TooLarge,
    )
    from fabula.export.files import Written
    from fabula.graph import Gap, Record
    from fabula.graph.decisions import Decision
    from fabula.graph.entries import Entry, Layer
    from fabula.graph.hits import Hit, Passage, Quote, Source
    from fabula.graph.structure import TextStructure
    from fabula.models import Turn
    from fabula.models.budget import Budget
    from fabula.models.stop import Stop
    from fabula.models.usage import Usage
    from fabula.store.embedding_space import Space
    from fabula.store.integrity import Findings, Violation
    from fabula.text.document import Section
    from fabula.text.locator import Labels
    from fabula.text.sections import TextOutline

__all__ = [
    "Answer",
    "AnswerStream",
    "App",
    "BadReply",
    "BadValue",
    "Budget",
    "BudgetSpent",
    "Changed",
    "Collection",
    "Conversation",
    "DataError",
    "DatabaseDown",
    "Decision",
    "Documents",
    "Entry",
    "Fabula",
    "FabulaError",
    "Findings",
    "Gap",
    "Hit",
    "Labels",
    "Layer",
    "Lines",
    "LoadError",
    "ModelError",
    "NotFound",
    "Outcome",
    "Passage",
    "Query",
    "Quote",
    "Reading",
    "ReadingChange",
    "Record",
    "Reembedded",
    "Refused",
    "Section",
    "ServerError",
    "Settings",
    "SettingsError",
    "Settled",
    "Source",
    "Space",
    "SpaceError",
    "Stop",
    "Stopped",
    "StoreError",
    "TextOutline",
    "TextRefused",
    "TextStructure",
    "TooLarge",
    "Turn",
    "Usage",
    "Violation",
    "Written",
    "__version__",
]

_ERRORS = (
    "BadReply",
    "BadValue",
    "BudgetSpent",
    "Changed",
    "DataError",
    "DatabaseDown",
    "FabulaError",
    "LoadError",
    "ModelError",
    "NotFound",
    "Refused",
    "ServerError",
    "SettingsError",
    "SpaceError",
    "Stopped",
    "StoreError",
    "TextRefused",
    "TooLarge",
)
_HOMES = {
    "Answer": "ask.answer",
    "AnswerStream": "ask.answer",
    "App": "app",
    "Budget": "models.budget",
    "Collection": "app.collection",
    "Settled": "app.collection",
    "Conversation": "app.collection",
    "Documents": "app.catalogue",
    "Fabula": "app",
    "Findings": "store.integrity",
    "Gap": "graph",
    "Labels": "text.locator",
    "Lines": "app.reading",
    "Outcome": "build.outcome",
    "Query": "ask.query",
    "Reading": "app.reading",
    "ReadingChange": "app.rereading",
    "Record": "graph",
    "Reembedded": "build.reembed",
    "Section": "text.document",
    "Settings": "config.settings",
    "Source": "graph.hits",
    "Space": "store.embedding_space",
    "Stop": "models.stop",
    "TextOutline": "text.sections",
    "TextStructure": "graph.structure",
    "Violation": "store.integrity",
    "Written": "export.files",
    "Decision": "graph.decisions",
    "Entry": "graph.entries",
    "Layer": "graph.entries",
    "Hit": "graph.hits",
    "Passage": "graph.hits",
    "Quote": "graph.hits",
    "Turn": "models",
    "Usage": "models.usage",
    **dict.fromkeys(_ERRORS, "errors"),
}


if not TYPE_CHECKING:  # a type checker would take any name for one of these

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used: `fabula --help` needs none."""
        if name not in __all__:
            raise AttributeError(f"module 'fabula' has no attribute {name!r}")
        if name == "__version__":
            from importlib.metadata import version

            return version("fabula")
        return getattr(import_module(f"fabula.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, which a notebook offers to complete."""
    return __all__
