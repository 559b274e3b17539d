"""The queue of jobs of all collections: adding, listing, taking, cancelling and retrying them."""

from __future__ import annotations

import json
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Condition
from typing import Any

from fabula.config.embedding_space import for_building, name_space
from fabula.config.serving import TABLE
from fabula.errors import Conflict, Forbidden, NotFound, SettingsError
from fabula.jobs.audit import Audit
from fabula.jobs.callers import Caller
from fabula.jobs.idempotency import Idempotency
from fabula.jobs.job import (
    OF_FILES,
    OPEN,
    STATES,
    WHOLE,
    Item,
    Job,
    JobState,
    Kind,
    StoredJob,
    item_row,
    job_version,
    read_job,
)
from fabula.jobs.recipes import ANY_SERVER, Recipes
from fabula.jobs.work import Work
from fabula.library import App
from fabula.store.embedding_space import refuse_other_model, refuse_reembedding
from fabula.text.names import collection_problem, quote_name
from fabula.text.nouns import count_noun

IDEMPOTENCY_MILLISECONDS = 24 * 3_600_000
"""How long an Idempotency-Key is remembered."""
QUEUE_BATCH = 50
"""How many jobs one statement enters into the queue, or removes from it."""
MAX_OWN_JOBS = 1_000
"""How many of the jobs that it added a process remembers: one that takes no others runs these."""
WHAT_JOBS_DO: Mapping[str, str] = {
    "ingest": "adds documents to the collection",
    "annotate": "imports annotations of a document",
    "build": "builds a graph of the collection",
    "renew": "renews what is damaged in the collection",
    "reembed": "recomputes the embeddings of the collection",
    "remove": "removes the collection's documents",
}
"""What a job does that others wait for."""
UNTOLD = "A key with the role write is told why."
"""What others read in place of a reason, which may name servers and settings."""
WATCH_POLL_SECONDS = 0.5
"""How often a watched job is read, as another process may be running it."""


