"""Graph RAG for long narrative texts, on Neo4j."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
    from fabula.app import App, Fabula
    from fabula.app.across import AnswerAcross, HitsAcross
    from fabula.app.annotating import ImportedAnnotations
    from fabula.app.catalogue import Documents
    from fabula.app.collection import Collection, CollectionGraph, Conversation
    from fabula.app.reading import Lines, Reading
    from fabula.app.recap import Recap
    from fabula.app.rereading import ReadingChange
    from fabula.app.volumes import ReadVolumes
    from fabula.ask.answer import Answer, AnswerStream
    from fabula.ask.checked_quotation import CheckedQuotation, WeakCitation
    from fabula.ask.query import Query
    from fabula.ask.retrieve import RetrievalResult
    from fabula.ask.scope import AskedTurn, QuestionScope
    from fabula.build.cluster import WorkerCluster
    from fabula.build.outcome import Outcome
    from fabula.build.reembed import Reembedded
    from fabula.config.settings import Settings
    from fabula.errors import (
        BadReply,
        BadValue,
        BudgetSpent,
        Changed,
        ClusterError,
        DatabaseDown,
        DataError,
        FabulaError,
        InvalidPlace,
        LoadError,
        ModelError,
        NotFound,
        Refused,
        ReplyPending,
        RuleError,
        ServerError,
        SettingsError,
        SpaceError,
        Stopped,
        StoreError,
        TextRefused,
        TooLarge,
        WorkerLost,
    )
    from fabula.export.annotated_text import PlacedLayer
    from fabula.export.collection_file import CollectionFile
    from fabula.export.files import Written
    from fabula.export.until import ReadSoFar
    from fabula.graph import Gap, Record
    from fabula.graph.annotations import Annotation, LayerRecord, PlacedAnnotation
    from fabula.graph.decisions import Decision
    from fabula.graph.entries import Entry, Layer
    from fabula.graph.hits import Filters, Hit, Passage, Quote, Source
    from fabula.graph.reading_place import ReadingPlace
    from fabula.graph.structure import TextStructure
    from fabula.graphs.episodes.recap import RecapPart
    from fabula.load.source import DocumentSource
    from fabula.models import Turn
    from fabula.models.batch_estimate import BatchEstimate
    from fabula.models.batch_options import BatchOptions, BatchProgress
    from fabula.models.budget import Budget
    from fabula.models.stop import Stop
    from fabula.models.usage import Usage
    from fabula.store.embedding_space import Space
    from fabula.store.integrity import CheckFindings, Violation
    from fabula.store.user_query import QueryTable
    from fabula.text.anchoring import TextQuote
    from fabula.text.document import Section
    from fabula.text.locator import LocatorLabels
    from fabula.text.sections import TextOutline

__all__ = [
    "Annotation",
    "Answer",
    "AnswerAcross",
    "AnswerStream",
    "App",
    "AskedTurn",
    "BadReply",
    "BadValue",
    "BatchEstimate",
    "BatchOptions",
    "BatchProgress",
    "Budget",
    "BudgetSpent",
    "Changed",
    "CheckFindings",
    "CheckedQuotation",
    "ClusterError",
    "Collection",
    "CollectionFile",
    "CollectionGraph",
    "Conversation",
    "DataError",
    "DatabaseDown",
    "Decision",
    "DocumentSource",
    "Documents",
    "Entry",
    "Fabula",
    "FabulaError",
    "Filters",
    "Gap",
    "Hit",
    "HitsAcross",
    "ImportedAnnotations",
    "InvalidPlace",
    "Layer",
    "LayerRecord",
    "Lines",
    "LoadError",
    "LocatorLabels",
    "ModelError",
    "NotFound",
    "Outcome",
    "Passage",
    "PlacedAnnotation",
    "PlacedLayer",
    "Query",
    "QueryTable",
    "QuestionScope",
    "Quote",
    "ReadSoFar",
    "ReadVolumes",
    "Reading",
    "ReadingChange",
    "ReadingPlace",
    "Recap",
    "RecapPart",
    "Record",
    "Reembedded",
    "Refused",
    "ReplyPending",
    "RetrievalResult",
    "RuleError",
    "Section",
    "ServerError",
    "Settings",
    "SettingsError",
    "Source",
    "Space",
    "SpaceError",
    "Stop",
    "Stopped",
    "StoreError",
    "TextOutline",
    "TextQuote",
    "TextRefused",
    "TextStructure",
    "TooLarge",
    "Turn",
    "Usage",
    "Violation",
    "WeakCitation",
    "WorkerCluster",
    "WorkerLost",
    "Written",
    "__version__",
]

_ERRORS = (
    "BadReply",
    "BadValue",
    "BudgetSpent",
    "Changed",
    "ClusterError",
    "DataError",
    "DatabaseDown",
    "FabulaError",
    "LoadError",
    "ModelError",
    "InvalidPlace",
    "NotFound",
    "RuleError",
    "Refused",
    "ReplyPending",
    "ServerError",
    "SettingsError",
    "SpaceError",
    "Stopped",
    "StoreError",
    "TextRefused",
    "TooLarge",
    "WorkerLost",
)
_HOMES = {
    "ImportedAnnotations": "app.annotating",
    "PlacedLayer": "export.annotated_text",
    "Annotation": "graph.annotations",
    "TextQuote": "text.anchoring",
    "LayerRecord": "graph.annotations",
    "PlacedAnnotation": "graph.annotations",
    "Answer": "ask.answer",
    "AnswerStream": "ask.answer",
    "CheckedQuotation": "ask.checked_quotation",
    "WeakCitation": "ask.checked_quotation",
    "AskedTurn": "ask.scope",
    "QuestionScope": "ask.scope",
    "App": "app",
    "BatchEstimate": "models.batch_estimate",
    "BatchOptions": "models.batch_options",
    "BatchProgress": "models.batch_options",
    "Budget": "models.budget",
    "Collection": "app.collection",
    "CollectionFile": "export.collection_file",
    "QueryTable": "store.user_query",
    "CollectionGraph": "app.collection",
    "AnswerAcross": "app.across",
    "HitsAcross": "app.across",
    "Conversation": "app.collection",
    "DocumentSource": "load.source",
    "Documents": "app.catalogue",
    "Fabula": "app",
    "Filters": "graph.hits",
    "CheckFindings": "store.integrity",
    "Gap": "graph",
    "LocatorLabels": "text.locator",
    "Lines": "app.reading",
    "Outcome": "build.outcome",
    "Query": "ask.query",
    "Reading": "app.reading",
    "ReadingChange": "app.rereading",
    "ReadingPlace": "graph.reading_place",
    "ReadVolumes": "app.volumes",
    "ReadSoFar": "export.until",
    "RetrievalResult": "ask.retrieve",
    "Recap": "app.recap",
    "RecapPart": "graphs.episodes.recap",
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
    "WorkerCluster": "build.cluster",
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
