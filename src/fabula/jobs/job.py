"""Jobs and their items, as values and as rows of the graph."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from fabula.config.settings import Settings
from fabula.models.progress import PHASES
from fabula.models.usage import Usage, sum_usage

Kind = Literal["ingest", "annotate", "build", "renew", "reembed", "remove"]
JobState = Literal["queued", "waiting", "running", "succeeded", "failed", "cancelled", "paused"]
ItemState = Literal["queued", "running", "succeeded", "failed", "cancelled", "unchanged", "skipped"]
STATES: tuple[JobState, ...] = get_args(JobState)
OPEN: tuple[ItemState, ...] = ("queued", "running")
"""The states of items that are still to be done."""
WHOLE: tuple[Kind, ...] = ("reembed", "remove")
"""Kinds of jobs on the collection as a whole, which name no document."""
OF_FILES: tuple[Kind, ...] = ("ingest", "annotate")
"""Kinds of jobs that need uploaded files. Those of different documents run side by side."""
ENDED: tuple[JobState, ...] = ("succeeded", "failed", "cancelled")
START = "start"
"""The step of a running job before the first of its items has begun, and after the last."""


NotShown = Field(exclude=True)
"""Marks what is stored with an item and not shown with it."""


@dataclass(frozen=True, slots=True)
class StepProgress:
    """How many pieces of work of a step are done, and how many are known so far."""

    done: int
    expected: int


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a job, one document, or the collection as a whole."""

    source: str
    """The source by which the document is known."""
    upload: Annotated[str, NotShown] = ""
    """The SHA-256 of the uploaded file; '' if the document was not uploaded."""
    book: Annotated[str, NotShown] = ""
    """The name of the file within an uploaded zip."""
    metadata: Annotated[Mapping[str, str], NotShown] = field(default_factory=dict)
    """Title, author and so on that were sent with a text."""
    state: ItemState = "queued"
    document: str = ""
    """The document's id, once it is known."""
    title: str = ""
    steps: Mapping[str, StepProgress] = field(default_factory=dict)
    """Only there while the item is running."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    gaps: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    """The characters of the file that are not in the document's text, by kind."""
    warnings: Sequence[str] = ()
    """What was wrong with the file, in full sentences."""
    result: Mapping[str, int] = field(default_factory=dict)
    """What became of the annotations of the file, counted: how many there are, stand where the
    file says (`in_place`), were found elsewhere (`moved`) or nowhere (`orphaned`), and were not
    looked for everywhere (`untried`)."""
    error: str = ""


@dataclass(frozen=True)
class Job:
    """A job and its progress, as it is shown."""

    id: str
    kind: Kind
    collection: str
    state: JobState
    created_by: str
    created_at: str
    updated_at: str
    version: int
    options: Mapping[str, Any]
    items: tuple[Item, ...] = ()
    """Empty in a list of jobs, which has only the `counts` and the `steps`."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of items in each state."""
    steps: Mapping[str, StepProgress] = field(default_factory=dict)
    """The steps of all items together; a running job always has one that is not done."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    money: float | None = 0.0
    """US dollars, as far as prices are known; None if no price is."""
    unpriced: Sequence[str] = ()
    """The models whose price is not known."""
    eta: float | None = None
    """About how many seconds are left; None if that can't be told."""
    cancelling: bool = False
    """Whether the job ends as soon as its calls under way have ended."""
    problem: str = ""
    """Why the job failed, waits or is paused; keys that may write are told."""

    @property
    def done(self) -> int:
        """The number of items that need nothing more."""
        return sum(self.counts.get(state, 0) for state in ("succeeded", "unchanged", "skipped"))

    @property
    def doing(self) -> str:
        """What a running job does now, such as 'details 20 of 300'; else its problem."""
        left = {name: step for name, step in self.steps.items() if step.done < step.expected}
        # The phase is told by what is counted within it, if anything is.
        counted = {name: step for name, step in left.items() if name not in PHASES}
        return self.problem or ", ".join(
            f"{name} {step.done:,} of {step.expected:,}" for name, step in (counted or left).items()
        )

    @property
    def is_over(self) -> bool:
        """Whether the job continues only if somebody retries or resumes it."""
        return self.state in ENDED or self.state == "paused"

    def to_text(self) -> str:
        """Return what it is and does, and what became of its items."""
        counts = ", ".join(f"{number:,} {state}" for state, number in self.counts.items())
        heading = f"{self.id}  {self.state}: {self.kind} in collection {self.collection}, {counts}"
        lines = [f"{heading}. {self.doing}".rstrip()]
        for item in self.items:
            said = ". ".join(filter(None, (item.error, *item.warnings)))
            lines.append(f"  {item.title or item.source}  {item.state}  {said}".rstrip())
        return "\n".join(lines)


