"""Correct what a graph made of a text, such as who is whom; corrections are decisions of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fabula.errors import SettingsError, did_you_mean
from fabula.graph.decisions import Decision, effects_of
from fabula.graph.installed import graph as find_graph
from fabula.graph.queries import read_statement_file
from fabula.operations.kit import Build, Column, Hidden, operation
from fabula.operations.parameters import Document, First, Limit, Who

if TYPE_CHECKING:
    from fabula.graph.entries import Entry
    from fabula.library.collection import Collection

GROUP = "Corrections"
Later = Annotated[
    bool,
    Field(description="do not build the graphs again now: the next build follows the correction"),
]


@dataclass(frozen=True)
class Correction:
    """A correction of a graph, as it is kept.

    Attributes:
        number: Its number among those of the collection, from 1.
        graph: The graph that it is about.
        kind: What is done: rename, merge or split.
        names: With what.
        words: The correction in words.
        document: The id of the only document that it is about; '' for the whole collection.
        title: The title of that document; '' also if it was removed.
        documents: The ids of the documents that it concerned when it was made.
        by: Who made it.
        at: When.
        effects: What became of it, by the titles of documents.
        undone_by: Who undid it; '' if it is in force.
        undone_at: When it was undone; '' if it is in force.
    """

    number: Annotated[int, Column("no.", opens="undo-correction")]
    graph: Annotated[str, Hidden]
    kind: Annotated[str, Hidden]
    names: Annotated[tuple[str, ...], Hidden]
    words: Annotated[str, Column("correction")]
    document: Annotated[str, Hidden]
    title: Annotated[str, Column("only in")]
    documents: Annotated[tuple[str, ...], Hidden]
    by: str
    at: Annotated[datetime, Column("when")]
    effects: Annotated[Mapping[str, str], Column("effect")]
    undone_by: str
    undone_at: Annotated[str, Hidden]


@dataclass(frozen=True)
class Corrections:
    """Corrections by their numbers."""

    total: int
    rows: tuple[Correction, ...]


@operation(
    "/collections/{collection}/decisions",
    group=GROUP,
    title="List",
    positional=["document"],
    hides_unread=True,
    examples=("corrections", 'corrections "A Christmas Carol"', "corrections --undone"),
)
def corrections(
    collection: Collection,
    document: Document = "",
    undone: Annotated[bool, Field(description="also those that were undone")] = False,
    first: First = 0,
    limit: Limit = 100,
) -> Corrections:
    """List what people corrected, who did, when, and what became of it.

    Raises:
        NotFound: There is no such document.
    """
    entry = collection.document(document) if document else None
    rows = find_corrections(collection, entry, undone=undone)
    return Corrections(len(rows), tuple(rows[first : first + limit]))


def find_corrections(
    collection: Collection,
    entry: Entry | None = None,
    names: Sequence[str] | None = None,
    *,
    undone: bool = False,
) -> list[Correction]:
    """Return the corrections of a collection, or those that concern a document, by their numbers.

    For a reader with a place they are those of the document that is read; those with a name that
    the text prints only later are left out, as is what they did to other documents.

    Args:
        collection: The collection.
        entry: Only those that concern this document.
        names: Only those with one of these names.
        undone: Also those that were undone.
    """
    place = collection.place
    if place:
        entry = entry or place.document
    effects = _find_effects(collection)
    kept = [each for each in collection.decisions() if undone or each.is_in_force]
    if names is not None:
        wanted = {name.casefold() for name in names}
        kept = [each for each in kept if not wanted.isdisjoint(map(str.casefold, each.names))]
    if is_unread := collection.open_store().is_unread:
        kept = [each for each in kept if not any(map(is_unread, each.names))]
    if entry:
        # Without a document of its own, one may join entities of different documents.
        takes_general = names is not None and not place
        kept = [
            each
            for each in kept
            if entry.id in (each.document, *each.documents)
            or entry.title in effects.get(each.number, {})
            or (takes_general and not each.document)
        ]
    if entry and place:
        kept = [replace(each, documents=(entry.id,) if each.documents else ()) for each in kept]
        effects = {
            number: {title: effect for title, effect in became.items() if title == entry.title}
            for number, became in effects.items()
        }
    titles = _find_titles(collection, kept)
    return [
        _describe(each, titles.get(each.document, ""), effects.get(each.number, {}))
        for each in kept
    ]


def _find_effects(collection: Collection) -> Mapping[int, Mapping[str, str]]:
    """Return what became of each correction: by its number, by the title of each document."""
    effects: dict[int, dict[str, str]] = {}
    for entry in collection.open_store().documents(collection.name):
        for record in entry.graphs.values():
            for number, effect in effects_of(record).items():
                effects.setdefault(number, {})[entry.title] = effect
    return effects


@dataclass(frozen=True)
class Corrected:
    """A correction that was made or undone, and what follows from it.

    Attributes:
        decision: The correction.
        build: The graph that it makes stale, and in which documents.
        other_settings: The ids of documents that were built with other settings: a model might have
            to read them again, so they are left as they are.
        job: The id of the job that builds the graph again; '' if there is none.
    """

    decision: Correction
    build: Build
    other_settings: tuple[str, ...]
    job: str = ""

    @property
    def audited(self) -> Mapping[str, object]:
        """What the audit says of it."""
        return {"number": self.decision.number, "correction": self.decision.words}

    def to_text(self) -> str:
        """Return what was done, and what will not follow it now."""
        decision, graph = self.decision, self.decision.graph
        done = f"is undone by {decision.undone_by}" if decision.undone_at else "is kept"
        lines = [f"Correction {decision.number} {done}: {decision.words}."]
        lines += [
            f"Document {id} was built with other settings, so a model may have to read it again: "
            f"`fabula build {graph} {id}` does that, and follows the correction."
            for id in self.other_settings
        ]
        if not decision.documents and not decision.undone_at:
            does = "keeps apart" if decision.kind == "split" else "joins"
            lines.append(
                f"No document has all of these names: `fabula build identities` {does} the "
                "entities of different documents."
            )
        if self.build.documents and self.build.later:
            lines.append(f"It is followed when `fabula build {graph}` builds the graph again.")
        return "\n".join(lines)


@operation(
    "/collections/{collection}/decisions",
    group=GROUP,
    role="write",
    method="POST",
    status=201,
    title="Correct",
    positional=["kind", "names"],
    starts_job=True,
    examples=(
        'correct rename "Tiny Tim" "Tim Cratchit"',
        'correct rename Joe "Old Joe" --document "A Christmas Carol"',
        'correct merge Phantom "Ghost of Christmas Yet To Come"',
        'correct split "Jacob Marley" Jacob',
        "correct split John John",
    ),
)
def correct(
    collection: Collection,
    kind: Annotated[
        str, Field(max_length=50, description="what is to be done: rename, merge or split")
    ],
    names: Annotated[
        tuple[str, ...],
        Field(
            min_length=2,
            max_length=50,
            description="rename: the name and the new one; merge: the name of the entity that "
            "stays, and those of the others; split: the name of the entity, and those that leave "
            "it",
        ),
    ],
    document: Document = "",
    graph: Annotated[
        str, Field(max_length=200, description="the graph that it is about")
    ] = "entities",
    later: Later = False,
    by: Who = "",
) -> Corrected:
    """Correct who is whom: rename, merge or split entities.

    The correction belongs to the collection, and later ingests and builds follow it. The graph is
    built again in the documents that it concerns. What was extracted of their texts is used again,
    so no model reads them again; one may be asked for descriptions of what was joined.

    `merge` makes one entity, which keeps the name of the first. If they are in different documents,
    the graph of identities joins them when it is built. `split` makes an entity of its own of
    printed names that an entity has by mistake; if the document has an entity of that name already,
    they become its names. If they are of entities in different documents, the graph of identities
    keeps these apart: `correct split John John` says that the John of each document is another one.
    An id of an entity may stand for its name. `fabula corrections` says what became of it.

    Raises:
        Changed: Somebody else has corrected something at the same time.
        CorrectionRefused: The correction makes no sense for what is there.
        NotFound: There is no such document, or nothing of these names.
        SettingsError: There is no such graph, or no such correction of it.
    """
    from fabula.library.current_user import current_user
    from fabula.store.decisions import read_decisions, save_decision
    from fabula.store.parts import refuse_long_line

    id = collection.document(document).id if document else ""
    store, rules = collection.open_store(), find_graph(graph).decisions
    if rules is None:
        raise SettingsError(f"There is nothing to correct in the graph {graph!r}.")
    if kind not in rules.kinds:
        hint = did_you_mean(kind, rules.kinds, f"There are: {', '.join(rules.kinds)}.")
        raise SettingsError(f"There is no correction {kind!r} of the graph {graph!r}. {hint}")
    names = tuple(" ".join(name.split()) for name in names)
    for name in names:
        refuse_long_line(name)
    # The clock is read first: a part that is written from now on has to follow the correction.
    [time] = store.rows("core/find_time")
    last = max((each.number for each in read_decisions(store, collection.name)), default=0)
    rows = store.run(
        read_statement_file(rules.statement),
        f"{graph}/{rules.statement.stem}",
        collection=collection.name,
        document=id,
        names=list(names),
    )
    names, documents = rules.check(kind, names, rows)
    made = Decision(last + 1, graph, kind, names, id, tuple(documents), by or current_user())
    kept = save_decision(store, collection.name, made, time["milliseconds"])
    return _follow(collection, kept, later=later)


@operation(
    "/collections/{collection}/decisions/{number}/undo",
    group=GROUP,
    role="write",
    method="POST",
    title="Undo",
    positional=["number"],
    starts_job=True,
    examples=("undo-correction 1",),
)
def undo_correction(
    collection: Collection,
    number: Annotated[int, Field(ge=1, le=10**9, description="the number of the correction")],
    later: Later = False,
    by: Who = "",
) -> Corrected:
    """Undo a correction; `fabula corrections` lists them.

    The others stay in force, and are applied as if it had never been made.

    Raises:
        CorrectionRefused: It was undone before.
        NotFound: There is no such correction.
    """
    from fabula.library.current_user import current_user
    from fabula.store.decisions import undo_decision

    undone = undo_decision(collection.open_store(), collection.name, number, by or current_user())
    return _follow(collection, undone, later=later)


def _follow(collection: Collection, decision: Decision, *, later: bool) -> Corrected:
    """Return a correction with the documents that it, or its undoing, has made stale."""
    by_decision: list[str] = []
    by_more: list[str] = []
    concerned = []
    for entry in collection.open_store().documents(collection.name):
        record = entry.graphs.get(decision.graph)
        followed = record.made_from.get("decisions", ()) if record else ()
        is_followed = any(known["number"] == decision.number for known in followed)
        if is_followed or (record and entry.id in decision.documents):
            concerned.append(entry)
    for id, differences in collection.stale_of(concerned).items():
        if decision.graph in differences:
            changed = {name for names in differences.values() for name in names}
            is_by_decision = all(
                name == "decisions" or name.startswith("rests_on.") for name in changed
            )
            (by_decision if is_by_decision else by_more).append(id)
    title = _find_titles(collection, [decision]).get(decision.document, "")
    build = Build(decision.graph, tuple(by_decision), later)
    return Corrected(_describe(decision, title, {}), build, tuple(by_more))


def _find_titles(collection: Collection, decisions: Iterable[Decision]) -> Mapping[str, str]:
    """Return the titles of the documents that corrections alone are about, by their ids."""
    ids = sorted({decision.document for decision in decisions} - {""})
    return {
        entry.id: entry.title for entry in collection.open_store().find_same(collection.name, ids)
    }


def _describe(decision: Decision, title: str, effects: Mapping[str, str]) -> Correction:
    rules = find_graph(decision.graph).decisions
    words = rules.words(decision) if rules else f"{decision.kind} {', '.join(decision.names)}"
    values = {**asdict(decision), "at": datetime.fromisoformat(decision.at)}
    return Correction(**values, title=title, words=words, effects=effects)
