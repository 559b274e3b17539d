"""What is heard of a job while it goes on: its items, their steps, and what models were asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabula.build.outcome import Outcome, Status
from fabula.models.progress import Pace
from fabula.models.usage import Usage, sum_usage
from fabula.service.core.jobs.job import OPEN, Item, ItemState

BECAME: Mapping[Status, ItemState] = {
    "added": "succeeded",
    "replaced": "succeeded",
    "unchanged": "unchanged",
    "skipped": "skipped",
    "failed": "failed",
    "stopped": "queued",
}


class Watched:
    """Hear how a job goes (`build.outcome.Listener`). What is not known yet becomes an item."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = [replace(one, state="queued") if one.state in OPEN else one for one in items]
        self._before = [one.usage for one in self._items]
        """What items had asked when this was begun."""
        self._made = {number for number, one in enumerate(self._items) if one.state == "succeeded"}
        """Those that a run before has made, which now finds them as it left them."""
        self._index = {one.source: index for index, one in enumerate(self._items)}
        self._paces: dict[int, Pace] = {}
        self._heard: dict[int, Usage] = {}
        """What models were asked for an item since it was begun, as far as it has told."""
        self._all = Pace()
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
        """Those that are still to be done."""
        return [one for one in self.items if one.state in OPEN]

    def expect(self, sources: int) -> None:
        """So many will be begun."""
        self._expected = sources

    def begin(self, source: str) -> Steps:
        """An item is being made."""
        with self._lock:
            index = self._index.setdefault(source, len(self._items))
            if index == len(self._items):
                self._items.append(Item(source))
                self._before.append({})
            self._paces[index], self._heard[index] = Pace(), Usage()
            self._put(index, replace(self._items[index], state="running", error=""))
        return Steps(self, index)

    def end(self, outcome: Outcome) -> None:
        """An item is done with, or was stopped."""
        with self._lock:
            index = self._index[outcome.source]
            self._ended += 1
            self._paces.pop(index, None)
            is_made = outcome.status == "unchanged" and index in self._made
            item = replace(
                self._items[index],
                state="succeeded" if is_made else BECAME[outcome.status],
                document=outcome.document or self._items[index].document,
                title=outcome.title or self._items[index].title,
                steps={},
                usage=sum_usage([self._before[index], outcome.steps]),
                gaps=len(outcome.gaps),
                error=str(outcome.error or ""),
            )
            self._put(index, item)

    def settle(self, state: ItemState, error: str = "") -> None:
        """What is not done comes into that state."""
        with self._lock:
            for index, item in enumerate(self._items):
                if item.state in OPEN:
                    self._put(index, replace(item, state=state, steps={}, error=error))

    def take_changed(self) -> list[tuple[int, Item]]:
        """The items that have changed since this was last asked, by their numbers."""
        with self._lock:
            changed, self._changed = sorted(self._changed), set()
            return [(index, self._items[index]) for index in changed]

    def give_back(self, changed: Sequence[tuple[int, Item]]) -> None:
        """Those could not be kept: they are to be given again."""
        with self._lock:
            self._changed |= {index for index, _ in changed}

    def usage(self) -> dict[str, Usage]:
        """What models were asked for all items, by step, since this was begun."""
        with self._lock:
            now = sum_usage(one.usage for one in self._items)
            before = sum_usage(self._before)
        grown = {step: one - before.get(step, Usage()) for step, one in now.items()}
        return {step: one for step, one in grown.items() if one != Usage()}

    def left(self) -> float | None:
        """About how many seconds it takes; None before there is enough to tell by.

        What was not begun yet counts as what was, on average.
        """
        with self._lock:
            left = self._all.left()
            begun = self._ended + len(self._paces)
            if left is None or not begun:
                return None
            done, known = self._all.made.total(), self._all.expected.total()
            more = known * max(0, self._expected - begun) / begun
            return round(left * (1 + more / max(1, known - done)), 1)

    def hear(self, index: int, step: str, count: int, usage: Usage | None) -> None:
        """More work of a step is known; or, where `usage` is, a piece of it is done."""
        with self._lock:
            pace = self._paces.get(index)
            if pace is None:
                return
            if usage is None:
                pace.expect(step, count)
                self._all.expect(step, count)
            else:
                pace.done(step)
                self._all.done(step)
            steps = {name: (pace.made[name], known) for name, known in pace.expected.items()}
            item = replace(self._items[index], steps=steps)
            if usage is not None:
                # The usage is that of all steps together, and what is new is most likely this
                # step's. Only whoever watches sees that: the ledger counts each call by itself, and
                # at its end the item has the exact usage of each step. A thread may tell an older
                # count after a newer one.
                new = usage - self._heard[index]
                self._heard[index] += new
                if new != Usage():
                    item = replace(item, usage=sum_usage([item.usage, {step: new}]))
            self._put(index, item)

    def _put(self, index: int, item: Item) -> None:
        self._items[index] = item
        self._changed.add(index)


@dataclass(frozen=True, slots=True)
class Steps:
    """Hears the steps of one item: `fabula.models.progress.Progress`."""

    watched: Watched
    index: int

    def expect(self, step: str, count: int) -> None:
        """More work of a step."""
        if count:
            self.watched.hear(self.index, step, count, None)

    def done(self, step: str, usage: Usage) -> None:
        """One piece done."""
        self.watched.hear(self.index, step, 1, usage)
