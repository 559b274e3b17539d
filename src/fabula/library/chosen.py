"""The documents that a question is asked of: those that are named, that fulfil its condition on
metadata, and that are not switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabula.errors import BadValue, NotFound, did_you_mean
from fabula.text.metadata import BUILT_IN, PREFIX

if TYPE_CHECKING:
    from fabula.graph.hits import ConditionStep
    from fabula.store import Store

MAX_FIELDS_NAMED = 20
"""Fields that a message names."""


def choose_documents(
    store: Store, collection: str, where: str, named: Sequence[str] = ()
) -> list[str]:
    """Return the ids of the documents of a collection that may be asked and fulfil a condition.

    Args:
        store: The graph.
        collection: The collection.
        where: The condition; '' for all that are not switched off.
        named: The ids of the only documents that count; none for all.

    Raises:
        BadValue: The condition can't be read, or no document has a field of it.
        NotFound: No document fulfils it.
    """
    steps: tuple[ConditionStep, ...] = ()
    if where.strip():
        # A question without a condition need not import the parser.
        from fabula.ask.where import read_condition

        steps = read_condition(where)
    ids, present = store.find_chosen(collection, steps)
    for step in steps:
        if step.properties and present.isdisjoint(step.properties):
            _refuse_field(store, collection, step.properties[0])
    chosen = [id for id in ids if not named or id in named]
    if not chosen and where:
        raise NotFound(f"No document of collection {collection!r} that is asked fulfils: {where}")
    if not chosen:
        raise NotFound(
            f"All documents of collection {collection!r} are switched off for questions.",
            advice="`fabula edit DOCUMENT --questions on` switches one on.",
        )
    return chosen


def _refuse_field(store: Store, collection: str, property: str) -> None:
    name = property.removeprefix(PREFIX)
    fields = [row["name"].removeprefix(PREFIX) for row in store.find_fields(collection)]
    names = [*fields, *BUILT_IN, "year"]
    listed = ", ".join(names[:MAX_FIELDS_NAMED])
    hint = did_you_mean(name, names, f"There are: {listed}.")
    raise BadValue(f"No document of collection {collection!r} has a field {name!r}. {hint}")
