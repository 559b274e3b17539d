"""Aspect sets: the narrative dimensions a book is summarised along, one TOML file a set."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import SettingsError
from fabula.graphs.aspects.values import Aspect
from fabula.names import problem, quoted


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
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_aspects(name_or_path: str) -> tuple[Aspect, ...]:
    """The aspects of a shipped set or of a TOML file, in the file's order.

    Names keep their spelling; two that differ only in case are one too many. Raises
    SettingsError, which names the file and what is wrong with it.
    """
    text = _text(name_or_path)
    try:
        read = _File.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name_or_path} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        raise SettingsError(f"{name_or_path} is no aspect set: {_in_words(error)}") from error
    for entry in read.aspects:
        if wrong := problem(entry.name):
            raise SettingsError(f"{name_or_path}: the aspect {quoted(entry.name)} {wrong}.")
    counts = Counter(entry.name.casefold() for entry in read.aspects)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise SettingsError(f"{name_or_path} has more than one aspect named {repeated[0]!r}.")
    return tuple(Aspect(entry.name, entry.description, entry.focus) for entry in read.aspects)


def _text(name_or_path: str) -> str:
    if name_or_path in shipped():
        return (resources.files(__name__) / f"{name_or_path}.toml").read_text(encoding="utf-8")
    path = Path(name_or_path)
    if not path.is_file():
        raise SettingsError(
            f"There is no aspect set {name_or_path!r}: neither a file nor one of the shipped sets, "
            f"{', '.join(shipped())}."
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name_or_path} can't be read: {error}.") from error


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = first["loc"]
    what = f"aspect {int(place[1]) + 1}" if len(place) > 1 else "the file"
    key = f", {place[-1]!r}" if isinstance(place[-1], str) else ""
    return (
        f"{what}{key}: {first['msg'].lower()}. Each [[aspects]] table has a name, a description "
        "and a focus."
    )
