"""What people decide about a graph of a collection: kept for good, and read when it is built.

A decision is an operation on what the graph's method makes, such as another name for an entity. It
belongs to the collection and not to a part, so it outlives rebuilds and new versions of a document.
What kinds there are and what they do is up to the graph (`Graph.decisions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.graph import Record

EFFECTS = "decided"
"""The fact of a part that says what became of decisions: a list of lines such as "3 applied"."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decided about a graph.

    Attributes:
        number: Its number among the decisions of the collection, from 1.
        graph: The graph that it is about.
        kind: What is to be done, one of the graph's kinds.
        names: What it is to be done with, such as names of entities.
        document: The id of the only document that it is about; '' for all of the collection.
        documents: The ids of the documents that it concerned when it was made.
        by: Who made it.
        at: When, in ISO 8601.
        undone_by: Who undid it; '' if it is in force.
        undone_at: When it was undone; '' if it is in force.
    """

    number: int
    graph: str
    kind: str
    names: tuple[str, ...]
    document: str = ""
    documents: tuple[str, ...] = ()
    by: str = ""
    at: str = ""
    undone_by: str = ""
    undone_at: str = ""

    @property
    def is_in_force(self) -> bool:
        """Whether nobody has undone it."""
        return not self.undone_at

    @property
    def recipe(self) -> Mapping[str, Any]:
        """What a part that follows it is made from, as JSON holds it."""
        return {"number": self.number, "kind": self.kind, "names": list(self.names)}


@dataclass(frozen=True, slots=True)
class DecisionRules:
    """How a graph's decisions are checked before they are kept.

    Attributes:
        kinds: Each kind of decision, and what it does.
        statement: The file of the statement that finds what names stand for: its parameters are
            `collection`, `document` ('' for all) and `names`.
        words: Says in words what a decision does.
        check: Returns the names by which a decision is kept, and the ids of the documents that it
            concerns. It is given the kind, the names and the rows of the statement, and raises
            CorrectionRefused for a decision that makes no sense there, NotFound for a name that
            nothing has.
    """

    kinds: Mapping[str, str]
    statement: Path
    words: Callable[[Decision], str]
    check: Callable[
        [str, Sequence[str], Sequence[Mapping[str, Any]]], tuple[tuple[str, ...], Sequence[str]]
    ]


def applicable_decisions(
    decisions: Iterable[Decision], document: str, record: Record | None
) -> list[Decision]:
    """Return the decisions that a document's part has to follow, in the order they were made.

    A decision about a whole collection concerns the documents that it was about when it was made,
    and those whose part was written later. Parts that were there and had nothing of these names are
    not made anew for it.

    Args:
        decisions: Those about the graph.
        document: The id of the document.
        record: What its part is made from now; None if it has none, or if it is made anew anyway.
    """
    known: set[int] = set()
    written = None
    if record is not None:
        known = {decision["number"] for decision in record.made_from.get("decisions", ())}
        written = datetime.fromisoformat(record.updated_at) if record.updated_at else None

    def concerns(decision: Decision) -> bool:
        if not decision.is_in_force or decision.document not in ("", document):
            return False
        if written is None or document in decision.documents or decision.number in known:
            return True
        return written >= datetime.fromisoformat(decision.at)

    return sorted(filter(concerns, decisions), key=lambda decision: decision.number)


def effects_of(record: Record) -> dict[int, str]:
    """Return what became of decisions in a part, by their numbers."""
    lines = (line.partition(" ") for line in record.facts.get(EFFECTS, ()))
    return {int(number): effect for number, _, effect in lines}
