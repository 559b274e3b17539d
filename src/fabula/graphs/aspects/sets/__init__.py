"""Aspect sets: the narrative dimensions a book is summarised along, one TOML file a set."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.graph import sets
from fabula.graphs.aspects.values import Aspect


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    focus: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    aspects: list[_Entry] = Field(min_length=1)


def shipped() -> tuple[str, ...]:
    """The names of the sets that come with Fabula."""
    return sets.shipped(__name__)


def read_aspects(name_or_path: str) -> tuple[Aspect, ...]:
    """The aspects of a shipped set or of a TOML file, in the file's order.

    Names keep their spelling; two that differ only in case are one too many. Raises
    SettingsError, which names the file and what is wrong with it.
    """
    read = sets.read_set(name_or_path, __name__, "aspect set", _File, _in_words)
    sets.refuse_names(name_or_path, "aspect", (entry.name for entry in read.aspects))
    return tuple(Aspect(entry.name, entry.description, entry.focus) for entry in read.aspects)


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = first["loc"]
    what = f"aspect {int(place[1]) + 1}" if len(place) > 1 else "the file"
    key = f", {place[-1]!r}" if isinstance(place[-1], str) else ""
    return (
        f"{what}{key}: {first['msg'].lower()}. Each [[aspects]] table has a name, a description "
        "and a focus."
    )
