"""What the graph of facts is made of: statements of chunks, and the facts that they come to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Choice:
    """What a name or a predicate was taken for when a model was asked.

    `taken` is the id of an entity, or the name of a relation; '' where it is none of those that
    were shown. `among` are the ids of all entities that were called just so then: once others are,
    the model is asked again.
    """

    taken: str = ""
    among: tuple[str, ...] = ()


Choices = tuple[Choice | None, Choice | None, Choice | None]


@dataclass(frozen=True, slots=True)
class Statement:
    """What one chunk states, in its own words.

    `place` is where the chunk begins, in characters of the document; the types are classes of the
    ontology, or ''. `proof` is the sentence that names both ends, '' where none does. `choices` are
    what a model took the subject, the predicate and the object for, as far as it was asked.
    """

    chunk: str
    place: int
    subject: str
    predicate: str
    object: str
    subject_type: str = ""
    object_type: str = ""
    proof: str = field(default="", compare=False)
    choices: Choices = field(default=(None, None, None), compare=False)

    @property
    def words(self) -> tuple[str, str, str]:
        """Subject, predicate and object."""
        return (self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True)
class End:
    """One of the two that a fact is about: an entity, by its id, or '' and words alone.

    `key` tells ends apart; `types` are the classes that it is of, the most likely one first.
    """

    key: str
    name: str
    entity: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a document states, as the ontology has it, and the statements that say so."""

    id: str
    subject: End
    predicate: str
    object: End
    statements: tuple[Statement, ...]
