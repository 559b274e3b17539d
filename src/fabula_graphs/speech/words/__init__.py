"""Read the words by which speakers are found without a model, one TOML file a language."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources

from fabula.graphs.entities.words import SEXES
from fabula.graphs.entities.words import words_of as entity_words

FIRST, PLURAL = "1", "p"
"""What a pronoun says besides a sex ("m", "f"): the narrator, or nobody in particular."""


@dataclass(frozen=True)
class SpeechWords:
    """Words of one language, in lower case.

    Attributes:
        language: The language, an ISO 639-1 code; '' for one without a file.
        verbs: Forms of verbs of speech, and of thought.
        thoughts: Those of them by which somebody only thinks.
        pronouns: What each pronoun that is a subject says: "m", "f", FIRST or PLURAL.
        determiners: Words before a noun that means a person.
        to: Words before the addressee.
        prepositions: Words at which a clause's subject ends.
        nouns: Nouns that mean persons, with the sex: "m", "f" or ''.
        titles: Titles before names, with the sex.
        dears: Words between the comma and the name of somebody who is called.
        feminine: Endings of verbs whose subject is a woman.
        masculine: Endings of verbs whose subject is a man.
        dash_dialogue: Whether its books write dialogues with dashes.
        turns_inside_marks: Whether dashes part the turns between one pair of marks.
        implied_subject: Whether a verb needs no subject.
    """

    language: str = ""
    verbs: frozenset[str] = frozenset()
    thoughts: frozenset[str] = frozenset()
    pronouns: Mapping[str, str] = field(default_factory=dict)
    articles: frozenset[str] = frozenset()
    determiners: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    nouns: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    dears: frozenset[str] = frozenset()
    feminine: tuple[str, ...] = ()
    masculine: tuple[str, ...] = ()
    dash_dialogue: bool = False
    turns_inside_marks: bool = False
    implied_subject: bool = False

    def is_verb(self, word: str) -> bool:
        """Return whether a word in lower case is a verb of speech or thought."""
        return word in self.verbs

    def verb_sex(self, verb: str) -> str:
        """Return what a verb's ending says of its subject: "m", "f" or ''."""
        if self.feminine and verb.endswith(self.feminine):
            return "f"
        return "m" if self.masculine and verb.endswith(self.masculine) else ""

    @cached_property
    def inner_tag(self) -> re.Pattern[str]:
        """Finds "dit Jean" inside of speech after a dash, from the end of the words before it.

        The group `cut` begins where the words that are said end.
        """
        if not self.verbs:
            return re.compile(r"(?!)")
        verbs = "|".join(sorted((re.escape(verb) for verb in self.verbs), key=lambda v: -len(v)))
        capital = r"[^\W\d_a-zà-öø-ÿ][^\W\d_]*"
        before = sorted(map(re.escape, self.determiners | {*self.nouns} | {*self.titles}))
        noun = rf"(?:-(?:t-)?[^\W\d_]+|(?:\s+(?:{capital}|{'|'.join(before)})\.?)+)"
        pronouns = "|".join(map(re.escape, self.pronouns)) or "(?!)"
        return re.compile(
            rf"(?<=[,.!?…])(?P<cut>\s+)(?:(?:[ms]['’]|se\s+|me\s+)?(?:{verbs})\b{noun}"
            rf"|(?:(?:{pronouns})|{capital}(?:\s{capital})?)\s(?:{verbs})\b)"
            r"[^—–.!?,;:]*[,.;:]?(?=\s|$)"
        )


@functools.cache
def words_of(language: str) -> SpeechWords:
    """Return the words of a language (ISO 639-1); none for a language that has no file."""
    code = language.lower().replace("_", "-").split("-")[0]
    if not code:
        code = "en"
    file = resources.files(__name__) / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return SpeechWords()
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    lists = {name: tuple(text.split()) for name, text in table.items() if isinstance(text, str)}

    def read(name: str) -> frozenset[str]:
        return frozenset(lists.get(name, ()))

    def sexes(**lists_by_sex: str) -> dict[str, str]:
        return {word: sex for sex, name in lists_by_sex.items() for word in lists.get(name, ())}

    entity = entity_words(code)
    titles = {
        word: {"w": "f", "g": "f"}.get(sex, sex)
        for word, sex in entity.titles.items()
        if sex in SEXES.values()
    }
    return SpeechWords(
        language=code,
        verbs=read("verbs") | read("thoughts"),
        thoughts=read("thoughts"),
        pronouns={
            **sexes(m="he", f="she"),
            **dict.fromkeys(lists.get("i", ()), FIRST),
            **dict.fromkeys(lists.get("they", ()), PLURAL),
        },
        articles=read("articles"),
        determiners=read("determiners"),
        to=read("to"),
        prepositions=read("prepositions"),
        nouns={**dict.fromkeys(lists.get("people", ()), ""), **sexes(m="men", f="women")},
        titles=titles,
        dears=read("dears"),
        feminine=lists.get("feminine", ()),
        masculine=lists.get("masculine", ()),
        dash_dialogue=bool(table.get("dash_dialogue")),
        turns_inside_marks=bool(table.get("turns_inside_marks")),
        implied_subject=bool(table.get("implied_subject")),
    )


def has_words(language: str) -> bool:
    """Return whether there are rules for a language (ISO 639-1)."""
    return bool(words_of(language).verbs)
