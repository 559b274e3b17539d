"""Decisions of people about graphs: keep and undo them, and start the jobs that follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from fabula.app.collection import Collection
from fabula.graph.decisions import Decision
from fabula.graph.installed import graph
from fabula.jobs.start import begin_build
from fabula.service.core.views import View

if TYPE_CHECKING:
    from fabula.jobs.audit import Audit
    from fabula.jobs.callers import Caller
    from fabula.jobs.job import Job
    from fabula.jobs.queue import Jobs


class DecisionView(View):
    """What somebody decided about a graph.

    `words` say what it does. `document` is the only document that it is about, '' for the whole
    collection, and `documents` are those that it concerned when it was made. `undone_at` is '' as
    long as it is in force. `effects` say what became of it, by the titles of documents.
    """

    number: int
    graph: str
    kind: str
    names: list[str]
    words: str
    document: str
    documents: list[str]
    by: str
    at: str
    undone_by: str
    undone_at: str
    effects: dict[str, str]

    @classmethod
    def of(cls, decision: Decision, effects: Mapping[str, str]) -> Self:
        """Return the view of a decision."""
        names = ("number", "graph", "kind", "document", "by", "at", "undone_by", "undone_at")
        return cls(
            **{name: getattr(decision, name) for name in names},
            names=list(decision.names),
            documents=list(decision.documents),
            words=describe(decision),
            effects=dict(effects),
        )


class DecidedView(View):
    """A decision that was kept or undone.

    `job` is the id of the job that builds the graph again where it became stale, or '' if nothing
    did. `other_settings` are the ids of documents that were built with other settings: a model
    might have to read them again, so no job was started for them.
    """

    decision: DecisionView
    job: str
    other_settings: list[str]


def describe(decision: Decision) -> str:
    """Return a decision in words."""
    rules = graph(decision.graph).decisions
    return rules.words(decision) if rules else f"{decision.kind} {', '.join(decision.names)}"


def list_decisions(collection: Collection) -> list[DecisionView]:
    """Return all decisions of a collection, undone ones included, by their numbers."""
    effects = collection.effects()
    return [
        DecisionView.of(decision, effects.get(decision.number, {}))
        for decision in collection.decisions()
    ]


def decide(
    jobs: Jobs,
    audit: Audit,
    caller: Caller,
    collection: Collection,
    name: str,
    kind: str,
    names: Sequence[str],
    document: str,
) -> DecidedView:
    """Keep a decision, and start the job that follows it; see `Collection.decide`."""
    decision = collection.decide(name, kind, *names, document=document, by=caller.name)
    audit.record(
        caller, "decide", f"{collection.name}/{decision.number}", decision=describe(decision)
    )
    return _follow(jobs, caller, collection, decision)


def undo(
    jobs: Jobs, audit: Audit, caller: Caller, collection: Collection, number: int
) -> DecidedView:
    """Undo a decision, and start the job that follows that."""
    decision = collection.undo(number, by=caller.name)
    audit.record(
        caller, "undo decision", f"{collection.name}/{decision.number}", decision=describe(decision)
    )
    return _follow(jobs, caller, collection, decision)


def _follow(jobs: Jobs, caller: Caller, collection: Collection, decision: Decision) -> DecidedView:
    by_decision, by_more = collection.find_outdated(decision)
    job: Job | None = None
    if by_decision:
        ids = [entry.id for entry in by_decision]
        job = begin_build(jobs, caller, collection, decision.graph, ids, rebuild=False)
    return DecidedView(
        decision=DecisionView.of(decision, {}),
        job=job.id if job else "",
        other_settings=[entry.id for entry in by_more],
    )
