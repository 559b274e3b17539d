"""The persons of a text by their names: who is whom, and whether a man or a woman."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fabula.graph import Part
from fabula.graphs.entities.forenames import forename_sex
from fabula.graphs.entities.labels import ENTITY
from fabula.graphs.entities.names import lower_name, name_key, name_titles
from fabula.graphs.entities.resolve import PERSON, PLACE, UNKNOWN, person_or_place
from fabula.graphs.entities.rules import extract_entities
from fabula.text.document import Chunk
from fabula_graphs.speech.words import SpeechWords


@dataclass
class Persons:
    """Names and whom each means.

    Attributes:
        keys: The key of whom each name means, by the name in lower case: an entity's id, or a name.
        sexes: "m" or "f" of those keys of which it is known.
        entities: Ids of the keys that are entities.
        names: The usual name of each key.
    """

    words: SpeechWords
    keys: dict[str, str] = field(default_factory=dict)
    sexes: dict[str, str] = field(default_factory=dict)
    entities: frozenset[str] = frozenset()
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_entities(cls, part: Part, words: SpeechWords) -> Persons:
        """Return the persons of a document's part of the graph of entities."""
        uses: dict[str, Counter[str]] = defaultdict(Counter)
        names: dict[str, str] = {}
        types: dict[str, str] = {}
        for node in sorted(part.nodes, key=lambda node: node.id):
            if node.label != ENTITY:
                continue
            values = node.properties
            kind = person_or_place(values["type"])
            forms = dict(zip(values["names"], values["counts"], strict=True))
            if kind in (PERSON, UNKNOWN):
                for form, count in {values["name"]: 1, **forms}.items():
                    uses[lower_name(form)][node.id] += count
            names[node.id], types[node.id] = values["name"], kind
        keys = {
            form: min(by_id, key=lambda id: (types[id] != PERSON, -by_id[id], id))
            for form, by_id in uses.items()
        }
        persons = cls(words, keys, {}, frozenset(names), names)
        persons._read_sexes()
        return persons

    @classmethod
    def of_text(cls, chunks: Iterable[Chunk], language: str, words: SpeechWords) -> Persons:
        """Return those that rules find in a text; names of one person may stay apart."""
        extraction = extract_entities(tuple(chunks), language)
        forms: Counter[str] = Counter()
        for mention in extraction.mentions:
            if person_or_place(mention.type) != PLACE:
                forms.update({form: len(places) for form, places in mention.names.items()})
        return cls.of_names(forms, words)

    @classmethod
    def of_names(cls, forms: Mapping[str, int], words: SpeechWords) -> Persons:
        """Return the persons of some names, with how often each is printed."""
        whole: dict[str, str] = {}
        by_first: dict[str, set[str]] = defaultdict(set)
        for form in forms:
            key = name_key(form)
            if len(key.split()) > 1:
                by_first[key.split()[0]].add(key)
        persons = cls(words)
        for form in sorted(forms, key=lambda form: (-forms[form], form)):
            key = name_key(form)
            if not key:
                continue
            title = next(iter(name_titles(form).split()), "")
            if words.titles.get(title) == "f":
                key = f"{title} {key}"
            elif not title and len(longer := by_first.get(key, set())) == 1:
                key = next(iter(longer))
            whole[lower_name(form)] = key
            persons.names.setdefault(key, form)
        persons.keys = whole
        persons._read_sexes()
        return persons

    def find(self, name: str) -> str:
        """Return the key of whom a printed name means; itself in lower case if it is unknown."""
        small = lower_name(name)
        if small in self.keys:
            return self.keys[small]
        bare = name_key(name)
        if bare in self.keys and not (
            self.words.titles.get(next(iter(name_titles(name).split()), "")) == "f"
            and self.sexes.get(self.keys[bare]) == "m"
        ):
            return self.keys[bare]
        return small

    def sex(self, key: str, name: str = "") -> str:
        """Return "m", "f", or '' for unknown."""
        return self.sexes.get(key) or self.sex_of_name(name)

    def sex_of_name(self, name: str) -> str:
        """Return what the title or forename of a name says."""
        for title in name_titles(name).split():
            if sex := self.words.titles.get(title, ""):
                return sex
        first = next(iter(name_key(name).split()), "")
        return forename_sex(first, self.words.language)

    def _read_sexes(self) -> None:
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for form, key in self.keys.items():
            if sex := self.sex_of_name(form):
                votes[key][sex] += 1
        for key, name in self.names.items():
            if sex := self.sex_of_name(name):
                votes[key][sex] += 1
        self.sexes = {key: counts.most_common(1)[0][0] for key, counts in votes.items()}
