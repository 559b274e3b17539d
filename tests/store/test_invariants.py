"""Each invariant is broken with one statement, and the checker names it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from breaks import BREAKS, Undone, put_sound
from cases import for_each
from database import connect, wipe
from fabula.graph.installed import graphs
from fabula.server import Address
from fabula.store import Store
from fabula.store.integrity import check

pytestmark = [pytest.mark.replans, pytest.mark.statement]


@pytest.fixture(scope="module")
def sound(address: Address) -> Iterator[Store]:
    """A sound graph, which stays so: what a test does to it is rolled back."""
    with connect(address) as store:
        wipe(store)
        put_sound(store)
        yield store
        assert invariants(store) == set(), "what a test did was not rolled back"
        wipe(store)


def invariants(store: Store) -> set[str]:
    """The invariants that the checker finds broken."""
    return {one.invariant for one in check(store, graphs().values()).violations}


@for_each(
    ("invariant", "statement"),
    [(name, statement) for name, statements in BREAKS.items() for statement in statements],
)
def test_what_breaks_an_invariant_is_found(sound: Store, invariant: str, statement: str) -> None:
    # Making the graph anew for each statement took three times as long as the check itself.
    with sound.session() as session, session.begin_transaction() as transaction:
        undone = Undone(transaction, sound)
        undone.run(statement)
        found = invariants(undone)
        transaction.rollback()
    assert invariant in found
