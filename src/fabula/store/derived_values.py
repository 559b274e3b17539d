"""A cache in memory for what is derived from collections, until these change."""

from __future__ import annotations

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

Made = TypeVar("Made")
CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""Types that are not measured with a value: through them the whole program is reached."""
MAX_BYTES = 256 << 20
"""Most of it is for what modes derive from whole graphs: networks, terms, reports. For a book as
long as *War and Peace* they take 11 MB, so there is room for 23 such books, or for thousands of
stories. The count of a word takes 500 bytes."""


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """How many values are cached, their bytes, and how often `get` found one and did not."""

    values: int
    bytes: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class Derived:
    """A value, the revision of what it was derived from, and its bytes with those of its key."""

    revision: Hashable
    value: Any
    size: int


class DerivedValues:
    """Values by their keys, each with the revision of what it was derived from; thread-safe.

    Other processes write to the graph meanwhile. So a revision is read before the value that is
    saved with it: the value may be newer, and is then derived once more, but never older.

    The least recently used values are evicted first. A single value that is larger than `max_bytes`
    evicts no other: it stays beside them until the next such value comes, so that it is not made
    again for every question and the others keep their places.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Derived] = OrderedDict()
        self._large: dict[Hashable, Derived] = {}
        self._bytes = 0
        self._making: set[Hashable] = set()
        self._made = threading.Condition()
        self._hits = self._misses = 0

    def get(self, key: Hashable, revision: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value of a key, made by `make` unless this revision of it is cached.

        Threads that ask for the same key wait for each other, so that nothing is made twice at
        once.
        """
        with self._made:
            self._made.wait_for(lambda: key not in self._making)
            derived = self._find(key)
            if derived and derived.revision == revision:
                self._hits += 1
                value: Made = derived.value
                return value
            self._misses += 1
            self._making.add(key)
        try:
            value = make()
            self.save(key, revision, value)
            return value
        finally:
            with self._made:
                self._making.remove(key)
                self._made.notify_all()

    def find(self, key: Hashable) -> Derived | None:
        """Return the value of a key as it was saved last, of whatever revision."""
        with self._made:
            return self._find(key)

    def save(self, key: Hashable, revision: Hashable, value: object) -> None:
        """Cache the value of a key in place of the one that it had."""
        derived = Derived(revision, value, measure((key, revision, value)))
        with self._made:
            self._remove(key)
            if derived.size > self._max_bytes:
                self._large = {key: derived}
            else:
                self._values[key] = derived
                self._bytes += derived.size
            while self._bytes > self._max_bytes:
                self._remove(next(iter(self._values)))

    def forget(self, key: Hashable) -> None:
        """Remove the value of a key, if there is one."""
        with self._made:
            self._remove(key)

    def usage(self) -> CacheUsage:
        """Return what is cached now, and how often it was used."""
        with self._made:
            size = self._bytes + sum(derived.size for derived in self._large.values())
            return CacheUsage(len(self._values) + len(self._large), size, self._hits, self._misses)

    def _find(self, key: Hashable) -> Derived | None:
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        return self._large.get(key)

    def _remove(self, key: Hashable) -> None:
        if removed := self._values.pop(key, None):
            self._bytes -= removed.size
        self._large.pop(key, None)


def measure(value: object) -> int:
    """Return about how many bytes a value takes in memory, with all that it holds.

    Each object counts once, by `sys.getsizeof`, and an array by its data. An object that several
    cached values hold counts in each of them, so the sum is an upper bound.
    """
    total, seen, remaining = 0, {id(value)}, [value]
    while remaining:
        item = remaining.pop()
        total += sys.getsizeof(item)
        if isinstance(item, np.ndarray) and item.base is not None:
            total += item.nbytes  # a view's own size is without its data
        for held in gc.get_referents(item):
            if id(held) not in seen and not isinstance(held, CODE):
                seen.add(id(held))
                remaining.append(held)
    return total
