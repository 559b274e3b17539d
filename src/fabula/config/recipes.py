"""What parts would be made from now, by the settings; `fabula.graph.recipes` compares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.config.embedding_space import name_space
from fabula.config.settings import Settings
from fabula.graph import TEXT, Record
from fabula.graph.decisions import Decision
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs as installed
from fabula.graph.method import Graph
from fabula.graph.recipes import (
    Recipe,
    collection_base,
    document_base,
    recipe,
    text_recipe,
    with_bases,
)


def make_recipes(
    settings: Settings,
    sha256: str,
    graphs: Sequence[Graph[Any]],
    base: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Sequence[Decision]] | None = None,
    layers: Mapping[str, str] | None = None,
) -> dict[str, Recipe]:
    """Return what the parts of a document would be made from now, by the graphs' names.

    Args:
        settings: The settings.
        sha256: The digest of the document's text.
        graphs: The graphs whose parts are asked for; those that they rest on are added.
        base: What the document's chunks were made from, if they are to stay.
        decisions: What people decided, as far as each part follows it, by the graphs' names.
        layers: The digests of the document's layers of annotations, by name.
    """
    text = text_recipe(sha256, settings.chunk_tokens, name_space(settings))
    recipes = {TEXT: dict(base) if base else text}
    models, offline = _name_models(settings), settings.offline
    # A document may lack a graph that another one of its graphs rests on, so bases are added.
    for graph in with_bases(installed(), [graph.name for graph in graphs]):
        recipes[graph.name] = recipe(
            graph,
            _read_options(settings, graph),
            models,
            document_base(graph, recipes),
            offline=offline,
            decisions=(decisions or {}).get(graph.name, ()),
            layers=layers,
        )
    return recipes


def make_collection_recipe(
    settings: Settings,
    graph: Graph[Any],
    entries: Sequence[Entry],
    collection_parts: Mapping[str, Record],
    decisions: Sequence[Decision] = (),
) -> Recipe:
    """Return what a collection's own graph would be made from now.

    Args:
        settings: The settings.
        graph: The graph.
        entries: The documents of the collection.
        collection_parts: What the collection's own parts were made from, by graph.
        decisions: What people decided, as far as the graph follows it.
    """
    return recipe(
        graph,
        _read_options(settings, graph),
        _name_models(settings),
        collection_base(graph, entries, collection_parts),
        offline=settings.offline,
        decisions=decisions,
    )


def make_build_recipe(settings: Settings) -> Recipe:
    """Return all that decides what a build makes of any text: chunks, models and graphs.

    Settings that decide only how fast, from which endpoint and with whose key are left out.
    """
    text = text_recipe("", settings.chunk_tokens, name_space(settings))
    return {
        "chunks": {"version": text["version"], **text["settings"]},
        "models": _name_models(settings),
        "graphs": {
            name: {
                "version": graph.version,
                "settings": dict(_read_options(settings, graph)),
                "prompts": "" if settings.offline else graph.prompts_digest(),
            }
            for name, graph in installed().items()
        },
    }


def _read_options(settings: Settings, graph: Graph[Any]) -> Mapping[str, Any]:
    """Return the options of a graph that its result depends on."""
    return graph.settings(settings.table(graph.name), settings.offline)


def _name_models(settings: Settings) -> dict[str, object]:
    """Return the models that write into a graph, as recipes record them."""
    models: dict[str, object] = {
        "embedding_model": name_space(settings),
        "model": settings.model,
    }
    if not settings.offline:
        models |= {"aspect_model": settings.judge, "temperature": settings.temperature}
    return models
