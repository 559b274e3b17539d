"""A cache in memory for what modes derive from whole graphs, until these change."""

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


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """How many values are cached, their bytes, and how often one was found and was not."""

    values: int
    bytes: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class _Entry:
    version: Hashable
    value: Any
    size: int


class ValueCache:
    """Values by their keys, each with the version of what it was made from.

    The least recently used values are evicted first. A single value that is larger than `max_bytes`
    evicts no other: it stays beside them until the next such value comes, so that it is not made
    again for every question and the others keep their places. Threads that ask for the same key
    wait for each other, so that nothing is made twice at once.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._hits = self._misses = 0

    def get(self, key: Hashable, version: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value of a key, made by `make` unless this version of it is cached."""
        # Two locks: the one of the key is held while a value is made, which may take seconds; the
        # common one only for moments, so that other keys are not held up.
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                # Looked up only now: another thread may have made it while this one waited.
                cached = self._values.get(key)
                if cached and cached.version == version:
                    self._hits += 1
                    self._values.move_to_end(key)
                    value: Made = cached.value
                    return value
                self._misses += 1
            try:
                value = make()
                entry = _Entry(version, value, measure(value))
            except BaseException:
                # Otherwise the lock of a key that never gets a value would stay for ever.
                with self._lock:
                    if key not in self._values:
                        self._making.pop(key, None)
                raise
            with self._lock:
                self._values[key] = entry
                self._values.move_to_end(key)
                self._evict()
        return value

    def forget(self, key: Hashable) -> None:
        """Remove the value of a key, if there is one."""
        with self._lock:
            self._values.pop(key, None)
            self._making.pop(key, None)

    def usage(self) -> CacheUsage:
        """Return what is cached now, and how often it was used."""
        with self._lock:
            sizes = [entry.size for entry in self._values.values()]
            return CacheUsage(len(sizes), sum(sizes), self._hits, self._misses)

    def _evict(self) -> None:
        """Remove what is too much, the least recently used values first."""
        left, large = self._max_bytes, 1
        # From the latest to the oldest, so that what is still left of the limit goes to the latest.
        for key, entry in reversed(list(self._values.items())):
            if entry.size > self._max_bytes:
                large -= 1
                fits = large >= 0
            else:
                left -= entry.size
                fits = left >= 0
            if not fits:
                del self._values[key]
                self._making.pop(key, None)


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
