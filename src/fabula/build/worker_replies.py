"""The coordinator's cache of replies, as the task of a worker uses it.

A worker keeps no cache of its own. What a task looks up is asked of the coordinator, and what
models reply is handed to it, in exchanges that the reports of the task give rise to.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from fabula.models.cache import CachedRow, ReplyCache
from fabula.models.stop import Stop

Change = CachedRow | bytes
"""What a task has changed in the cache: a row that it saved, or a key that it deleted."""


class CoordinatorCache(ReplyCache):
    """The cache of a task on a worker.

    What it saves waits here until the coordinator has acknowledged it, so that a lost exchange
    loses no reply. The result of the task carries what is left.

    Args:
        report: Lets the task report at once that it wants something.
        stop: Ends the waiting for the coordinator.
    """

    def __init__(self, report: Callable[[], None], stop: Stop) -> None:
        super().__init__()
        self._report, self._stop = report, stop
        self._wanted = Counter[bytes]()
        """How many threads wait for each key."""
        self._found: dict[bytes, bytes | None] = {}
        self._changes: list[Change] = []
        self._acknowledged = 0
        self._changed = threading.Condition()

    @property
    def wanted(self) -> tuple[bytes, ...]:
        """The keys that the task waits for."""
        with self._changed:
            return tuple(self._wanted)

    @property
    def changes(self) -> int:
        """How many changes the task has made so far."""
        with self._changed:
            return self._acknowledged + len(self._changes)

    def find(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the data of those keys that have any.

        Raises:
            Stopped: The task was stopped.
        """
        with self._stop.calling(self._wake), self._changed:
            own = self._own()
            others = [key for key in keys if key not in own]
            answers = {key: own[key] for key in keys if key in own}
            if others:
                answers |= self._ask(others)
        return {key: data for key, data in answers.items() if data is not None}

    def save(self, rows: Sequence[CachedRow]) -> None:
        """Keep rows for the coordinator."""
        with self._changed:
            self._changes += rows

    def forget(self, key: bytes) -> None:
        """Keep for the coordinator that a row is to be deleted."""
        with self._changed:
            self._changes.append(key)

    def exchange(
        self, acknowledged: int, found: Mapping[bytes, bytes | None]
    ) -> tuple[int, tuple[Change, ...]]:
        """Take what the coordinator has found, and return what `remaining` does.

        Args:
            acknowledged: How many changes it has saved.
            found: The data of keys; None for those that its cache does not have.
        """
        with self._changed:
            del self._changes[: max(0, acknowledged - self._acknowledged)]
            self._acknowledged = max(acknowledged, self._acknowledged)
            self._found |= {key: data for key, data in found.items() if self._wanted[key]}
            self._changed.notify_all()
            return self.remaining()

    def remaining(self) -> tuple[int, tuple[Change, ...]]:
        """Return how many changes the coordinator has acknowledged, and the others."""
        with self._changed:
            return self._acknowledged, tuple(self._changes)

    def _own(self) -> dict[bytes, bytes | None]:
        """The data of keys that the coordinator has not got yet; None for deleted ones."""
        own: dict[bytes, bytes | None] = {}
        for change in self._changes:
            if isinstance(change, bytes):
                own[change] = None
            else:
                own[change[0]] = change[3]
        return own

    def _ask(self, keys: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return what the coordinator has found for keys; called with the lock."""
        self._wanted.update(keys)
        self._report()
        try:
            self._changed.wait_for(
                lambda: self._stop.is_set() or all(key in self._found for key in keys)
            )
            self._stop.check()
            return {key: self._found[key] for key in keys}
        finally:
            # Without the keys that no thread waits for any more.
            self._wanted -= Counter(keys)
            self._found = {key: self._found[key] for key in self._found if self._wanted[key]}

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def apply_changes(cache: ReplyCache, changes: Sequence[Change]) -> None:
    """Make the changes of a task in the coordinator's cache, in their order."""
    for is_deletion, group in itertools.groupby(changes, lambda change: isinstance(change, bytes)):
        if is_deletion:
            for change in group:
                assert isinstance(change, bytes)
                cache.forget(change)
        else:
            cache.save([change for change in group if not isinstance(change, bytes)])
