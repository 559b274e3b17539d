"""Types of entities, one TOML file a set; the last one takes what is none of the others."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.names import problem, quoted


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of entity, and what is of it."""

    name: str
    description: str


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    types: list[_Entry] = Field(min_length=1)


def shipped() -> tuple[str, ...]:
    """The names of the sets that come with Fabula."""
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_types(name_or_path: str) -> tuple[EntityType, ...]:
    """The types of a shipped set or of a TOML file, in the file's order.

    Raises SettingsError, which names the file and what is wrong with it.
    """
    try:
        read = _File.model_validate(tomllib.loads(_text(name_or_path)))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name_or_path} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        raise SettingsError(
            f"{name_or_path} is no set of types: {first_problem(error)}. Each [[types]] table has "
            "a name and a description."
        ) from error
    for entry in read.types:
        if wrong := problem(entry.name):
            raise SettingsError(f"{name_or_path}: the type {quoted(entry.name)} {wrong}.")
    counts = Counter(entry.name.casefold() for entry in read.types)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise SettingsError(f"{name_or_path} has more than one type named {repeated[0]!r}.")
    return tuple(EntityType(entry.name, entry.description) for entry in read.types)


def _text(name_or_path: str) -> str:
    if name_or_path in shipped():
        return (resources.files(__name__) / f"{name_or_path}.toml").read_text(encoding="utf-8")
    path = Path(name_or_path)
    if not path.is_file():
        raise SettingsError(
            f"There is no set of types {name_or_path!r}: neither a file nor one of the shipped "
            f"sets, {', '.join(shipped())}."
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name_or_path} can't be read: {error}.") from error
