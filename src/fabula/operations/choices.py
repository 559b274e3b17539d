"""What can be chosen: modes, aspects, questions that somebody could ask, and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import to_jsonable_python

from fabula.ask.query import query_options
from fabula.config.settings import SECRET, setting_fields
from fabula.graph import TEXT
from fabula.graph.findings import PERSON, PLACE
from fabula.graph.hits import Filters
from fabula.graph.installed import graph, graphs
from fabula.operations.kit import Asker, Column, operation
from fabula.operations.parameters import Document

# What imports Neo4j's driver is imported in the functions: help has to be shown without it.
if TYPE_CHECKING:
    from fabula.app.collection import Collection

GROUP = "Choices"
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
TEXT_MODES = "The text and its summaries"
"""The group of modes that need no graph of their own."""
ANSWER_SETTINGS = {"answer_tokens", "history_tokens", "model", "embedding_model", "rerank_model"}
"""Settings that say how questions are answered, beside those that a question may change."""
Hidden = Column(is_shown=False)


def title_of(name: str) -> str:
    """Return what a reader of books would call a graph."""
    method = graphs().get(name)
    return method.title if method and method.title else name


def lacks_model(collection: Collection, name: str) -> bool:
    """Return whether a graph can't be built, as it needs a chat model and there is none."""
    return graph(name).needs_model and collection.settings.offline


@dataclass(frozen=True)
class ModeOption:
    """A setting of a mode's own: its name, what it is, and its default."""

    name: str
    about: str
    default: Any


@dataclass(frozen=True)
class ModeRow:
    """A way to find passages.

    Attributes:
        name: Its name.
        sentence: What it does, for readers of books.
        about: What it does.
        group: What it is about.
        graph: The graph that it walks; '' if it needs none.
        uses: Other graphs that it uses where they are.
        knobs: Settings of its own.
        documents: How many documents have its graph.
        ready: Whether the collection can be asked by it.

    """

    name: str
    sentence: str
    about: Annotated[str, Hidden]
    group: Annotated[str, Hidden]
    graph: str
    uses: Annotated[tuple[str, ...], Hidden]
    knobs: Annotated[tuple[ModeOption, ...], Hidden]
    documents: int
    ready: bool


@dataclass(frozen=True)
class Modes:
    """All modes by name."""

    total: int
    rows: tuple[ModeRow, ...]


@operation(
    "/collections/{collection}/modes",
    group=GROUP,
    command="modes",
    is_public=True,
    has_screen=False,
    examples=("modes", "modes --json"),
)
def list_modes(collection: Collection) -> Modes:
    """List the modes of questions, and whether a collection has the graph that each one needs."""
    from fabula.ask.mode_runs import count_parts
    from fabula.ask.modes import modes

    walked = {mode.graph for mode in modes().values()} - {""}
    counts = count_parts(collection.store, walked, Filters(collection.name))
    rows = []
    for name, mode in modes().items():
        documents = counts.get(mode.graph or TEXT, 0)
        options = tuple(
            ModeOption(
                option,
                field.description or "",
                to_jsonable_python(field.get_default(call_default_factory=True)),
            )
            for option, field in mode.options.model_fields.items()
        )
        sentence, group = mode.sentence or mode.about, TEXT_MODES
        if mode.graph:
            group = title_of(mode.graph)
        uses = tuple(mode.uses)
        rows.append(
            ModeRow(
                name,
                sentence,
                mode.about,
                group,
                mode.graph,
                uses,
                options,
                documents,
                documents > 0,
            )
        )
    return Modes(len(rows), tuple(rows))


@dataclass(frozen=True)
class AspectRow:
    """An aspect by which books are summarised; `there` is whether the collection has it."""

    name: str
    description: str
    there: bool


@dataclass(frozen=True)
class Aspects:
    """The aspects of the current aspect set, and further ones that a collection has."""

    total: int
    rows: tuple[AspectRow, ...]


@operation(
    "/collections/{collection}/aspects",
    group=GROUP,
    command="aspects",
    is_public=True,
    has_screen=False,
    examples=("aspects",),
)
def list_aspects(collection: Collection) -> Aspects:
    """List the aspects of the current aspect set, and further ones that a collection has."""
    space = collection.space()
    there = [name for name in (space.aspects if space else ()) if name]
    descriptions: dict[str, str] = {}
    for installed in graphs().values():
        descriptions |= installed.aspects(collection.settings.table(installed.name))
    rows = tuple(
        AspectRow(name, descriptions.get(name, ""), name in there)
        for name in dict.fromkeys([*descriptions, *there])
    )
    return Aspects(len(rows), rows)


@dataclass(frozen=True)
class ExampleQuestion:
    """A question that somebody could ask, and the id and title of the document it is about."""

    question: str
    document: Annotated[str, Hidden]
    title: str


@dataclass(frozen=True)
class ExampleQuestions:
    """Questions that a reader of a collection could ask."""

    total: int
    rows: tuple[ExampleQuestion, ...]


@operation(
    "/collections/{collection}/examples",
    group=GROUP,
    command="examples",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    examples=("examples", 'examples "A Christmas Carol"'),
)
def list_examples(collection: Collection, document: Document = "") -> ExampleQuestions:
    """List questions that somebody could ask, made without a model.

    They are about the people and places that are mentioned most, where the books have the graph
    that knows them; otherwise about the books by their titles. Nobody is named whom the text names
    only after what was read.

    Raises:
        NotFound: There is no such document.

    """
    from fabula.graphs.entities.known_until import list_entities

    rows = list_entities(collection.store, collection.filters(document), limit=MAX_ENTITIES)
    rows = [
        row
        for row in rows
        if len(row["name"]) <= MAX_NAME_CHARACTERS
        and row["mentions"] >= max(MIN_MENTIONS, MIN_SHARE * rows[0]["mentions"])
    ]
    people = [row for row in rows if str(row["type"]).casefold() == PERSON]
    places = [row for row in rows if str(row["type"]).casefold() == PLACE]
    questions = tuple(islice(_about_names(people, places), MAX_EXAMPLES))
    if not questions:
        entries = (
            [collection.document(document)]
            if document
            else islice(collection.documents(), MAX_EXAMPLES // 2)
        )
        questions = tuple(
            ExampleQuestion(question, entry.id, entry.title)
            for entry in entries
            for question in ("What is this story about?", "Who tells this story, and to whom?")
        )
    return ExampleQuestions(len(questions), questions)


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
    return ExampleQuestion(text, row["document"], row["title"])


@dataclass(frozen=True)
class SettingRow:
    """A setting, its value in force, and what it is."""

    name: str
    value: Any
    about: str


@dataclass(frozen=True)
class SettingList:
    """Settings in force."""

    total: int
    rows: tuple[SettingRow, ...]


@operation("/settings", group=GROUP, command="settings list", has_command=False)
def list_settings(asker: Asker) -> SettingList:
    """List the settings for answering questions; admins see all settings except secrets.

    `fabula settings` says where each one is set.
    """
    chosen = {option.setting for option in query_options().values()} | ANSWER_SETTINGS
    values = asker.app.settings.values()
    rows = tuple(
        SettingRow(name, to_jsonable_python(values[name]), field.description or "")
        for name, field in setting_fields().items()
        if name in values and (name in chosen or (asker.caller.may_all and name not in SECRET))
    )
    return SettingList(len(rows), rows)
