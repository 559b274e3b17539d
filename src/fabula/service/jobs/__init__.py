"""Work that outlives requests and processes: kept in Neo4j, done by whoever is there.

A job is there once it is committed. Any process that serves the same graph, and would do it as it
was asked for (`recipes`), takes it up, one at a time, and says every few seconds that it still
works on it; a job of which nothing is heard is taken up again. That costs nothing twice, as an
ingest goes on from what the graph and the cache have.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from threading import Condition
from typing import TYPE_CHECKING, Any, Literal, get_args

from fabula.errors import NotFound, SettingsError
from fabula.models.usage import Usage, sum_usage
from fabula.service.jobs.recipes import ANY, Recipes
from fabula.service.problems import Conflict, Forbidden
from fabula.service.views import money
from fabula.store.space import refuse_other_model, refuse_reembedding
from fabula.text.names import collection_problem, quoted

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.config.settings import Settings
    from fabula.service.access.caller import Caller
    from fabula.service.audit import Audit
    from fabula.service.once import Once

Kind = Literal["ingest", "build", "retry", "reembed", "remove"]
State = Literal["queued", "running", "succeeded", "failed", "cancelled", "paused"]
ItemState = Literal["queued", "running", "succeeded", "failed", "cancelled", "unchanged", "skipped"]
STATES: tuple[State, ...] = get_args(State)
OPEN: tuple[ItemState, ...] = ("queued", "running")
"""What items are in that are still to be done."""
WHOLE: tuple[Kind, ...] = ("reembed", "remove")
"""Kinds of work on the collection itself, where no document is named."""
ENDED: tuple[State, ...] = ("succeeded", "failed", "cancelled")
DAY = 24 * 3_600_000
"""Milliseconds that an Idempotency-Key holds."""
QUEUE_BATCH = 50
"""Jobs that one statement puts into their places in the queue, or lets go out of it."""
MAX_BEGUN = 1_000
"""Jobs that a process remembers as its own: one that does no others' does the last of them."""
LOOK = 0.5
"""Seconds between two looks at a job that another process may be at work on."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a job, one document, or the collection itself.

    `source` is what its document is known by. `upload` is the SHA-256 of an uploaded file, `book`
    the name of what is meant of it where it is a zip, and `told` is what was said of a text beside
    it. `steps` are pieces of work that are done, and that are known; of what has ended, none.
    """

    source: str
    upload: str = ""
    book: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    state: ItemState = "queued"
    document: str = ""
    title: str = ""
    steps: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    gaps: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Some work, and how far it is.

    `counts` are its items by their states; a list of jobs has no more of the items than those.
    `money` is in US dollars, as far as prices are known, None where no price is; `unpriced` are the
    models without one. `eta` are seconds.
    `cancelling` is a job that ends as soon as its calls under way have. `problem` is why it failed,
    or is paused.
    """

    id: str
    kind: Kind
    collection: str
    state: State
    created_by: str
    created_at: str
    updated_at: str
    version: int
    options: Mapping[str, Any]
    items: tuple[Item, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    money: float | None = 0.0
    unpriced: Sequence[str] = ()
    eta: float | None = None
    cancelling: bool = False
    problem: str = ""
    attempts: int = 0
    caller: Mapping[str, Any] = field(default_factory=dict)
    """Whoever began it, or had it go on, with the quotas that it is held to."""
    place: str = ""
    """Where it stands in the list of all."""
    made_with: Mapping[str, Any] = field(default_factory=dict)
    """What decides its result; empty for jobs that any server does alike."""

    @property
    def done(self) -> int:
        """How many of its items there is nothing more to do for."""
        return sum(self.counts.get(one, 0) for one in ("succeeded", "unchanged", "skipped"))

    @property
    def is_over(self) -> bool:
        """Whether it goes on only if somebody asks for it."""
        return self.state in ENDED or self.state == "paused"


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
        once: Once | None = None,
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
            "said": once.said if once else "",
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
            once.refuse_other(rows[0]["said"])
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
        return self._job(rows[0]) if rows else None

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
        return [self._job(row) for row in rows]

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
            if not rows or _version(rows[0]["version"], lost=rows[0]["lost"]) != after_version:
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

    def _job(self, row: Mapping[str, Any]) -> Job:
        """Return a job as the graph has it, with why it waits if it is left here."""
        job, recipe = _job(row), row["job"].get("recipe", ANY)
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


def job_row(job: Job) -> dict[str, Any]:
    """What of a job changes as it goes on, as the graph keeps it."""
    return {
        "state": job.state,
        "problem": job.problem,
        "usage": _usage_row(job.usage),
        "money": job.money,
        "unpriced": list(job.unpriced),
        "eta": job.eta,
        "attempts": job.attempts,
    }


def item_row(job: str, index: int, item: Item) -> dict[str, Any]:
    """An item as the graph keeps it."""
    return asdict(item) | {
        "id": f"{job}/{index}",
        "index": index,
        "told": json.dumps(dict(item.told)),
        "steps": json.dumps(dict(item.steps)),
        "usage": _usage_row(item.usage),
    }


def in_all(job: Job, items: Sequence[Item], usage: Mapping[str, Usage], settings: Settings) -> Job:
    """A job with these items, and what was asked for it before and by them."""
    spent = sum_usage([job.usage, usage])
    return replace(job, items=tuple(items), usage=spent, **money(settings, spent))


def _job(row: Mapping[str, Any]) -> Job:
    own = row["job"]
    items = tuple(map(_item, row.get("items", ())))
    states = [one.state for one in items] if "items" in row else row["states"]
    # Who worked on it has ended without a word: it waits for another.
    state: State = "queued" if row["lost"] else own["state"]
    return Job(
        id=own["id"],
        kind=own["kind"],
        collection=own["collection"],
        state=state,
        created_by=own["created_by"],
        created_at=_when(own["created"]),
        updated_at=_when(own["updated"]),
        version=_version(own["version"], lost=row["lost"]),
        options=json.loads(own["options"]),
        items=items,
        counts=Counter(states),
        usage=_usage(own["usage"]),
        money=own.get("money"),
        unpriced=own.get("unpriced") or (),
        eta=own.get("eta") if state == "running" else None,
        cancelling=own["cancelling"] and state == "running",
        problem=own["problem"],
        attempts=own["attempts"],
        caller=json.loads(own["caller"]),
        place=own["place"],
        made_with=json.loads(row["made_with"] or "{}"),
    )


def _version(written: int, *, lost: bool) -> int:
    """That nobody works on it any more is nothing that anyone writes, and yet a change."""
    return 2 * written + lost


def _item(own: Mapping[str, Any]) -> Item:
    return Item(
        source=own["source"],
        upload=own["upload"],
        book=own["book"],
        told=json.loads(own["told"]),
        state=own["state"],
        document=own["document"],
        title=own["title"],
        steps={name: (done, known) for name, (done, known) in json.loads(own["steps"]).items()},
        usage=_usage(own["usage"]),
        gaps=own["gaps"],
        error=own["error"],
    )


def _usage_row(usage: Mapping[str, Usage]) -> str:
    return json.dumps({step: one.row for step, one in usage.items()})


def _usage(written: str) -> dict[str, Usage]:
    return {step: Usage.read(one) for step, one in json.loads(written).items()}


def _when(milliseconds: int) -> str:
    when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
