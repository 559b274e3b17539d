"""Sets of types of entities, one TOML file each; the last type is for what no other type fits."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import first_problem
from fabula.graph import sets


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entities, and a description of what has it."""

    name: str
    description: str


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    types: list[_Entry] = Field(min_length=1)


def read_types(name_or_path: str) -> tuple[EntityType, ...]:
    """Read the types of a shipped set or of a TOML file, in the file's order.

    Raises:
        SettingsError: The file cannot be read; the message names it and what is wrong with it.
    """
    file = sets.read_set(name_or_path, __name__, "set of types", _File, _in_words)
    sets.refuse_names(name_or_path, "type", (entry.name for entry in file.types))
    return tuple(EntityType(entry.name, entry.description) for entry in file.types)


def _in_words(error: ValidationError) -> str:
    return f"{first_problem(error)}. Each [[types]] table has a name and a description."
