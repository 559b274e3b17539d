"""Small words by which sentences are read without a model, one TOML file a language."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

Opening = Literal["", "any", "subject", "pronoun"]


@dataclass(frozen=True, slots=True)
class Connective:
    """A word that joins, as its language's file tells of it."""

    word: str
    sense: str
    count: int
    opens: Opening = ""
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """What a language says when, where, why, how and with which verb; all in lower case.

    `lists` are words by the names of the file's lists; `verbs` leads from each irregular form to
    its verb.
    """

    lists: Mapping[str, frozenset[str]]
    connectives: tuple[Connective, ...]
    verbs: Mapping[str, str]

    def any_of(self, *names: str) -> str:
        """A pattern of the words of some lists, longest first."""
        found = sorted({word for name in names for word in self.lists[name]}, key=lambda w: -len(w))
        return "|".join(map(re.escape, found))


@functools.cache
def words_of(language: str) -> Words | None:
    """Those of a language, by ISO 639-1; None for one that has no file."""
    code = language.lower().replace("_", "-").split("-")[0]
    file = resources.files(__name__) / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return None
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    connectives = tuple(
        Connective(**{**one, "forms": tuple(one.get("forms", ()))})
        for one in table.pop("connectives")
    )
    verbs = {form: verb for verb, forms in table.pop("irregular").items() for form in forms.split()}
    lists = {name: frozenset(words.split()) for name, words in table.items()}
    return Words(lists, connectives, verbs)
