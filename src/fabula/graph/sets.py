"""Read sets of types, aspects, senses and so on: TOML files, Fabula's own or a user's."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.text.names import name_problem, quote_name

Schema = TypeVar("Schema", bound=BaseModel)


def list_shipped(package: str) -> tuple[str, ...]:
    """Return the names of the sets in a package."""
    names = (entry.name for entry in resources.files(package).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_set(
    name_or_path: str,
    package: str,
    what: str,
    schema: type[Schema],
    explain: Callable[[ValidationError], str] = first_problem,
) -> Schema:
    """Read a set.

    Args:
        name_or_path: The name of a set of the package, or the path of a TOML file.
        package: The package that holds the shipped sets.
        what: What errors call it, such as "aspect set".
        schema: The model that it has to fit.
        explain: Words what is wrong with a file that does not fit.

    Raises:
        SettingsError: There is no such set, or the file can't be read or does not fit.
    """
    text = _text(name_or_path, package, what)
    try:
        return schema.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name_or_path} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        raise SettingsError(f"{name_or_path} is not a valid {what}: {explain(error)}") from error


def refuse_names(name_or_path: str, what: str, names: Iterable[str]) -> None:
    """Raise SettingsError for an invalid name, or two that differ only in case."""
    names = list(names)
    for name in names:
        if reason := name_problem(name):
            raise SettingsError(f"{name_or_path}: the {what} {quote_name(name)} {reason}.")
    counts = Counter(name.casefold() for name in names)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise SettingsError(f"{name_or_path} has more than one {what} named {repeated[0]!r}.")


def _text(name_or_path: str, package: str, what: str) -> str:
    if name_or_path in list_shipped(package):
        return (resources.files(package) / f"{name_or_path}.toml").read_text(encoding="utf-8")
    path = Path(name_or_path)
    if not path.is_file():
        raise SettingsError(
            f"There is no {what} {name_or_path!r}: neither a file nor one of the shipped ones, "
            f"{', '.join(list_shipped(package))}."
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name_or_path} can't be read: {error}.") from error
