"""Read the words by which questions are read without a model, one TOML file a language."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources


@dataclass(frozen=True)
class QuestionWords:
    """Words of questions, and the senses that they ask for."""

    senses: tuple[str, ...]
    words: tuple[str, ...]
    not_before: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds one of the words, except before a word that makes another question of it."""
        words, others = ("|".join(map(re.escape, w)) for w in (self.words, self.not_before))
        return re.compile(rf"\b(?:{words})\b" + (rf"(?! (?:{others})\b)" if others else ""))


@dataclass(frozen=True, slots=True)
class DiscourseWords:
    """The words of a language by which a question is read; all in lower case.

    Attributes:
        verbs: The verb of each irregular form.
        asking: Words of questions.
    """

    verbs: Mapping[str, str]
    asking: tuple[QuestionWords, ...]

    def asked_by(self, question: str) -> list[str]:
        """Return the senses of PDTB-3 that a question asks for by its words."""
        text = " ".join(question.casefold().split())
        matched = (asking for asking in self.asking if asking.pattern.search(text))
        return [sense for asking in matched for sense in asking.senses]


@functools.cache
def words_of(language: str) -> DiscourseWords | None:
    """Return the words of a language, by ISO 639-1; None if it has no file."""
    code = language.lower().replace("_", "-").split("-")[0]
    file = resources.files(__name__) / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return None
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    verbs = {form: verb for verb, forms in table["irregular"].items() for form in forms.split()}
    asking = tuple(
        QuestionWords(
            tuple(entry["senses"]), tuple(entry["words"]), tuple(entry.get("not_before", ()))
        )
        for entry in table["asking"]
    )
    return DiscourseWords(verbs, asking)