class Jobs:
    """The jobs of all collections. Safe to share between threads.

    Args:
        app: The library.
        recipes: How this process does jobs; None if it does none.
        audit: Records each change.
    """

    def __init__(self, app: App, recipes: Recipes | None, audit: Audit) -> None:
        self._app, self._audit, self._recipes = app, audit, recipes
        self.changed = Condition()
        """Notified of each change that this process makes."""
        self.own_ids: deque[str] = deque(maxlen=MAX_OWN_JOBS)
        """The ids of the jobs that this process added last."""
        self.pause_reason = ""
        """Why this process takes no job now, in a sentence; '' if it does."""

    @property
    def recipes(self) -> Recipes:
        """How this process does jobs."""
        assert self._recipes, "this process does no jobs"
        return self._recipes

    def begin(self, caller: Caller, work: Work, idempotency: Idempotency | None = None) -> Job:
        """Add the job that does some work, as `add` does. Raises SettingsError if no run could."""
        work.refuse()
        name, items = work.collection.name, work.items()
        return self.add(caller, name, work.kind, items, work.options, idempotency)

    def add(
        self,
        caller: Caller,
        collection: str,
        kind: Kind,
        items: Sequence[Item],
        options: Mapping[str, Any],
        idempotency: Idempotency | None = None,
    ) -> Job:
        """Add a job, and return it once it is committed.

        Args:
            caller: Who asks for the job, and pays for it.
            collection: The name of its collection.
            kind: What is to be done.
            items: What it is to be done with.
            options: The options of that kind of job.
            idempotency: The Idempotency-Key of the request. The same request again returns the job
                that it added.

        Raises:
            Conflict: The key came with another request before.
            SettingsError: A new collection can't have that name.
            SpaceError: The collection has embeddings of another model, or is being re-embedded.
        """
        if kind == "ingest":
            self._refuse_ingest(collection)
        if kind in WHOLE and not items:
            items = [Item(collection)]
        id = uuid.uuid4().hex
        properties = {
            "id": id,
            "recipe": self._save_recipe(*self.recipes.of(kind, options)),
            "kind": kind,
            "collection": collection,
            "created_by": caller.id,
            "caller": _caller_row(caller),
            "options": json.dumps(dict(options)),
            "said": idempotency.body if idempotency else "",
            "key": idempotency.mark if idempotency else None,
            "money": 0.0,
            "usage": "{}",
            "problem": "",
        }
        rows = self._app.connect().rows(
            "jobs/save_job",
            job=properties,
            items=[item_row(id, index, item) for index, item in enumerate(items)],
            key=idempotency.mark if idempotency else "",
            milliseconds=IDEMPOTENCY_MILLISECONDS,
        )
        if rows[0]["id"] is None:
            self.own_ids.append(id)
            self.notify()
            self._audit.record(caller, f"begin {kind}", collection, job=id)
        elif idempotency:
            idempotency.refuse_other_body(rows[0]["said"])
            id = rows[0]["id"]
        return self.find(caller, id)

    def find(self, caller: Caller, id: str) -> StoredJob:
        """Return a job. Raises NotFound if the caller may not see its collection, too."""
        job = self.read(id)
        if job is None or not caller.may_see(job.collection):
            raise NotFound(f"There is no job {quote_name(id)}.")
        return _show_to(caller, job)

    def read(self, id: str) -> StoredJob | None:
        """Return a job, or None if there is none, whoever asks."""
        rows = self._app.connect().rows("jobs/read_job", id=id)
        return self.read_job(rows[0]) if rows else None

    def list(
        self, caller: Caller, state: str = "", limit: int = 50, after: str = ""
    ) -> Sequence[StoredJob]:
        """Return the jobs that a caller may see, newest first, without their items.

        Args:
            caller: Who asks.
            state: Only jobs in that state; '' for all.
            limit: How many at most.
            after: The `place` of the last job of the previous page; '' for the first page.
        """
        rows = self._app.connect().rows(
            "jobs/read_jobs",
            everything=caller.collections is None,
            collections=sorted(caller.collections or ()),
            state=state,
            after=after,
            limit=limit,
        )
        return [_show_to(caller, self.read_job(row)) for row in rows]

    def is_any_waiting(self, *, takes_others: bool = True) -> tuple[bool, Sequence[str | None]]:
        """Return whether there may be a job to take, and who works on jobs now.

        Args:
            takes_others: Whether jobs that other processes have added may be taken, too.
        """
        [row] = self._app.connect().rows("jobs/find_waiting", **self._takes(takes_others))
        return bool(row["due"]), row["workers"]

    def take(
        self, worker: str, dead: Sequence[str], milliseconds: int, *, takes_others: bool = True
    ) -> str | None:
        """Give a worker the job that has waited longest; return its id, or None if there is none.

        Only a job is taken that waits for no other job, and that this process would do as it was
        asked for (`recipes`). Which jobs a new one waits for is found here, in small steps, and not
        when it is added: so adding a job waits for nothing, and taking one does not read the whole
        queue.

        Args:
            worker: The name of the worker that takes it.
            dead: Workers that are known to have ended; their jobs may be taken.
            milliseconds: The lease: how long the job is the worker's without a renewal.
            takes_others: Whether jobs that other processes have added may be taken, too.
        """
        store = self._app.connect()
        lease = {"worker": worker, "dead": list(dead), "milliseconds": milliseconds}
        while True:
            ended = self._move("over", "jobs/clear_ended")
            new = self._move("new", "jobs/save_waits")
            taken = store.rows("jobs/take_job", **lease, **self._takes(takes_others))
            if taken:
                return str(taken[0]["id"])
            if not (ended or new):
                return None

    def count(self) -> dict[str, float]:
        """Return how many jobs of all collections are in each state."""
        rows = self._app.connect().rows("jobs/count_jobs")
        return dict.fromkeys(STATES, 0.0) | {row["state"]: float(row["jobs"]) for row in rows}

    def cancel(self, caller: Caller, id: str) -> Job:
        """Cancel a job. One that runs ends as soon as its model calls under way have ended."""
        waiting = _Transition(
            ("queued", "waiting", "paused"), {"state": "cancelled", "problem": ""}, "cancelled"
        )
        running = _Transition(("running",), {"cancelling": True})
        return self._change(caller, id, "cancel", waiting, running)

    def retry(self, caller: Caller, id: str) -> Job:
        """Queue a job that failed or was cancelled again, for the items that are not done."""
        return self._requeue(caller, id, "retry", "failed", "cancelled")

    def resume(self, caller: Caller, id: str) -> Job:
        """Queue a job again that was paused: a budget was spent, or the graph was restored."""
        return self._requeue(caller, id, "resume", "paused")

    def pause_all(self, problem: str) -> int:
        """Pause all jobs that have not ended, for a reason in a sentence; return how many."""
        [row] = self._app.connect().rows("jobs/save_paused", problem=problem)
        self.notify()
        return int(row["jobs"])

    def resume_unchanged(self, caller: Caller, id: str) -> Job:
        """Resume a job with the settings that it was added with, and for whoever paid for it."""
        return self._change(caller, id, "resume", _Transition(("paused",), _REQUEUED, "queued"))

    def changes(
        self,
        caller: Caller,
        id: str,
        after_version: int,
        timeout: float,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Job | None:
        """Wait until a job has another version than this, and return it.

        Args:
            caller: Who waits, and may see the job.
            id: The job.
            after_version: The version that the caller has seen.
            timeout: How many seconds to wait.
            is_gone: Returns whether the caller has stopped waiting.

        Returns:
            The job; None if it does not change in time, or no longer exists.
        """
        deadline = time.monotonic() + timeout
        while True:
            rows = self._app.connect().rows("jobs/read_job_version", id=id)
            if not rows or job_version(**rows[0]) != after_version:
                job = self.read(id)
                return job and _show_to(caller, job)
            left = deadline - time.monotonic()
            if left <= 0 or is_gone():
                return None
            with self.changed:
                self.changed.wait(min(left, WATCH_POLL_SECONDS))

    def notify(self) -> None:
        """Wake the threads that wait for a change."""
        with self.changed:
            self.changed.notify_all()

    def _requeue(self, caller: Caller, id: str, what: str, *states: JobState) -> Job:
        """Queue a job again. It belongs to this caller from then on, who also pays for it."""
        job = self.find(caller, id)
        if job.kind == "remove" and not caller.may("admin"):
            raise Forbidden(
                f"This needs a key with the role admin; this key has the role {caller.role}."
            )
        # The job is done by the settings of this process, as it is asked for here now.
        left = [
            item for item in job.items if item.state not in ("succeeded", "unchanged", "skipped")
        ]
        recipe = self.recipes.of(job.kind, job.options, left, job.made_with)
        changes = {
            "created_by": caller.id,
            "caller": _caller_row(caller),
            "recipe": self._save_recipe(*recipe),
        }
        return self._change(
            caller, id, what, _Transition(states, {**_REQUEUED, **changes}, "queued")
        )

    def _change(self, caller: Caller, id: str, what: str, *transitions: _Transition) -> Job:
        """Set the state of a job. Raises Conflict if its present state does not allow that."""
        self.find(caller, id)
        for transition in transitions:
            rows = self._app.connect().rows("jobs/save_state", id=id, **transition.parameters())
            if rows:
                self.notify()
                job = self.find(caller, id)
                self._audit.record(caller, f"{what} job", job.collection, job=id)
                return job
        job = self.find(caller, id)
        states = " or ".join(state for transition in transitions for state in transition.states)
        done = {"cancel": "cancelled", "retry": "retried", "resume": "resumed"}[what]
        raise Conflict(
            f"The job is {job.state}: only one that is {states} can be {done}.", state=job.state
        )

    def _move(self, queue: str, statement: str) -> int:
        """Run a statement on the jobs at one stage of the queue; return how many there were."""
        store = self._app.connect()
        rows = store.rows("jobs/find_queued", queue=queue, limit=QUEUE_BATCH)
        if rows:
            store.rows(statement, ids=[row["id"] for row in rows])
        return len(rows)

    def _save_recipe(self, digest: str, made_with: str) -> str:
        """Save what a job is made with, and return its digest."""
        if digest != ANY_SERVER:
            self._app.connect().rows("jobs/save_recipe", id=digest, made_with=made_with)
        return digest

    def _takes(self, takes_others: bool) -> dict[str, Sequence[str]]:
        """Return the parameters of the statements that say which jobs are taken here."""
        if takes_others:
            return {"recipes": self.recipes.digests, "ids": []}
        return {"recipes": [], "ids": list(self.own_ids)}

    def read_job(self, row: Mapping[str, Any]) -> StoredJob:
        """Return the job of a row; the problem of one that waits says what it waits for."""
        job, recipe = read_job(row), row["job"]["recipe"]
        if job.state not in ("queued", "waiting"):
            return job
        waits = [
            job.problem or _explain_before(job, row["waits_for"], row["waits"]),
            self._recipes.explain(recipe, row["made_with"], job.kind) if self._recipes else "",
        ]
        return replace(job, problem=" ".join(filter(None, waits)) or self._explain_worker())

    def _explain_worker(self) -> str:
        """Return why a job that nothing else holds up has no worker."""
        if self.pause_reason:
            return f"{self.pause_reason} No job is taken meanwhile."
        at_once = self._app.settings.table(TABLE).jobs_at_once
        return (
            f"It waits for a free worker: a service runs {count_noun(at_once, 'job')} at a time "
            "(serve.jobs_at_once)."
        )

    def _refuse_ingest(self, name: str) -> None:
        """Refuse an ingest that no run could do, before anything is saved."""
        collection = self._app.collection(name)
        space = collection.space()
        if space is None and (reason := collection_problem(name)):
            raise SettingsError(
                f"The name of a collection {reason}: {quote_name(name)} can't be one."
            )
        if space and (space.has_documents or space.phase):
            refuse_reembedding(space)
            settings = for_building(collection.models.settings, space.model)
            refuse_other_model(space, name_space(settings))


@dataclass(frozen=True, slots=True)
class _Transition:
    """A change of a job's state."""

    states: tuple[JobState, ...]
    """The states from which it is allowed."""
    properties: Mapping[str, Any]
    """The properties of the job that it sets."""
    items: str = ""
    """The new state of the items that are not done; '' if they keep theirs."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statement."""
        again = ("failed", "cancelled") if self.items == "queued" else ()
        return {
            "from": list(self.states),
            "job": dict(self.properties),
            "items": [*OPEN, *again] if self.items else [],
            "to": self.items,
        }


_REQUEUED = {
    "state": "queued",
    "problem": "",
    "cancelling": False,
    "attempts": 0,
    "not_before": 0,
    "eta": None,
}


def _show_to(caller: Caller, job: StoredJob) -> StoredJob:
    """Return a job with the reasons that a caller may read."""
    if caller.may("write"):
        return job
    items = tuple(replace(item, error=item.error and UNTOLD) for item in job.items)
    return replace(job, problem=job.problem and UNTOLD, items=items)


def _explain_before(job: Job, before: Mapping[str, str] | None, number: int) -> str:
    """Return which job before it a job waits for; '' if it waits for none."""
    if before is None:
        return ""
    is_same = before["kind"] == "ingest" and job.kind in OF_FILES
    what = "adds the same document" if is_same else WHAT_JOBS_DO[before["kind"]]
    if before["state"] == "cancelled":
        what = "was cancelled and keeps its place until the jobs before it have ended"
    more = f" It waits for {number - 1:,} more." if number > 1 else ""
    return f"It waits for job {before['id']}: that one {what}.{more}"


def _caller_row(caller: Caller) -> str:
    """Return a caller as a job has it: with the quotas that the job is held to."""
    return json.dumps({"id": caller.id, "name": caller.name, **asdict(caller.quotas)})
