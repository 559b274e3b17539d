"""Check and keep what people decide about a graph, and find the documents that it makes stale."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fabula.errors import SettingsError, did_you_mean
from fabula.graph.decisions import Decision, effects_of
from fabula.graph.entries import Entry
from fabula.graph.method import Graph
from fabula.graph.queries import read_statement_file
from fabula.store import Store
from fabula.store.decisions import read_decisions, save_decision
from fabula.store.parts import refuse_long_line

UNKNOWN_USER = "unknown"


def current_user() -> str:
    """Return the name of the user who runs this process, by which decisions are signed."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return UNKNOWN_USER


def decide(
    store: Store,
    collection: str,
    graph: Graph[Any],
    kind: str,
    names: Sequence[str],
    document: str,
    by: str,
) -> Decision:
    """Keep a decision once it was checked against the graph; `Collection.decide` describes it."""
    rules = graph.decisions
    if rules is None:
        raise SettingsError(f"There is nothing to decide about the graph {graph.name!r}.")
    if kind not in rules.kinds:
        hint = did_you_mean(kind, rules.kinds, f"There are: {', '.join(rules.kinds)}.")
        raise SettingsError(f"There is no decision {kind!r} about the graph {graph.name!r}. {hint}")
    names = tuple(" ".join(name.split()) for name in names)
    for name in names:
        refuse_long_line(name)
    # The clock is read first: a part that is written from now on has to follow the decision.
    [time] = store.rows("core/find_time")
    last = max((decision.number for decision in read_decisions(store, collection)), default=0)
    rows = store.run(
        read_statement_file(rules.statement),
        f"{graph.name}/{rules.statement.stem}",
        collection=collection,
        document=document,
        names=list(names),
    )
    names, documents = rules.check(kind, names, rows)
    decision = Decision(
        number=last + 1,
        graph=graph.name,
        kind=kind,
        names=names,
        document=document,
        documents=tuple(documents),
        by=by or current_user(),
    )
    return save_decision(store, collection, decision, time["milliseconds"])


def find_outdated(
    store: Store,
    collection: str,
    decision: Decision,
    find_differences: Callable[[Entry], Mapping[str, Sequence[str]]],
) -> tuple[list[Entry], list[Entry]]:
    """Return the documents that a decision made stale; `Collection.outdated` describes them.

    `find_differences` returns what has changed since each graph of a document was built.
    """
    by_decision: list[Entry] = []
    by_more: list[Entry] = []
    for entry in _find_concerned(store, collection, decision):
        differences = find_differences(entry)
        if decision.graph not in differences:
            continue
        is_by_decision = all(_follows_from_decisions(names) for names in differences.values())
        (by_decision if is_by_decision else by_more).append(entry)
    return by_decision, by_more


def find_effects(store: Store, collection: str) -> dict[int, dict[str, str]]:
    """Return what became of each decision: by its number, by the title of each document."""
    effects: dict[int, dict[str, str]] = {}
    for entry in store.documents(collection):
        for record in entry.graphs.values():
            for number, effect in effects_of(record).items():
                effects.setdefault(number, {})[entry.title] = effect
    return effects


def _find_concerned(store: Store, collection: str, decision: Decision) -> Iterable[Entry]:
    """The documents that a decision was about when it was made, and those that follow it."""
    for entry in store.documents(collection):
        record = entry.graphs.get(decision.graph)
        if record is None:
            continue
        followed = {known["number"] for known in record.made_from.get("decisions", ())}
        if entry.id in decision.documents or decision.number in followed:
            yield entry


def _follows_from_decisions(names: Sequence[str]) -> bool:
    return all(name == "decisions" or name.startswith("rests_on.") for name in names)
