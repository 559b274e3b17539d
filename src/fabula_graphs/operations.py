"""Operations on these graphs: what is said by whom, and facts with their proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from fabula.errors import NotFound
from fabula.graph.hits import ALL_ROWS
from fabula.graph.queries import read_statement
from fabula.graphs.entities.known_until import list_entities
from fabula.operations.kit import Column, Hidden, operation
from fabula.operations.parameters import Document, First, Limit
from fabula.text.folding import find_alike
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from fabula.library.collection import Collection

GROUP = "People"
Name = Annotated[str, Field(max_length=500, description="a person, by any of their names")]


@dataclass(frozen=True)
class Quotation:
    """What somebody says to somebody.

    Attributes:
        document: The id of the document.
        title: Its title.
        start: The first character of the quotation in the document's text.
        end: The one after its last.
        speaker: Who says it; '' if that is not known.
        addressee: To whom; '' if that is not known.
        text: The quotation.
        section: The path of the section.
        quoted_by: Who tells it, if it is a quotation within a tale.
        manner: The verb that it is said with.
        evidence: The words of the text that say who speaks.
        rule: How it is known who speaks: "tag", "turns", "vocative" and others.
        doubtful: Whether somebody else may well speak.
        confidence: How likely the speaker is the right one, 0 to 1.
        words: How many words it has.
        speaker_id: The id of the speaker's entity; None without one.
        addressee_id: That of the addressee.
        id: The id of the quotation.
    """

    document: Annotated[str, Hidden]
    title: str
    start: Annotated[int, Hidden]
    end: Annotated[int, Hidden]
    speaker: str
    addressee: Annotated[str, Column("to")]
    text: str
    section: str
    quoted_by: str
    manner: Annotated[str, Hidden]
    evidence: Annotated[str, Column("who speaks is said by")]
    rule: Annotated[str, Column("known by")]
    doubtful: bool
    confidence: Annotated[float, Hidden]
    words: Annotated[int, Hidden]
    speaker_id: Annotated[str | None, Hidden]
    addressee_id: Annotated[str | None, Hidden]
    id: Annotated[str, Hidden]


@dataclass(frozen=True)
class Quotations:
    """Quotations in the order of the texts."""

    total: int
    rows: tuple[Quotation, ...]


@operation(
    "/collections/{collection}/speech",
    group=GROUP,
    title="What is said",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    examples=(
        'speech "A Christmas Carol" --speaker Scrooge',
        'speech "A Christmas Carol" --speaker Scrooge --to Marley',
        'speech "A Christmas Carol" --speaker Scrooge --about "money business"',
        "speech --about Christmas --limit 50",
    ),
)
def speech(
    collection: Collection,
    document: Document = "",
    speaker: Name = "",
    to: Name = "",
    about: Annotated[
        str, Field(max_length=500, description="only quotations with one of these words")
    ] = "",
    doubtful: Annotated[
        bool, Field(description="with a speaker or listener: also what is doubtful")
    ] = False,
    first: First = 0,
    limit: Limit = 100,
) -> Quotations:
    """List what is said, by whom and to whom.

    `fabula build speech` builds the graph that this reads.

    Raises:
        NotFound: The graph has not been built, or there is no such document.
    """
    known = collection.filters(document)
    statement = read_statement("fabula_graphs/speech/find_said")

    def find(by: str, addressee: str) -> list[dict[str, Any]]:
        return collection.open_store().read(
            statement,
            known,
            document=known.document,
            speaker=_fold(by),
            addressee=_fold(addressee),
            about=about.lower().split(),
            doubtful=doubtful,
            limit=ALL_ROWS,
        )

    rows = find(speaker, to)
    if not rows and (speaker or to):
        # Nobody is printed so: perhaps with accents, or another ligature.
        forms = [row[end] for row in find("", "") for end in ("speaker", "addressee") if row[end]]
        by, addressee = (find_alike(name, forms) if name else "" for name in (speaker, to))
        if by is not None and addressee is not None:
            rows = find(by, addressee)
    _refuse_unbuilt(collection, known.document, "speech", rows)
    return Quotations(len(rows), _make_rows(Quotation, rows[first : first + limit]))


@dataclass(frozen=True)
class Fact:
    """A fact, and what proves it.

    Attributes:
        document: The id of the document.
        title: Its title.
        start: The first character of what states it in the document's text.
        end: The one after its last.
        text: The fact in words.
        section: The path of the section.
        subject: Of whom or what it is.
        predicate: The relation, as "parent_of".
        object: To whom or what.
        subject_type: The type of the subject.
        object_type: That of the object.
        proof: The sentence that states it; '' if none names both.
        chunks: How many chunks state it.
        subject_id: The id of the subject's entity; None without one.
        object_id: That of the object.
        id: The id of the fact.
    """

    document: Annotated[str, Hidden]
    title: str
    start: Annotated[int, Hidden]
    end: Annotated[int, Hidden]
    text: Annotated[str, Column("fact")]
    section: str
    subject: Annotated[str, Hidden]
    predicate: Annotated[str, Hidden]
    object: Annotated[str, Hidden]
    subject_type: Annotated[str, Hidden]
    object_type: Annotated[str, Hidden]
    proof: str
    chunks: int
    subject_id: Annotated[str | None, Hidden]
    object_id: Annotated[str | None, Hidden]
    id: Annotated[str, Hidden]


@dataclass(frozen=True)
class Facts:
    """Facts, those stated most first."""

    total: int
    rows: tuple[Fact, ...]


@operation(
    "/collections/{collection}/facts",
    group=GROUP,
    title="Facts",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    examples=(
        'facts "A Christmas Carol"',
        'facts "A Christmas Carol" --name "Bob Cratchit"',
        "facts --relation parent_of --limit 50",
    ),
)
def facts(
    collection: Collection,
    document: Document = "",
    name: Annotated[
        str, Field(max_length=500, description="only those of this person, place or thing")
    ] = "",
    relation: Annotated[
        str, Field(max_length=200, description="only those of this relation, as lives_in")
    ] = "",
    first: First = 0,
    limit: Limit = 100,
) -> Facts:
    """List facts, as who is related to whom, with their proof.

    Facts say who is related to whom, who lives where, who owns what, and so on. `fabula build
    facts` builds the graph that this reads, with a chat model; `fabula export --out book.ttl`
    writes all as RDF.

    Raises:
        NotFound: The graph has not been built, or there is no such document.
    """
    known = collection.filters(document)
    statement = read_statement("fabula_graphs/facts/find_facts")

    def find(called: str) -> list[dict[str, Any]]:
        return collection.open_store().read(
            statement,
            known,
            document=known.document,
            name=_fold(called),
            relation=relation,
            limit=ALL_ROWS,
        )

    rows = find(name)
    if not rows and name:
        # Nobody is printed so: perhaps with accents, or another ligature.
        cast = list_entities(collection.open_store(), known, limit=ALL_ROWS)
        forms = [form for row in cast for form in row["names"]]
        forms += [row[end] for row in find("") for end in ("subject", "object")]
        if form := find_alike(name, forms):
            rows = find(form)
    _refuse_unbuilt(collection, known.document, "facts", rows)
    return Facts(len(rows), _make_rows(Fact, rows[first : first + limit]))


def _fold(name: str) -> str:
    return " ".join(name.lower().split())


def _make_rows(kind: Callable[..., Any], rows: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    optional = ("speaker_id", "addressee_id", "subject_id", "object_id")

    def value(row: dict[str, Any], name: str) -> Any:
        return "" if row[name] is None and name not in optional else row[name]

    return tuple(kind(**{name: value(row, name) for name in names}) for row in rows)


def _refuse_unbuilt(
    collection: Collection, document: str, graph: str, rows: Sequence[object]
) -> None:
    """Raise NotFound where there is nothing as the graph has not been built."""
    if rows or collection.open_store().count_parts(collection.name, document, [graph]):
        return
    where = f"Collection {quote_name(collection.name)}"
    if document:
        where = quote_name(collection.document(document).title)
    raise NotFound(
        f"{where} has no graph {graph!r}.", advice=f"Run `fabula build {graph}` to build it."
    )
