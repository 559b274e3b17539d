"""Check a collection for errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import Field

from fabula.errors import BadValue
from fabula.operations.kit import Hidden, Mark, operation
from fabula.operations.parameters import Document
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.library import App
    from fabula.library.collection import Collection


@dataclass(frozen=True)
class FoundError:
    """What is wrong with a document, or with a collection as a whole.

    Attributes:
        collection: The name of the collection.
        kind: Which kind of damage it is: indexes, vectors or content.
        graph: The graph whose nodes are wrong; '' for the text, its passages and edges.
        document: The id of the document; '' for the collection.
        title: Its title; '' likewise.
        what: What is wrong.
        count: How many nodes are wrong.
        id: The id of one of them.
        cure: What to do.
        invariant: The name of the statement in `cypher/` that found it.
    """

    collection: str
    kind: str
    graph: Annotated[str, Hidden]
    document: Annotated[str, Hidden]
    title: str
    what: str
    count: int
    id: str
    cure: str
    invariant: Annotated[str, Hidden]


@dataclass(frozen=True)
class Checked:
    """The result of a check.

    Attributes:
        documents: How many documents were checked.
        passages: How many passages they have.
        graphs: How many of the documents have each graph, beside the text.
        counts: How much is damaged of each kind: indexes that can't be used, vectors that no search
            finds, content that is wrong, gaps, and stale parts, which other settings or a change
            below would make otherwise. `fabula renew` renews it.
        notes: Sentences about what is right and worth knowing.
        total: How many errors there are.
        rows: The errors.
    """

    documents: int
    passages: int
    graphs: Mapping[str, int]
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    total: int
    rows: tuple[FoundError, ...]

    @property
    def has_failed(self) -> bool:
        """Whether something is wrong."""
        return bool(self.rows)

    def to_text(self) -> str:
        """Return a line for each error with its cure, what was checked, and the notes."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for row in self.rows:
            where = row.title or row.document or row.collection
            nodes = "" if row.count == 1 else f"{row.count:,}, as "
            yield f"BAD  {where}: {row.what} ({nodes}{row.id}): {row.cure}"
        checked = [count_noun(self.documents, "document"), count_noun(self.passages, "passage")]
        for name, count in self.graphs.items():
            checked.append(f"{name} of {count_noun(count, 'document')}")
        yield f"{'Checked' if self.rows else 'No errors'}: {', '.join(checked)}"
        if damaged := [f"{kind} {count:,}" for kind, count in self.counts.items() if count]:
            yield f"Damaged: {', '.join(damaged)}; `fabula renew` renews it"
        yield from (f"Note: {note}" for note in self.notes)


@operation(
    "/collections/{collection}/check",
    group="Documents",
    positional=["document"],
    is_large=True,
    has_screen=False,
    examples=("check", 'check "A Christmas Carol" --json'),
)
def check(
    collection: Collection,
    document: Document = "",
    all: Annotated[bool, Field(description="all collections"), Mark.AT_THIS_MACHINE] = False,
) -> Checked:
    """Check a collection, or a document of it, for errors. Nothing is changed.

    What is damaged is counted by kind, and `renew` renews it. Chunks must be in order and
    linked, summaries must cover what is below them, no aspect may be missing, embeddings must
    have one dimension, and indexes must be online. Each error has its cure, and the exit code
    of the command is then 1. Remains of interrupted runs, which no reader sees, are notes.

    Raises:
        NotFound: There is no such document.
    """
    if all and document:
        raise BadValue("Name a document or give --all, not both.")
    checked = [collection]
    if all:
        app = cast("App", collection.app)
        checked = [app.collection(name) for name in app.collections()]
    found = {each.name: each.check(document) for each in checked}
    rows = [
        FoundError(name, **asdict(error))
        for name, findings in found.items()
        for error in findings.violations
    ]
    built: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for findings in found.values():
        built.update(findings.graphs)
        counts.update(findings.counts)
    return Checked(
        sum(findings.documents for findings in found.values()),
        sum(findings.passages for findings in found.values()),
        dict(built),
        dict(counts),
        tuple(note for findings in found.values() for note in findings.notes),
        len(rows),
        tuple(rows),
    )
