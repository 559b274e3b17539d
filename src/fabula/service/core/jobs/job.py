"""A job and its items, as values and as the graph keeps them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from fabula.models.usage import Usage, sum_usage
from fabula.service.core.views import money

if TYPE_CHECKING:
    from fabula.config.settings import Settings


Kind = Literal["ingest", "build", "retry", "reembed", "remove"]


State = Literal["queued", "running", "succeeded", "failed", "cancelled", "paused"]


ItemState = Literal["queued", "running", "succeeded", "failed", "cancelled", "unchanged", "skipped"]


STATES: tuple[State, ...] = get_args(State)


OPEN: tuple[ItemState, ...] = ("queued", "running")
"""What items are in that are still to be done."""


WHOLE: tuple[Kind, ...] = ("reembed", "remove")
"""Kinds of work on the collection itself, where no document is named."""


ENDED: tuple[State, ...] = ("succeeded", "failed", "cancelled")


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


def read_job(row: Mapping[str, Any]) -> Job:
    """Return a job from its row."""
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
        version=job_version(own["version"], lost=row["lost"]),
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


def job_version(written: int, *, lost: bool) -> int:
    """That nobody works on it any more is nothing that anyone writes, and yet a change."""
    return 2 * written + lost


def _item(own: Mapping[str, Any]) -> Item:
    """Return what changes whenever a job does."""
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
