"""What a client can choose from: modes, aspects and settings."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.service.core.choices import (
    AspectView,
    ModeView,
    SettingView,
    all_modes,
    aspects_in_force,
    aspects_of,
    modes_of,
    settings_of,
)
from fabula.service.http.dependencies import FilledCollection, Reader, State

router = APIRouter(tags=["choices"])


@router.get("/modes", summary="List the modes")
def list_modes(caller: Reader) -> list[ModeView]:
    """List all installed modes by name."""
    return all_modes()


@router.get("/collections/{collection}/modes", summary="List the modes of a collection")
def list_modes_of(collection: FilledCollection, caller: Reader) -> list[ModeView]:
    """List all modes, and whether the collection has the graph that each one needs."""
    return modes_of(collection)


@router.get("/aspects", summary="List the aspects")
def list_aspects(state: State, caller: Reader) -> list[AspectView]:
    """List the aspects of the current aspect set, by which books are summarised."""
    return aspects_in_force(state.app.settings)


@router.get("/collections/{collection}/aspects", summary="List the aspects of a collection")
def list_aspects_of(collection: FilledCollection, caller: Reader) -> list[AspectView]:
    """List the aspects of the current aspect set, and further ones that the collection has."""
    return aspects_of(collection)


@router.get("/settings", summary="List the settings")
def list_settings(state: State, caller: Reader) -> list[SettingView]:
    """List the settings for answering questions; admins see all settings except secrets."""
    return settings_of(state.app.settings, caller)
