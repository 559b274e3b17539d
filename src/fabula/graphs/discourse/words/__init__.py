"""Small words by which sentences are read without a model, one TOML file a language."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Asking:
    """Words of questions, and the senses that are asked for by them."""

    senses: tuple[str, ...]
    words: tuple[str, ...]
    not_before: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds one of the words, but for one before a word that makes another question of it."""
        words, others = ("|".join(map(re.escape, some)) for some in (self.words, self.not_before))
        return re.compile(rf"\b(?:{words})\b" + (rf"(?! (?:{others})\b)" if others else ""))


@dataclass(frozen=True, slots=True)
class Words:
    """What a language says when, where, why, how and with which verb; all in lower case.

    `lists` are words by the names of the file's lists; `verbs` leads from each irregular form to
    its verb; `asking` are words of questions.
    """

    lists: Mapping[str, frozenset[str]]
    connectives: tuple[Connective, ...]
    verbs: Mapping[str, str]
    asking: tuple[Asking, ...]

    def asked_by(self, question: str) -> list[str]:
        """The senses of PDTB-3 that a question asks for by its words."""
        small = " ".join(question.casefold().split())
        return [sense for one in self.asking if one.pattern.search(small) for sense in one.senses]

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
    asking = tuple(
        Asking(tuple(one["senses"]), tuple(one["words"]), tuple(one.get("not_before", ())))
        for one in table.pop("asking")
    )
    lists = {name: frozenset(words.split()) for name, words in table.items()}
    return Words(lists, connectives, verbs, asking)
