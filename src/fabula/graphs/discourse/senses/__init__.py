"""Senses of discourse relations, one TOML file a set; each is a dotted path of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.errors import SettingsError, first_problem
from fabula.graph import fingerprint, sets
from fabula.graphs.discourse.values import ARG1_IS_CAUSE, ARG2_IS_CAUSE


@dataclass(frozen=True, slots=True)
class Sense:
    """A way in which two arguments hang together; `pdtb3` is the nearest of version 3."""

    path: str
    about: str
    pdtb3: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Senses:
    """A set's senses, in its order: each after those that it is below."""

    all: tuple[Sense, ...]

    @cached_property
    def digest(self) -> str:
        """The same for sets that tell a model and a question the same."""
        return fingerprint({one.path: [one.about, one.pdtb3] for one in self.all})

    @cached_property
    def leaves(self) -> tuple[Sense, ...]:
        """The senses that none is below: what a link may be of."""
        inner = {_parent(one.path) for one in self.all}
        return tuple(one for one in self.all if one.path not in inner)

    def find(self, named: str) -> str:
        """The path that is meant: a path or an alias, or what one path alone ends with; or ''."""
        return self._names.get(_plain(named), "")

    def is_leaf(self, path: str) -> bool:
        """Whether a path is one of the leaves'."""
        return any(one.path == path for one in self.leaves)

    def here(self, pdtb3: str) -> str:
        """The deepest sense that holds all which are a sense of PDTB-3 here; '' for none.

        So another set makes use of what is known of that one's senses.
        """
        own = [one.path for one in self.leaves if f"{one.pdtb3}.".startswith(f"{pdtb3}.")]
        return _common(own) if own else ""

    def like(self, pdtb3: str) -> str:
        """A leaf that is a sense of PDTB-3, or as near to it as there is."""
        parts = pdtb3.split(".")
        for depth in range(len(parts), 0, -1):
            above = ".".join(parts[:depth])
            for one in self.leaves:
                if matches(one.pdtb3, above):
                    return one.path
        return self.leaves[0].path

    def cause(self, path: str) -> str:
        """Which argument is the cause of the other in a sense, "arg1" or "arg2"; '' for neither."""
        of = {one.pdtb3 for one in self.leaves if f"{one.path}.".startswith(f"{path}.")}
        [*found] = {_cause(one) for one in of}
        return found[0] if len(found) == 1 else ""

    @cached_property
    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        last: dict[str, list[str]] = {}
        for one in self.all:
            names |= {_plain(name): one.path for name in (one.path, *one.aliases)}
            last.setdefault(_plain(one.path.rpartition(".")[2]), []).append(one.path)
        return {name: some[0] for name, some in last.items() if len(some) == 1} | names


def matches(have: str, asked: str) -> bool:
    """Whether a sense is the one that is asked for, or below it: Cause+Belief is below Cause."""
    return have == asked or have.startswith((f"{asked}.", f"{asked}+"))


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    name: str = Field(min_length=1)
    about: str = Field(min_length=1)
    pdtb3: str = ""
    aliases: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    senses: list[_Entry] = Field(min_length=1)


def shipped() -> tuple[str, ...]:
    """The names of the sets that come with Fabula."""
    return sets.shipped(__name__)


def read_senses(name_or_path: str) -> Senses:
    """The senses of a shipped set or of a TOML file, in the file's order.

    Raises SettingsError, which names the file and what is wrong with it.
    """
    read = sets.read_set(name_or_path, __name__, "set of senses", _File, _in_words)
    sets.refuse_names(name_or_path, "sense", (entry.name for entry in read.senses))
    _refuse_unparented(name_or_path, [entry.name for entry in read.senses])
    return Senses(
        tuple(
            Sense(one.name, one.about, one.pdtb3 or one.name, tuple(one.aliases))
            for one in read.senses
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


def _common(paths: Sequence[str]) -> str:
    columns = zip(*(path.split(".") for path in paths), strict=False)
    same = takewhile(lambda column: len(set(column)) == 1, columns)
    return ".".join(column[0] for column in same)


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
