"""What a client can choose from: modes, aspects and settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from fabula.graph.reading_place import MAX_PLACE
from fabula.service.core.choices import (
    AspectDescription,
    ModeDescription,
    SettingDescription,
    all_modes,
    aspects_in_force,
    aspects_of,
    modes_of,
    settings_of,
)
from fabula.service.core.example_questions import ExampleQuestion, suggest_questions
from fabula.service.core.views import document_of
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["choices"])


@router.get("/modes", summary="List the modes")
def list_modes(caller: Reader) -> list[ModeDescription]:
    """List all installed modes by name."""
    return all_modes()


@router.get("/collections/{collection}/modes", summary="List the modes of a collection")
@declare(is_public=True)
def list_modes_of(collection: FilledCollection, caller: Reader) -> list[ModeDescription]:
    """List all modes, and whether the collection has the graph that each one needs."""
    return modes_of(collection)


@router.get("/aspects", summary="List the aspects")
def list_aspects(state: State, caller: Reader) -> list[AspectDescription]:
    """List the aspects of the current aspect set, by which books are summarised."""
    return aspects_in_force(state.app.settings)


@router.get("/collections/{collection}/aspects", summary="List the aspects of a collection")
@declare(is_public=True)
def list_aspects_of(collection: FilledCollection, caller: Reader) -> list[AspectDescription]:
    """List the aspects of the current aspect set, and further ones that the collection has."""
    return aspects_of(collection)


@router.get("/collections/{collection}/examples", summary="List example questions")
@declare(is_public=True)
def list_examples(
    collection: FilledCollection,
    caller: Reader,
    document: Annotated[str, Query(max_length=200, description="the id of a document")] = "",
    until: Annotated[
        str,
        Query(max_length=MAX_PLACE, description="nobody is named whom the text names only later"),
    ] = "",
) -> list[ExampleQuestion]:
    """List questions that somebody could ask, made without a model from the people and places that
    the documents name.
    """
    document = document_of(collection, document).id if document else ""
    return suggest_questions(collection.as_read(document, until), document)


@router.get("/settings", summary="List the settings")
def list_settings(state: State, caller: Reader) -> list[SettingDescription]:
    """List the settings for answering questions; admins see all settings except secrets."""
    return settings_of(state.app.settings, caller)