@dataclass(frozen=True)
class StoredJob(Job):
    """A job with what only those who do it need: nobody is shown that."""

    attempts: int = 0
    """How often the job was begun since it last made progress."""
    caller: Mapping[str, Any] = field(default_factory=dict)
    """The caller who added the job, or resumed it last, with the quotas that it is held to."""
    place: str = ""
    """The job's place in the list of all jobs, which sorts by it."""
    made_with: Mapping[str, Any] = field(default_factory=dict)
    """The recipe that decides the result; empty for jobs that every server does alike."""


def job_row(job: StoredJob) -> dict[str, Any]:
    """Return the properties of a job that change while it runs, as the graph has them."""
    same = ("state", "problem", "money", "eta", "attempts")
    return {name: getattr(job, name) for name in same} | {
        "usage": _usage_row(job.usage),
        "unpriced": list(job.unpriced),
    }


def item_row(job: str, index: int, item: Item) -> dict[str, Any]:
    """Return an item's properties as the graph has them."""
    return asdict(item) | {
        "id": f"{job}/{index}",
        "index": index,
        "metadata": json.dumps(dict(item.metadata)),
        "steps": json.dumps({name: astuple(step) for name, step in item.steps.items()}),
        "left_out": json.dumps(dict(item.left_out)),
        "warnings": list(item.warnings),
        "result": json.dumps(dict(item.result)),
        "usage": _usage_row(item.usage),
    }


def add_usage(
    job: StoredJob, items: Sequence[Item], usage: Mapping[str, Usage], settings: Settings
) -> StoredJob:
    """Return a job with these items, and with a run's usage added to its properties."""
    total = sum_usage([job.usage, usage])
    cost = settings.cost(total)
    return replace(job, items=tuple(items), usage=total, money=cost.money, unpriced=cost.unpriced)


def read_job(row: Mapping[str, Any]) -> StoredJob:
    """Return the job of a row."""
    properties = row["job"]
    items = tuple(map(_item, row.get("items", ())))
    states = [item.state for item in items] if "items" in row else row["states"]
    steps = [item.steps for item in items] if "items" in row else map(_steps, row["steps"])
    # Its worker has ended without a word: the job waits for another one.
    state: JobState = "queued" if row["lost"] else properties["state"]
    same = ("id", "kind", "collection", "created_by", "problem", "attempts", "place")
    return StoredJob(
        **{name: properties[name] for name in same},
        state=state,
        created_at=_timestamp(properties["created"]),
        updated_at=_timestamp(properties["updated"]),
        version=job_version(properties["version"], lost=row["lost"]),
        options=json.loads(properties["options"]),
        items=items,
        counts=Counter(states),
        steps=_sum_steps(steps) if state == "running" else {},
        usage=_usage(properties["usage"]),
        money=properties.get("money"),
        unpriced=properties.get("unpriced") or (),
        eta=properties.get("eta") if state == "running" else None,
        cancelling=properties["cancelling"] and state == "running",
        caller=json.loads(properties["caller"]),
        made_with=json.loads(row["made_with"] or "{}"),
    )


def job_version(version: int, *, lost: bool) -> int:
    """Return a job's version, which also changes when its worker ends without writing anything."""
    return 2 * version + lost


def _item(properties: Mapping[str, Any]) -> Item:
    same = ("source", "upload", "book", "state", "document", "title", "gaps", "error")
    return Item(
        **{name: properties[name] for name in same},
        metadata=json.loads(properties["metadata"]),
        steps=_steps(properties["steps"]),
        usage=_usage(properties["usage"]),
        left_out=json.loads(properties["left_out"]),
        warnings=tuple(properties["warnings"]),
        result=json.loads(properties["result"]),
    )


def _steps(row: str) -> dict[str, StepProgress]:
    return {name: StepProgress(*counts) for name, counts in json.loads(row).items()}


def _sum_steps(steps: Iterable[Mapping[str, StepProgress]]) -> dict[str, StepProgress]:
    """Return the steps of all items of a running job together."""
    done, known = Counter[str](), Counter[str]()
    for of_item in steps:
        done.update({name: step.done for name, step in of_item.items()})
        known.update({name: step.expected for name, step in of_item.items()})
    total = {name: StepProgress(done[name], count) for name, count in known.items()}
    return total if done != known else {**total, START: StepProgress(0, 1)}


def _usage_row(usage: Mapping[str, Usage]) -> str:
    return json.dumps({step: used.row for step, used in usage.items()})


def _usage(row: str) -> dict[str, Usage]:
    return {step: Usage.read(used) for step, used in json.loads(row).items()}


def _timestamp(milliseconds: int) -> str:
    time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
