"""Aspect sets: the dimensions along which a kind of text is summarised, one TOML file each."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import SettingsError, did_you_mean
from fabula.graph import sets
from fabula.graphs.aspects.options import Options
from fabula.graphs.aspects.values import PLAIN_WORDS, Aspect, AspectSet, TextWords


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    focus: str = Field(min_length=1)
    summariser: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    kind: str = Field(PLAIN_WORDS.kind, min_length=1)
    kinds: str = Field(PLAIN_WORDS.kinds, min_length=1)
    subject: str = Field(PLAIN_WORDS.subject, min_length=1)
    example: str = Field(PLAIN_WORDS.example, min_length=1)
    aspects: list[_Entry] = Field(min_length=1)


def read_aspects(name_or_path: str) -> tuple[Aspect, ...]:
    """Return the aspects of a shipped set or of a TOML file, in the file's order.

    Args:
        name_or_path: The name of a shipped set, or the path of a file.

    Raises:
        SettingsError: There is no such set or file, or it is malformed, or two names differ only
            in case. The message names the file and what is wrong with it.
    """
    return read_aspect_set(name_or_path).aspects


def chosen_aspects(options: Options) -> AspectSet:
    """Return the set that options name, with the aspects that they choose of it.

    Raises:
        SettingsError: As `read_aspects` raises it; the set has no aspect of a name that is chosen
            or left out, or none is left.
    """
    whole = read_aspect_set(options.set)
    only = _find_named(options.only_aspects, "only_aspects", whole)
    without = _find_named(options.without_aspects, "without_aspects", whole)
    chosen = tuple(
        aspect
        for aspect in whole.aspects
        if aspect.name not in without and (not only or aspect.name in only)
    )
    if not chosen:
        raise SettingsError(
            "`only_aspects` and `without_aspects` leave no aspect: to build no summaries, set "
            "`levels = 0`."
        )
    return replace(whole, aspects=chosen)


def _find_named(names: str, setting: str, whole: AspectSet) -> set[str]:
    """Return the aspects that a setting names, joined by commas and in any case."""
    by_key = {aspect.name.casefold(): aspect.name for aspect in whole.aspects}
    found = set()
    for name in filter(None, map(str.strip, names.split(","))):
        if name.casefold() not in by_key:
            hint = did_you_mean(name, by_key.values(), f"It has: {', '.join(by_key.values())}.")
            raise SettingsError(f"`{setting}`: the aspect set has no aspect {name!r}. {hint}")
        found.add(by_key[name.casefold()])
    return found


def read_aspect_set(name_or_path: str) -> AspectSet:
    """Return a shipped set or that of a TOML file, with the words for its kind of text.

    Raises:
        SettingsError: As `read_aspects` raises it.
    """
    file = sets.read_set(name_or_path, __name__, "aspect set", _File, _describe)
    sets.refuse_names(name_or_path, "aspect", (entry.name for entry in file.aspects))
    return AspectSet(
        tuple(Aspect(**entry.model_dump()) for entry in file.aspects),
        TextWords(file.kind, file.kinds, file.subject, file.example),
    )


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = first["loc"]
    what = f"aspect {int(place[1]) + 1}" if len(place) > 1 else "the file"
    key = f", {place[-1]!r}" if isinstance(place[-1], str) else ""
    return (
        f"{what}{key}: {first['msg'].lower()}. Each [[aspects]] table has a name, a description "
        "and a focus, and may name a summariser; before them, the file may have a kind, kinds, a "
        "subject and an example."
    )
