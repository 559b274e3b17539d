"""Read and write what people decide about the graphs of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.errors import BadValue, Changed, CorrectionRefused, NotFound
from fabula.graph.decisions import Decision
from fabula.graph.queries import read_statement
from fabula.store.parts import lock_collection, refuse_long_line

if TYPE_CHECKING:
    import neo4j

    from fabula.store import Store

MAX_NAMES = 50
"""Names of one decision."""


def read_decisions(store: Store, collection: str) -> list[Decision]:
    """Return all decisions of a collection, undone ones included, by their numbers."""
    return [
        Decision(
            **{
                **row["decision"],
                "names": tuple(row["decision"]["names"]),
                "documents": tuple(row["decision"]["documents"]),
            }
        )
        for row in store.rows("core/find_decisions", collection=collection)
    ]


def read_decision(store: Store, collection: str, number: int) -> Decision:
    """Return the decision of this number. Raises NotFound if there is none."""
    for decision in read_decisions(store, collection):
        if decision.number == number:
            return decision
    raise NotFound(f"There is no correction {number} in collection {collection!r}.")


def save_decision(store: Store, collection: str, decision: Decision, began: int) -> Decision:
    """Keep a decision, and return it as it is kept.

    The write is optimistic: the decision's number says which decisions its author had seen.

    Args:
        store: The graph.
        collection: The collection.
        decision: The decision; `at` is not used.
        began: When it was checked against the graph, in milliseconds of the server's clock. A part
            that was written later has to follow it, whatever was in it when it was checked.

    Raises:
        Changed: Somebody else has decided something since then, or the document is gone.
        BadValue: A name is too long, or there are too many.
    """
    if len(decision.names) > MAX_NAMES:
        raise BadValue(f"A decision is about {MAX_NAMES} names at most.")
    for line in (*decision.names, decision.by):
        refuse_long_line(line)
    store.make_schema()
    fields = {
        "collection": collection,
        "number": decision.number,
        "graph": decision.graph,
        "kind": decision.kind,
        "names": list(decision.names),
        "document": decision.document,
        "documents": list(decision.documents),
        "by": decision.by,
        "began": began,
    }

    def save(transaction: neo4j.ManagedTransaction) -> int:
        lock_collection(transaction, collection)
        rows = transaction.run(read_statement("core/save_decision"), fields).data()
        return sum(row["decisions"] for row in rows)

    with store.session() as session:
        saved = session.execute_write(save)
    if not saved:
        raise Changed(
            "Somebody else has corrected this collection meanwhile, or the document was removed: "
            "look at what was decided, and try again."
        )
    return read_decision(store, collection, decision.number)


def undo_decision(store: Store, collection: str, number: int, by: str) -> Decision:
    """Undo a decision, and return it as it is kept.

    Raises:
        NotFound: There is no decision of this number.
        CorrectionRefused: It was undone before.
    """
    refuse_long_line(by)
    decision = read_decision(store, collection, number)
    fields = {"collection": collection, "number": number, "by": by}

    def save(transaction: neo4j.ManagedTransaction) -> int:
        lock_collection(transaction, collection)
        rows = transaction.run(read_statement("core/save_undone"), fields).data()
        return sum(row["decisions"] for row in rows)

    with store.session() as session:
        saved = session.execute_write(save)
    if not saved:
        who = decision.undone_by or "somebody else"
        raise CorrectionRefused(f"Correction {number} was undone before, by {who}.")
    return read_decision(store, collection, number)
