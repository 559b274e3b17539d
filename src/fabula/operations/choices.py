"""List what a question can choose: modes, aspects and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import to_jsonable_python

from fabula.ask.mode_runs import count_parts
from fabula.ask.modes import modes
from fabula.ask.query import query_options
from fabula.config.settings import SECRET, Settings, setting_fields
from fabula.graph import TEXT
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.graph.mode import Mode
from fabula.operations.kit import Asker, Hidden, operation

if TYPE_CHECKING:
    from fabula.library.collection import Collection

GROUP = "Choices"
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

    Attributes:
        name: Its name.
        sentence: What it does, for readers of books.
        about: What it does.
        group: What it is about.
        graph: The graph that it walks; '' if it needs none.
        uses: What else it uses.
        knobs: Its own options.
        documents: How many documents have the graph.
        ready: Whether the collection can be asked by it.
    """

    name: str
    sentence: str
    about: Annotated[str, Hidden]
    group: Annotated[str, Hidden]
    graph: str
    uses: Annotated[tuple[str, ...], Hidden]
    knobs: Annotated[tuple[ModeOption, ...], Hidden]
    documents: int
    ready: bool


@dataclass(frozen=True)
class Modes:
    """Modes by name."""

    total: int
    rows: tuple[ModeDescription, ...]


@dataclass(frozen=True)
class AspectDescription:
    """An aspect by which books are summarised; `there` is whether the collection has it."""

    name: str
    description: str
    there: bool


@dataclass(frozen=True)
class Aspects:
    """Aspects: those of the set in force, and others that the collection has."""

    total: int
    rows: tuple[AspectDescription, ...]


@dataclass(frozen=True)
class SettingDescription:
    """A setting, its value in force, and what it is."""

    name: str
    value: Any
    about: str


@dataclass(frozen=True)
class ShownSettings:
    """Settings by name."""

    total: int
    rows: tuple[SettingDescription, ...]


@operation(
    "/collections/{collection}/modes",
    group=GROUP,
    command="modes",
    is_public=True,
    has_screen=False,
    examples=("modes", "modes --json"),
)
def list_modes(collection: Collection) -> Modes:
    """List the modes, and whether the collection has the graph that each one needs."""
    walked = {mode.graph for mode in modes().values()} - {""}
    counts = count_parts(collection.open_store(), walked, Filters(collection.name))
    rows = [
        _describe_mode(name, each, counts.get(each.graph or TEXT, 0))
        for name, each in modes().items()
    ]
    return Modes(len(rows), tuple(rows))


def _describe_mode(name: str, mode: Mode, documents: int) -> ModeDescription:
    knobs = [
        ModeOption(
            knob,
            field.description or "",
            to_jsonable_python(field.get_default(call_default_factory=True)),
        )
        for knob, field in mode.options.model_fields.items()
    ]
    return ModeDescription(
        name,
        mode.sentence or mode.about,
        mode.about,
        title_of(mode.graph) if mode.graph else TEXT_MODES,
        mode.graph,
        tuple(mode.uses),
        tuple(knobs),
        documents,
        documents > 0,
    )


@operation(
    "/collections/{collection}/aspects",
    group=GROUP,
    command="aspects",
    is_public=True,
    has_screen=False,
    examples=("aspects",),
)
def list_aspects(collection: Collection) -> Aspects:
    """List the aspects by which books are summarised, and whether the collection has them."""
    space = collection.space()
    there = [name for name in (space.aspects if space else ()) if name]
    descriptions = _aspects(collection.settings)
    rows = [
        AspectDescription(name, descriptions.get(name, ""), name in there)
        for name in dict.fromkeys([*descriptions, *there])
    ]
    return Aspects(len(rows), tuple(rows))


@operation(
    "/settings",
    group="Settings",
    command="settings list",
    has_command=False,
    has_tool=False,
)
def list_settings(asker: Asker) -> ShownSettings:
    """List the settings for answering questions; admins see all settings except secrets."""
    values = asker.app.settings.values()
    rows = [
        SettingDescription(name, values[name], field.description or "")
        for name, field in setting_fields().items()
        if name in values and (name in CHOSEN or (asker.caller.may_all and name not in SECRET))
    ]
    return ShownSettings(len(rows), tuple(rows))


def _aspects(settings: Settings) -> dict[str, str]:
    """Return the aspects that the graphs declare, each with what it is."""
    aspects: dict[str, str] = {}
    for installed in graphs().values():
        aspects |= installed.aspects(settings.table(installed.name))
    return aspects
