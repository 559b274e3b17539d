"""Example questions about a collection, made without a model from what its books name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from fabula.graph.findings import PERSON, PLACE
from fabula.graphs.entities.known_until import list_entities
from fabula.operations.kit import operation
from fabula.operations.parameters import Document

if TYPE_CHECKING:
    from fabula.library.collection import Collection

MAX_EXAMPLES = 5
"""Questions that are suggested at once."""
MAX_ENTITIES = 60
"""The most mentioned entities that questions are made of."""
MAX_NAME_CHARACTERS = 60
"""A longer name is rather a sentence that was taken for one."""

MIN_MENTIONS = 3
"""What is named less often is too small for a question, or was no name."""
MIN_SHARE = 0.02
"""The same for long books: the share of the mentions of whom the books mention most."""


@dataclass(frozen=True)
class ExampleQuestion:
    """A question that somebody could ask, and the document that it is about.

    `document` is its id, and `title` is its title.
    """

    question: str
    document: str
    title: str


@dataclass(frozen=True)
class ExampleQuestions:
    """Questions that somebody could ask."""

    total: int
    rows: tuple[ExampleQuestion, ...]


@operation(
    "/collections/{collection}/examples",
    group="Choices",
    command="examples",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    examples=("examples", 'examples "A Christmas Carol"'),
)
def suggest_questions(collection: Collection, document: Document = "") -> ExampleQuestions:
    """List questions that a reader of a collection could ask, made without a model.

    They are about the people and places that are mentioned most, where the books have the graph
    that knows them; otherwise about the books by their titles. Nobody is named whom the text names
    only after what was read.
    """
    found = tuple(_suggest(collection, document))
    return ExampleQuestions(len(found), found)


def _suggest(collection: Collection, document: str) -> list[ExampleQuestion]:
    rows = list_entities(collection.open_store(), collection.filters(document), limit=MAX_ENTITIES)
    rows = [
        row
        for row in rows
        if len(row["name"]) <= MAX_NAME_CHARACTERS
        and row["mentions"] >= max(MIN_MENTIONS, MIN_SHARE * rows[0]["mentions"])
    ]
    people = [row for row in rows if str(row["type"]).casefold() == PERSON]
    places = [row for row in rows if str(row["type"]).casefold() == PLACE]
    questions = [*islice(_about_names(people, places), MAX_EXAMPLES)]
    if questions:
        return questions
    entries = (
        [collection.document(document)]
        if document
        else islice(collection.documents(), MAX_EXAMPLES // 2)
    )
    return [
        ExampleQuestion(question=question, document=entry.id, title=entry.title)
        for entry in entries
        for question in ("What is this story about?", "Who tells this story, and to whom?")
    ][:MAX_EXAMPLES]


def _about_names(
    people: Sequence[Mapping[str, Any]], places: Sequence[Mapping[str, Any]]
) -> Iterator[ExampleQuestion]:
    """Yield questions about the most mentioned people and places, of different kinds."""
    for row in people[:1]:
        yield _question(f"Who is {row['name']}?", row)
    first = people[0] if people else None
    others = [row for row in people[1:] if first and row["document"] == first["document"]]
    for row in others[:1]:
        assert first
        yield _question(f"How do {first['name']} and {row['name']} know each other?", row)
    for row in places[:1]:
        yield _question(f"What happens in {row['name']}?", row)
    for row in others[1:2]:
        yield _question(f"What does {row['name']} want?", row)
    elsewhere = [row for row in people if first and row["document"] != first["document"]]
    for row in elsewhere[:1]:
        yield _question(f"Who is {row['name']}?", row)


def _question(text: str, row: Mapping[str, Any]) -> ExampleQuestion:
    return ExampleQuestion(question=text, document=row["document"], title=row["title"])
