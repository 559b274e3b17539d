"""The values of the graph of facts: statements of chunks, and the facts that they come to."""

from __future__ import annotations

from dataclasses import dataclass, field

Choices = tuple[str | None, str | None, str | None]
"""The ids of entities, and the name of a relation, that a model took the three parts of a statement
for: '' where it was none of the candidates, None where it was not asked."""


@dataclass(frozen=True, slots=True)
class FactStatement:
    """What one chunk states, in its own words.

    Attributes:
        chunk: The chunk's id.
        place: Where the chunk begins, in characters of the document.
        subject: The first of its three parts.
        predicate: The second.
        object: The third.
        subject_type: A class of the ontology, or ''.
        object_type: Likewise.
        proof: The sentence that prints both ends; '' if none does.
        choices: What a model took the three parts for.
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
    """What a fact is about: an entity by its id, or words alone and ''.

    `key` tells ends apart; `types` are the classes that it is of, the most likely one first.
    """

    key: str
    name: str
    entity: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OntologyFact:
    """A fact of a document in terms of the ontology, and the statements that it was made of."""

    id: str
    subject: End
    predicate: str
    object: End
    statements: tuple[FactStatement, ...]
