"""What can be chosen: modes, aspects, settings."""

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
from fabula.service.http.dependencies import Reader, Stocked, TheHouse

router = APIRouter(tags=["choices"])


@router.get("/modes", summary="The modes there are")
def list_modes(caller: Reader) -> list[ModeView]:
    """By name."""
    return all_modes()


@router.get("/collections/{collection}/modes", summary="The modes that a collection has")
def list_modes_of(shelf: Stocked, caller: Reader) -> list[ModeView]:
    """All modes, each with whether the graph that it walks is there."""
    return modes_of(shelf)


@router.get("/aspects", summary="The aspects that books are summarised by")
def list_aspects(house: TheHouse, caller: Reader) -> list[AspectView]:
    """Those of the set in force."""
    return aspects_in_force(house.app.settings)


@router.get("/collections/{collection}/aspects", summary="The aspects that a collection has")
def list_aspects_of(shelf: Stocked, caller: Reader) -> list[AspectView]:
    """Those of the set in force, and others that the collection has."""
    return aspects_of(shelf)


@router.get("/settings", summary="The settings in force")
def list_settings(house: TheHouse, caller: Reader) -> list[SettingView]:
    """Those that say how questions are answered; to admins all, but for what is secret."""
    return settings_of(house.app.settings, caller)
