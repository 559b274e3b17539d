"""What can be chosen: modes, aspects, settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from fabula.app.collection import Collection
from fabula.ask.mode_runs import count_parts
from fabula.ask.modes import modes
from fabula.ask.query import query_options
from fabula.config.settings import SECRET, Settings, setting_fields
from fabula.graph import TEXT
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.graph.mode import Mode
from fabula.jobs.callers import Caller

CHOSEN = (
    *(option.setting for option in query_options().values() if option.setting),
    *("answer_tokens", "history_tokens", "model", "embedding_model", "rerank_model"),
)
"""Settings that say how questions are answered: a reader may know them. Others tell of machines."""


TEXT_MODES = "The text and its summaries"
"""The group of modes that need no graph of their own."""


def title_of(name: str) -> str:
    """Return what a reader of books would call a graph."""
    method = graphs().get(name)
    return method.title if method and method.title else name


def lacks_model(collection: Collection, name: str) -> bool:
    """Return whether a graph can't be built, as it needs a chat model and there is none."""
    return graph(name).needs_model and collection.settings.offline


@dataclass(frozen=True)
class ModeOption:
    """A setting of a mode's own."""

    name: str
    about: str
    default: Any


@dataclass(frozen=True)
class ModeDescription:
    """A way to find passages.

    It walks `graph`, where it needs one; `documents` are how many have that, and `ready` is whether
    the collection can be asked by it; both null where no collection is meant. `sentence` says for
    readers of books what it does, and `group` what it is about.
    """

    name: str
    about: str
    sentence: str
    group: str
    graph: str
    uses: list[str]
    knobs: list[ModeOption]
    documents: int | None = None
    ready: bool | None = None


@dataclass(frozen=True)
class AspectDescription:
    """An aspect by which books are summarised; `there` is whether the collection has it."""

    name: str
    description: str
    there: bool | None = None


@dataclass(frozen=True)
class SettingDescription:
    """A setting, its value in force, and what it is."""

    name: str
    value: Any
    about: str


def all_modes() -> list[ModeDescription]:
    """Return all modes by name."""
    return [_mode_view(name, mode) for name, mode in modes().items()]


def modes_of(collection: Collection) -> list[ModeDescription]:
    """All modes, each with how many documents of a collection have the graph that it walks."""
    walked = {mode.graph for mode in modes().values()} - {""}
    counts = count_parts(collection.store, walked, Filters(collection.name))
    return [
        _mode_view(name, one, counts.get(one.graph or TEXT, 0)) for name, one in modes().items()
    ]


def aspects_in_force(settings: Settings) -> list[AspectDescription]:
    """Return the aspects of the set in force."""
    return [
        AspectDescription(name=name, description=text) for name, text in _aspects(settings).items()
    ]


def aspects_of(collection: Collection) -> list[AspectDescription]:
    """Return the aspects of the set in force, and others that a collection has."""
    space = collection.space()
    there = [name for name in (space.aspects if space else ()) if name]
    descriptions = _aspects(collection.settings)
    return [
        AspectDescription(name=name, description=descriptions.get(name, ""), there=name in there)
        for name in dict.fromkeys([*descriptions, *there])
    ]


def settings_of(settings: Settings, caller: Caller) -> list[SettingDescription]:
    """Return the settings in force that a caller may see.

    Everybody sees those that say how questions are answered; an admin of all collections sees all
    but the secret ones.
    """
    values = settings.values()
    return [
        SettingDescription(name=name, value=values[name], about=field.description or "")
        for name, field in setting_fields().items()
        if name in values and (name in CHOSEN or (caller.may_all and name not in SECRET))
    ]


def _mode_view(name: str, mode: Mode, documents: int | None = None) -> ModeDescription:
    return ModeDescription(
        name=name,
        about=mode.about,
        sentence=mode.sentence or mode.about,
        group=title_of(mode.graph) if mode.graph else TEXT_MODES,
        graph=mode.graph,
        uses=list(mode.uses),
        knobs=[
            ModeOption(
                name=knob,
                about=field.description or "",
                default=to_jsonable_python(field.get_default(call_default_factory=True)),
            )
            for knob, field in mode.options.model_fields.items()
        ],
        documents=documents,
        ready=None if documents is None else documents > 0,
    )


def _aspects(settings: Settings) -> dict[str, str]:
    """Return the aspects that the graphs declare, each with what it is."""
    aspects: dict[str, str] = {}
    for installed in graphs().values():
        aspects |= installed.aspects(settings.table(installed.name))
    return aspects
