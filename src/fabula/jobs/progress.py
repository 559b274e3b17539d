"""The progress of a running job: the state of its items, their steps, and the usage of models."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabula.build.outcome import Outcome, Status
from fabula.jobs.job import OPEN, Item, ItemState, StepProgress
from fabula.models.progress import PHASES, Pace
from fabula.models.usage import Usage, sum_usage

STATE_OF_OUTCOME: Mapping[Status, ItemState] = {
    "added": "succeeded",
    "replaced": "succeeded",
    "removed": "succeeded",
    "unchanged": "unchanged",
    "skipped": "skipped",
    "failed": "failed",
    "stopped": "queued",
    "waiting": "queued",
}


class JobProgress:
    """Collects the progress of a job, as a `fabula.build.outcome.Listener`.

    A document that is not among the items yet becomes one.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = [
            replace(item, state="queued", steps={}) if item.state in OPEN else item
            for item in items
        ]
        self._usage_before = [item.usage for item in self._items]
        """The usage of each item when this run began."""
        self._done_before = {
            index for index, item in enumerate(self._items) if item.state == "succeeded"
        }
        """The items that an earlier run has done: this run finds them unchanged."""
        self._index = {item.source: index for index, item in enumerate(self._items)}
        self._paces: dict[int, Pace] = {}
        self._reported: dict[int, Usage] = {}
        """The usage that each running item has reported in this run."""
        self._total_pace = Pace()
        self._changed: set[int] = {*range(len(self._items))}
        self._expected = 0
        self._ended = 0
        self._lock = threading.Lock()

    @property
    def items(self) -> tuple[Item, ...]:
        """The items as they are now."""
        with self._lock:
            return tuple(self._items)

    def waiting(self) -> list[Item]:
        """Return the items that are still to be done."""
        return [item for item in self.items if item.state in OPEN]

    def expect(self, sources: int) -> None:
        """Note how many items will be begun."""
        self._expected = sources

    def begin(self, source: str) -> Steps:
        """Note that an item is begun, and return what hears its steps."""
        with self._lock:
            index = self._index.setdefault(source, len(self._items))
            if index == len(self._items):
                self._items.append(Item(source))
                self._usage_before.append({})
            self._paces[index], self._reported[index] = Pace(), Usage()
            self._put(index, replace(self._items[index], state="running", error=""))
        return Steps(self, index)

    def end(self, outcome: Outcome) -> None:
        """Note that an item has ended or was stopped."""
        with self._lock:
            index = self._index[outcome.source]
            self._ended += 1
            self._paces.pop(index, None)
            was_done = outcome.status == "unchanged" and index in self._done_before
            item = replace(
                self._items[index],
                state="succeeded" if was_done else STATE_OF_OUTCOME[outcome.status],
                document=outcome.document or self._items[index].document,
                title=outcome.title or self._items[index].title,
                steps={},
                usage=sum_usage([self._usage_before[index], outcome.steps]),
                gaps=len(outcome.gaps),
                left_out=outcome.left_out,
                warnings=outcome.warnings,
                error=str(outcome.error or ""),
            )
            self._put(index, item)

    def save_result(self, source: str, result: Mapping[str, int]) -> None:
        """Note what became of the annotations of an item's file."""
        with self._lock:
            index = self._index[source]
            self._put(index, replace(self._items[index], result=result))

    def settle(self, state: ItemState, error: str = "") -> None:
        """Set the state of all items that are not done."""
        with self._lock:
            for index, item in enumerate(self._items):
                if item.state in OPEN:
                    self._put(index, replace(item, state=state, steps={}, error=error))

    def take_changed(self) -> list[tuple[int, Item]]:
        """Return the items that have changed since the last call, with their indices."""
        with self._lock:
            changed, self._changed = sorted(self._changed), set()
            return [(index, self._items[index]) for index in changed]

    def give_back(self, changed: Sequence[tuple[int, Item]]) -> None:
        """Put back items that could not be saved, for the next `take_changed`."""
        with self._lock:
            self._changed |= {index for index, _ in changed}

    def usage(self) -> dict[str, Usage]:
        """Return the usage of all items in this run, by step."""
        with self._lock:
            now = sum_usage(item.usage for item in self._items)
            before = sum_usage(self._usage_before)
        added = {step: used - before.get(step, Usage()) for step, used in now.items()}
        return {step: used for step, used in added.items() if used != Usage()}

    def seconds_left(self) -> float | None:
        """Return about how many seconds are left; None while too little is known.

        Items that are not begun yet are assumed to take as much work as the average of the others.
        """
        with self._lock:
            left = self._total_pace.seconds_left()
            begun = self._ended + len(self._paces)
            if left is None or not begun:
                return None
            done, known = self._total_pace.work()
            more = known * max(0, self._expected - begun) / begun
            return round(left * (1 + more / max(1, known - done)), 1)

    def update(self, index: int, step: str, count: int, usage: Usage | None) -> None:
        """Note that more pieces of a step are known, or, if `usage` is given, that one is done."""
        with self._lock:
            pace = self._paces.get(index)
            if pace is None:
                return
            if usage is None:
                pace.expect(step, count)
                self._total_pace.expect(step, count)
            else:
                pace.done(step)
                self._total_pace.done(step)
            steps = {
                name: StepProgress(pace.completed[name], known)
                for name, known in pace.expected.items()
            }
            item = replace(self._items[index], steps=steps)
            if usage is not None and step not in PHASES:
                # The usage is that of all steps together, so the difference is booked on the step
                # that reports it, which is most likely right. Only this display depends on it: the
                # ledger counts each call by itself, and at its end the item gets the exact usage of
                # each step. Threads may report an older count after a newer one.
                new = usage - self._reported[index]
                self._reported[index] += new
                if new != Usage():
                    item = replace(item, usage=sum_usage([item.usage, {step: new}]))
            self._put(index, item)

    def _put(self, index: int, item: Item) -> None:
        self._items[index] = item
        self._changed.add(index)


@dataclass(frozen=True, slots=True)
class Steps:
    """Receives the steps of one item, as a `fabula.models.progress.Progress`."""

    job_progress: JobProgress
    index: int

    def expect(self, step: str, count: int) -> None:
        """Note how many more pieces of a step are known."""
        if count:
            self.job_progress.update(self.index, step, count, None)

    def done(self, step: str, usage: Usage) -> None:
        """Note that one piece of a step is done."""
        self.job_progress.update(self.index, step, 1, usage)
