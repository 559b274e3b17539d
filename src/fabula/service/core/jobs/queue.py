"""The jobs of all collections: begun, watched, ended."""

from __future__ import annotations

import json
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Condition
from typing import TYPE_CHECKING, Any

from fabula.errors import NotFound, SettingsError
from fabula.service.core.errors import Conflict, Forbidden
from fabula.service.core.jobs.recipes import ANY, Recipes
from fabula.store.space import refuse_other_model, refuse_reembedding
from fabula.text.names import collection_problem, quoted

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.service.core.audit import Audit
    from fabula.service.core.callers import Caller
    from fabula.service.core.idempotency import Idempotency
from fabula.service.core.jobs.job import (
    OPEN,
    STATES,
    WHOLE,
    Item,
    Job,
    Kind,
    State,
    item_row,
    job_version,
    read_job,
)

DAY = 24 * 3_600_000
"""Milliseconds that an Idempotency-Key holds."""


QUEUE_BATCH = 50
"""Jobs that one statement puts into their places in the queue, or lets go out of it."""


MAX_BEGUN = 1_000
"""Jobs that a process remembers as its own: one that does no others' does the last of them."""


LOOK = 0.5
"""Seconds between two looks at a job that another process may be at work on."""


class Jobs:
    """The jobs of all collections: to begin, to watch, to end. Safe to share between threads."""

    def __init__(self, app: App, recipes: Recipes, audit: Audit) -> None:
        self._app, self._audit = app, audit
        self.recipes = recipes
        self.changed = Condition()
        """Told of each change that this process makes."""
        self.begun: deque[str] = deque(maxlen=MAX_BEGUN)
        """The ids of the last jobs that were begun in this process."""

    def add(
        self,
        caller: Caller,
        collection: str,
        kind: Kind,
        items: Sequence[Item],
        options: Mapping[str, Any],
        once: Idempotency | None = None,
    ) -> Job:
        """A job, which is committed when this returns.

        The same again under one Idempotency-Key, `once`, is the same job, and another a Conflict.
        Raises SettingsError for a new collection that can't be called so, and SpaceError for one
        that has embeddings of another model, or is given others just now.
        """
        if kind == "ingest":
            self._refuse(collection)
        if kind in WHOLE and not items:
            items = [Item(collection)]
        id = uuid.uuid4().hex
        own = {
            "id": id,
            "recipe": self._keep_recipe(*self.recipes.of(kind, options)),
            "kind": kind,
            "collection": collection,
            "created_by": caller.id,
            "caller": _who(caller),
            "options": json.dumps(dict(options)),
            "said": once.body if once else "",
            "key": once.mark if once else None,
            "money": 0.0,
            "usage": "{}",
            "problem": "",
        }
        rows = self._app.store.rows(
            "service/save_job",
            job=own,
            items=[item_row(id, index, one) for index, one in enumerate(items)],
            key=once.mark if once else "",
            milliseconds=DAY,
        )
        if rows[0]["id"] is None:
            self.begun.append(id)
            self.tell()
            self._audit.note(caller, f"begin {kind}", collection, job=id)
        elif once:
            once.refuse_other_body(rows[0]["said"])
            id = rows[0]["id"]
        return self.find(caller, id)

    def find(self, caller: Caller, id: str) -> Job:
        """A job. Raises NotFound for one that is not there, or in a collection not to be seen."""
        job = self.read(id)
        if job is None or not caller.may_see(job.collection):
            raise NotFound(f"There is no job {quoted(id)}.")
        return job

    def read(self, id: str) -> Job | None:
        """A job, whoever asks."""
        rows = self._app.store.rows("service/find_job", id=id)
        return self.read_job(rows[0]) if rows else None

    def list(
        self, caller: Caller, state: str = "", limit: int = 50, after: str = ""
    ) -> Sequence[Job]:
        """The jobs that a caller may see, newest first, after that `place`; without their items."""
        rows = self._app.store.rows(
            "service/find_jobs",
            everything=caller.collections is None,
            collections=sorted(caller.collections or ()),
            state=state,
            after=after,
            limit=limit,
        )
        return [self.read_job(row) for row in rows]

    def is_any_waiting(self, *, others: bool = True) -> tuple[bool, Sequence[str | None]]:
        """Return whether there may be a job to take, and who works on jobs now.

        Args:
            others: Whether jobs that other processes have begun may be taken, too.

        """
        [row] = self._app.store.rows("service/find_waiting", **self._takes(others))
        return bool(row["due"]), row["workers"]

    def take(
        self, worker: str, dead: Sequence[str], milliseconds: int, *, others: bool = True
    ) -> str | None:
        """Give a worker the job that has waited longest; return its id, or None if there is none.

        A job is taken that waits for no other, and that this process does as it was asked for.
        What each job waits for is found here, in small steps, so that whoever begins one waits for
        nobody, and a take does not look at all that waits.

        Args:
            worker: Who takes it.
            dead: Workers that are known to have ended; their jobs may be taken.
            milliseconds: How long it is the worker's without another word.
            others: Whether jobs that other processes have begun may be taken, too.

        """
        store = self._app.store
        asked = {"worker": worker, "dead": list(dead), "milliseconds": milliseconds}
        while True:
            ended = self._move("over", "service/clear_ended")
            new = self._move("new", "service/save_waits")
            taken = store.rows("service/take_job", **asked, **self._takes(others))
            if taken:
                return str(taken[0]["id"])
            if not (ended or new):
                return None

    def count(self) -> dict[str, float]:
        """How many jobs of all collections are in each state."""
        rows = self._app.store.rows("service/count_jobs")
        return dict.fromkeys(STATES, 0.0) | {row["state"]: float(row["jobs"]) for row in rows}

    def cancel(self, caller: Caller, id: str) -> Job:
        """Ends a job before its time: one that is worked on, within a model's call."""
        waits = _Way(("queued", "paused"), {"state": "cancelled", "problem": ""}, "cancelled")
        runs = _Way(("running",), {"cancelling": True})
        return self._change(caller, id, "cancel", waits, runs)

    def retry(self, caller: Caller, id: str) -> Job:
        """Has a job that failed, or was cancelled, do what it has not done."""
        return self._again(caller, id, "retry", "failed", "cancelled")

    def resume(self, caller: Caller, id: str) -> Job:
        """Has a job go on whose budget was spent."""
        return self._again(caller, id, "resume", "paused")

    def changes(
        self,
        id: str,
        after_version: int,
        timeout: float,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Job | None:
        """The job as soon as it has another version; None where it has none in time."""
        until = time.monotonic() + timeout
        while True:
            rows = self._app.store.rows("service/find_job_version", id=id)
            if not rows or job_version(rows[0]["version"], lost=rows[0]["lost"]) != after_version:
                return self.read(id)
            left = until - time.monotonic()
            if left <= 0 or is_gone():
                return None
            with self.changed:
                self.changed.wait(min(left, LOOK))

    def tell(self) -> None:
        """Wakes whoever waits for a change."""
        with self.changed:
            self.changed.notify_all()

    def _again(self, caller: Caller, id: str, what: str, *states: State) -> Job:
        """Has a job go on. It is that caller's from then on, who may begin it, and pays for it."""
        job = self.find(caller, id)
        if job.kind == "remove" and not caller.may("admin"):
            raise Forbidden(f"That takes a key with the role admin; this one has {caller.role}.")
        # It is asked for again here: it is done as this process does it.
        left = [one for one in job.items if one.state not in ("succeeded", "unchanged", "skipped")]
        recipe = self.recipes.of(job.kind, job.options, left, job.made_with)
        own = {
            "created_by": caller.id,
            "caller": _who(caller),
            "recipe": self._keep_recipe(*recipe),
        }
        return self._change(caller, id, what, _Way(states, {**_AGAIN, **own}, "queued"))

    def _change(self, caller: Caller, id: str, what: str, *ways: _Way) -> Job:
        """Brings a job into another state. Raises Conflict where it is in none that allows that."""
        self.find(caller, id)
        for way in ways:
            rows = self._app.store.rows("service/save_state", id=id, **way.asked())
            if rows:
                self.tell()
                job = self.find(caller, id)
                self._audit.note(caller, f"{what} job", job.collection, job=id)
                return job
        job = self.find(caller, id)
        can = " or ".join(state for way in ways for state in way.states)
        done = {"cancel": "cancelled", "retry": "retried", "resume": "resumed"}[what]
        raise Conflict(
            f"The job is {job.state}: only one that is {can} can be {done}.", state=job.state
        )

    def _move(self, queue: str, statement: str) -> int:
        """Have a statement move jobs on that are at one stage of the queue; return their number."""
        store = self._app.store
        rows = store.rows("service/find_queued", queue=queue, limit=QUEUE_BATCH)
        if rows:
            store.rows(statement, ids=[row["id"] for row in rows])
        return len(rows)

    def _keep_recipe(self, digest: str, made_with: str) -> str:
        """Keep what a job is made with, and return its digest."""
        if digest != ANY:
            self._app.store.rows("service/save_recipe", id=digest, made_with=made_with)
        return digest

    def _takes(self, others: bool) -> dict[str, Sequence[str]]:
        """Return which jobs are taken here, as the parameters of the statements."""
        if others:
            return {"recipes": self.recipes.digests, "ids": []}
        return {"recipes": [], "ids": list(self.begun)}

    def read_job(self, row: Mapping[str, Any]) -> Job:
        """Return a job as the graph has it, with why it waits if it is left here."""
        job, recipe = read_job(row), row["job"].get("recipe", ANY)
        if job.state != "queued" or not (
            waits := self.recipes.explain(recipe, row["made_with"], job.kind)
        ):
            return job
        return replace(job, problem=f"{job.problem} {waits}".strip())

    def _refuse(self, collection: str) -> None:
        """Before anything is kept: what no run could do anyway."""
        shelf = self._app.collection(collection)
        space = shelf.space()
        if space is None and (wrong := collection_problem(collection)):
            raise SettingsError(
                f"The name of a collection {wrong}: {quoted(collection)} can't be one."
            )
        if space and (space.documents or space.phase):
            refuse_reembedding(space)
            refuse_other_model(space, shelf.kit.embedder.model)


@dataclass(frozen=True, slots=True)
class _Way:
    """From which states a job comes into another, and into which its open items; '' for none."""

    states: tuple[State, ...]
    properties: Mapping[str, Any]
    items: str = ""

    def asked(self) -> dict[str, Any]:
        """The parameters of the statement."""
        again = ("failed", "cancelled") if self.items == "queued" else ()
        return {
            "from": list(self.states),
            "job": dict(self.properties),
            "items": [*OPEN, *again] if self.items else [],
            "to": self.items,
        }


_AGAIN = {
    "state": "queued",
    "problem": "",
    "cancelling": False,
    "attempts": 0,
    "not_before": 0,
    "eta": None,
}


def _who(caller: Caller) -> str:
    """A caller as a job keeps it."""
    return json.dumps({"id": caller.id, "name": caller.name, **asdict(caller.quotas)})
