"""Read queries for analysts: a file of Cypher, its header, and the values of its parameters.

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
from fabula.text.folding import fold_name
from fabula.text.names import quote_name

SHIPPED = (FOLDER / "explore", *sorted(FOLDER.glob("*/explore")))
"""The folders of queries: the core's, and those of the packages that are there."""
NO_ROWS = "No rows: "
"""Begins the lines of a header that say why a query may find nothing."""
COLLECTION = "collection"
"""The parameter whose value is the name of the collection that is asked."""
DOCUMENT = "a document's id"
"""How the description of a parameter begins that names a document."""
TITLE_KEY = "title_key"
"""The property of a document that holds its title, folded."""
UNTIL = "until"
"""The parameter whose value is how much was read: a number of characters, or a place in words."""
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
"""What types of values are called, as in JSON's schemas."""
_SETTING = re.compile(r":param\s+(\w+)\s*=>\s*(.*?);?$")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a query is given; one that is `required` has no default."""

    name: str
    default: Any = None
    about: str = ""
    required: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """The types that its value may have, as its default says; none where that is not known."""
        of_default = _TYPES.get(type(self.default), "")
        if self.name == UNTIL:
            return ("integer", "string")
        return ("integer", "number") if of_default == "number" else (of_default,) * bool(of_default)

    @property
    def names_document(self) -> bool:
        """Whether its value is the id of a document or a part of its title."""
        return self.about.startswith(DOCUMENT)


@dataclass(frozen=True, slots=True)
class AnalystQuery:
    """A statement of Cypher, what it is for, and its parameters in the order of their header.

    `no_rows` says why it may find nothing.
    """

    name: str
    purpose: str
    parameters: tuple[Parameter, ...]
    statement: str
    no_rows: str = ""

    def values(self, typed: Mapping[str, str]) -> dict[str, Any]:
        """Return the value of every parameter: as a user typed it, or its default.

        Raises:
            BadValue: There is no such parameter, or one has neither a value nor a default.
        """
        return self.fill(self.read(typed))

    def read(self, typed: Mapping[str, str]) -> dict[str, Any]:
        """Return values as a user typed them.

        What is typed is read as JSON if it can be, else it is text; it is always text if the
        default is a text.

        Raises:
            BadValue: One is no text that can be sent, or nested too deep.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        return {
            name: _convert(name, value, known[name].default) if name in known else value
            for name, value in typed.items()
        }

    def fill(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of every parameter, as given or its default; raises as `values` does.

        The name of a document is folded if the statement compares it with folded titles.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise BadValue(f"{self._called} has no parameter {self._instead_of(unknown[0])}")
        required = (parameter.name for parameter in self.parameters if parameter.required)
        if missing := [name for name in required if name not in given]:
            raise BadValue(f"{self._called} needs {_flags(missing)}: {self._it_has}.")
        values = {name: given.get(name, parameter.default) for name, parameter in known.items()}
        if TITLE_KEY in self.statement:
            for name, value in values.items():
                if known[name].names_document and isinstance(value, str):
                    values[name] = fold_name(value)
        return values

    def refuse_types(self, given: Mapping[str, Any]) -> None:
        """Raise BadValue if a value has another type than its parameter."""
        for parameter in self.parameters:
            types = parameter.types
            if not types or parameter.name not in given:
                continue
            is_of = _TYPES.get(type(given[parameter.name]), "null")
            if is_of not in types:
                raise BadValue(
                    f"{self._called} takes {' or '.join(types)} as {parameter.name}, not {is_of}."
                )

    @property
    def _called(self) -> str:
        return f"The query {self.name!r}" if self.name else "This query"

    @property
    def _it_has(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"its parameters are {names}" if names else "it has none"

    def _instead_of(self, unknown: str) -> str:
        hint = did_you_mean(unknown, [parameter.name for parameter in self.parameters])
        return f"{quote_name(unknown)}: {self._it_has}. {hint}".rstrip()


def query_names() -> list[str]:
    """Return the names of the queries that come with Fabula and its packages."""
    return sorted(_query_files())


def _query_files() -> dict[str, Path]:
    return {path.stem: path for folder in SHIPPED for path in folder.glob("*.cypher")}


def shipped_query(name: str) -> AnalystQuery:
    """Return the query of that name that comes with Fabula.

    Raises:
        NotFound: There is none; the message has the nearest name.
    """
    files = _query_files()
    if name not in files:
        raise NotFound(
            f"There is no query {quote_name(name)}. {did_you_mean(name, sorted(files))}".rstrip(),
            advice="`fabula queries` lists them.",
        )
    return read_query(files[name])


def read_query(path: Path) -> AnalystQuery:
    """Return the query in a file. Raises FabulaError if it can't be read."""
    try:
        return parse_query(path.read_text(encoding="utf-8-sig"), path.stem)
    except (OSError, UnicodeError) as error:
        why = "it is no UTF-8 text" if isinstance(error, UnicodeError) else error.strerror
        raise FabulaError(f"The query in {path} can't be read: {why}.") from error


def parse_query(text: str, name: str = "") -> AnalystQuery:
    """Return a query from its text. Raises FabulaError for a default that is no text or JSON."""
    header: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("//"):
            break
        header.append(line.removeprefix("//").strip())
    purpose = header[0] if header and not header[0].startswith(":param") else ""
    parameters: dict[str, Parameter] = {}
    about: dict[str, list[str]] = {}
    no_rows: list[str] = []
    current = ""
    for line in header:
        if setting := _SETTING.match(line):
            current = setting[1]
            parameters[current] = Parameter(current, _literal(setting[2], current, name))
            about[current] = []
        elif current and line:
            about[current].append(line)
        elif line and (no_rows or line.startswith(NO_ROWS)):
            no_rows.append(line)
    described = [
        Parameter(key, parameter.default, " ".join(about[key]))
        for key, parameter in parameters.items()
    ]
    used = dict.fromkeys(re.findall(r"\$(\w+)", UNREAD.sub(" ", text)))
    described += [Parameter(key, required=True) for key in used if key not in parameters]
    return AnalystQuery(name, purpose, tuple(described), text, " ".join(no_rows))


def _literal(written: str, parameter: str, name: str) -> Any:
    """A default, as Cypher writes it: a 'text', or what JSON and Cypher write alike."""
    if text := re.fullmatch(r"'((?:\\.|[^'\\])*)'", written):
        return re.sub(r"\\(.)", r"\1", text[1])
    try:
        return json.loads(written)
    except ValueError as error:
        raise FabulaError(
            f"The default of parameter {parameter!r} in {name or 'this query'} can't be read: "
            f"{written}. Write a number, true, false, a 'text' or a JSON list."
        ) from error


def _convert(name: str, given: str, default: Any) -> Any:
    try:
        written = given.encode()
    except UnicodeEncodeError as error:
        raise BadValue(f"The value of parameter {name!r} is not valid UTF-8.") from error
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
