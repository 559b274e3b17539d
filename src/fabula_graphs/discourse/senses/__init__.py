"""Read sets of senses of discourse relations, one TOML file each.

A sense is a dotted path of a hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.graph import fingerprint, sets
from fabula_graphs.discourse.values import ARG1_IS_CAUSE, ARG2_IS_CAUSE


@dataclass(frozen=True, slots=True)
class Sense:
    """A way in which two arguments hang together; `pdtb3` is the nearest of version 3."""

    path: str
    about: str
    pdtb3: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Senses:
    """The senses of a set, each after those that it is below."""

    all: tuple[Sense, ...]

    @cached_property
    def digest(self) -> str:
        """Equal for sets that show the same to a model and to a question."""
        return fingerprint({sense.path: [sense.about, sense.pdtb3] for sense in self.all})

    @cached_property
    def leaves(self) -> tuple[Sense, ...]:
        """The senses with none below them: what a link may be of."""
        inner = {_parent(sense.path) for sense in self.all}
        return tuple(sense for sense in self.all if sense.path not in inner)

    def find(self, name: str) -> str:
        """Return the path that a name means; '' for none.

        A name is a path, an alias, or the last part of a path that no other path ends with.
        """
        return self._names.get(_plain(name), "")

    def is_leaf(self, path: str) -> bool:
        """Return whether a path is that of a leaf."""
        return any(sense.path == path for sense in self.leaves)

    def nearest_leaf(self, pdtb3: str) -> str:
        """Return the leaf that is a sense of PDTB-3, or is nearest to it."""
        parts = pdtb3.split(".")
        for depth in range(len(parts), 0, -1):
            above = ".".join(parts[:depth])
            for leaf in self.leaves:
                if matches(leaf.pdtb3, above):
                    return leaf.path
        return self.leaves[0].path

    def cause(self, path: str) -> str:
        """Return which argument of a sense is the cause of the other: "arg1", "arg2" or ''."""
        pdtb3 = {leaf.pdtb3 for leaf in self.leaves if f"{leaf.path}.".startswith(f"{path}.")}
        causes = [*set(map(_cause, pdtb3))]
        return causes[0] if len(causes) == 1 else ""

    @cached_property
    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        by_last_part: dict[str, list[str]] = {}
        for sense in self.all:
            names |= {_plain(name): sense.path for name in (sense.path, *sense.aliases)}
            by_last_part.setdefault(_plain(sense.path.rpartition(".")[2]), []).append(sense.path)
        unique = {name: paths[0] for name, paths in by_last_part.items() if len(paths) == 1}
        return unique | names


def matches(sense: str, requested: str) -> bool:
    """Return whether a sense is the requested one or below it: Cause+Belief is below Cause."""
    return sense == requested or sense.startswith((f"{requested}.", f"{requested}+"))


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    about: str = Field(min_length=1)
    pdtb3: str = ""
    aliases: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    senses: list[_Entry] = Field(min_length=1)


def read_senses(name_or_path: str) -> Senses:
    """Return the senses of a shipped set or of a TOML file, in the file's order.

    Raises:
        SettingsError: There is no such set, or the file is none; the message says why.
    """
    file = sets.read_set(name_or_path, __name__, "set of senses", _File, _in_words)
    sets.refuse_names(name_or_path, "sense", (entry.name for entry in file.senses))
    _refuse_unparented(name_or_path, [entry.name for entry in file.senses])
    return Senses(
        tuple(
            Sense(entry.name, entry.about, entry.pdtb3 or entry.name, tuple(entry.aliases))
            for entry in file.senses
        )
    )


def _refuse_unparented(name_or_path: str, names: Sequence[str]) -> None:
    before: set[str] = set()
    for name in names:
        if not all(part.strip() for part in name.split(".")):
            raise SettingsError(f"{name_or_path}: the sense {name!r} has an empty part.")
        if (above := _parent(name)) and above not in before:
            raise SettingsError(f"{name_or_path}: {name} needs the sense {above} before it.")
        before.add(name)


def _in_words(error: ValidationError) -> str:
    return f"{first_problem(error)}. Each [[senses]] table has a name and what it is about."


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _cause(pdtb3: str) -> str:
    """A goal and a condition answer "why", too, as a reason does."""
    sort, _, last = pdtb3.removeprefix("Contingency.").rpartition(".")
    if not pdtb3.startswith("Contingency."):
        return ""
    if last.startswith(("Result", "NegResult", "Arg1-as-")):
        return ARG1_IS_CAUSE
    if last.startswith(("Reason", "Arg2-as-")) or not sort:
        return ARG2_IS_CAUSE
    return ""


def _plain(name: str) -> str:
    return "".join(name.casefold().split())
