"""Queries for analysts: what a file of Cypher says of itself, and what it is given to run with.

A file begins with comment lines: its purpose, then for each parameter the line that sets it in
Neo4j Browser, and under it what the parameter is:

    // What the query is for, in one sentence.
    // No rows: why it may find nothing, and what would fill it.
    // :param limit => 20;
    //   rows at most

The statement follows. A file without such a header runs too: what stands as `$name` in it is then
a parameter without a default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.errors import BadValue, FabulaError, NotFound, did_you_mean
from fabula.graph.nesting import find_excess
from fabula.graph.queries import FOLDER
from fabula.graph.statements import UNREAD
from fabula.text.names import quoted

SHIPPED = FOLDER / "explore"
NO_ROWS = "No rows: "
"""Begins the lines of a header that say why a query may find nothing."""
_SETTING = re.compile(r":param\s+(\w+)\s*=>\s*(.*?);?$")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a query is given; one that is `required` has no default."""

    name: str
    default: Any = None
    about: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A statement of Cypher, what it is for, and its parameters in the order of their header.

    `no_rows` says why it may find nothing.
    """

    name: str
    purpose: str
    parameters: tuple[Parameter, ...]
    statement: str
    no_rows: str = ""

    def values(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The value of every parameter: as typed where it is `given`, else its default.

        What is typed is JSON where it can be read as that, else text; and it is text as it stands
        where the default is one. Raises FabulaError for a parameter that there is not, or that
        has neither value nor default.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        return self.fill(
            {
                name: _typed(name, value, known[name].default) if name in known else value
                for name, value in given.items()
            }
        )

    def fill(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every parameter: as `given`, else its default. Raises as `values` does."""
        known = {parameter.name: parameter for parameter in self.parameters}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise FabulaError(f"{self._called} has no parameter {self._instead_of(unknown[0])}")
        missing = [one.name for one in self.parameters if one.required and one.name not in given]
        if missing:
            raise FabulaError(f"{self._called} needs {_flags(missing)}: {self._it_has}.")
        return {name: given.get(name, parameter.default) for name, parameter in known.items()}

    @property
    def _called(self) -> str:
        return f"The query {self.name!r}" if self.name else "This query"

    @property
    def _it_has(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"its parameters are {names}" if names else "it has none"

    def _instead_of(self, unknown: str) -> str:
        hint = did_you_mean(unknown, [one.name for one in self.parameters])
        return f"{quoted(unknown)}: {self._it_has}. {hint}".rstrip()


def names() -> list[str]:
    """The queries that come with Fabula, by name."""
    return sorted(path.stem for path in SHIPPED.glob("*.cypher"))


def shipped(name: str) -> Query:
    """The query of that name that comes with Fabula. Raises NotFound, with the nearest name."""
    if name not in names():
        raise NotFound(
            f"There is no query {quoted(name)}. {did_you_mean(name, names())}".rstrip(),
            advice="`fabula cypher --list` shows them.",
        )
    return read(SHIPPED / f"{name}.cypher")


def read(path: Path) -> Query:
    """The query in a file. Raises FabulaError where it can't be read."""
    try:
        return parse(path.read_text(encoding="utf-8-sig"), path.stem)
    except (OSError, UnicodeError) as error:
        why = "it is no UTF-8 text" if isinstance(error, UnicodeError) else error.strerror
        raise FabulaError(f"The query in {path} can't be read: {why}.") from error


def parse(text: str, name: str = "") -> Query:
    """A query from its text. Raises FabulaError for a default that is neither text nor JSON."""
    header: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("//"):
            break
        header.append(line.removeprefix("//").strip())
    purpose = header[0] if header and not header[0].startswith(":param") else ""
    parameters: dict[str, Parameter] = {}
    about: dict[str, list[str]] = {}
    no_rows: list[str] = []
    now = ""
    for line in header:
        if found := _SETTING.match(line):
            now = found[1]
            parameters[now] = Parameter(now, _literal(found[2], now, name))
            about[now] = []
        elif now and line:
            about[now].append(line)
        elif line and (no_rows or line.startswith(NO_ROWS)):
            no_rows.append(line)
    told = [Parameter(key, one.default, " ".join(about[key])) for key, one in parameters.items()]
    asked = dict.fromkeys(re.findall(r"\$(\w+)", UNREAD.sub(" ", text)))
    told += [Parameter(key, required=True) for key in asked if key not in parameters]
    return Query(name, purpose, tuple(told), text, " ".join(no_rows))


def _literal(written: str, parameter: str, name: str) -> Any:
    """A default, as Cypher writes it: a 'text', or what JSON and Cypher write alike."""
    if quoted := re.fullmatch(r"'((?:\\.|[^'\\])*)'", written):
        return re.sub(r"\\(.)", r"\1", quoted[1])
    try:
        return json.loads(written)
    except ValueError as error:
        raise FabulaError(
            f"The default of parameter {parameter!r} in {name or 'this query'} can't be read: "
            f"{written}. Write a number, true, false, a 'text' or a JSON list."
        ) from error


def _typed(name: str, given: str, default: Any) -> Any:
    try:
        written = given.encode()
    except UnicodeEncodeError as error:
        raise BadValue(f"The value of parameter {name!r} is no text of UTF-8.") from error
    try:
        value = json.loads(given)
    except RecursionError:
        value = None
    except ValueError:
        return given
    if excess := find_excess(written):
        raise BadValue(f"The value of parameter {name!r} {excess}.")
    return given if isinstance(default, str) and not isinstance(value, str) else value


def _flags(missing: Sequence[str]) -> str:
    return " ".join(f"--param {name}=..." for name in missing)
