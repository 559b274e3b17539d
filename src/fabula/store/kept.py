"""What readers make of whole graphs, kept until a part of these changes."""

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
"""What a value refers to and does not hold: through it the whole program is reached."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How many values are kept, their bytes, and how often one was there and was not."""

    values: int
    bytes: int
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class _Entry:
    version: Hashable
    value: Any
    size: int


class Kept:
    """Values by their keys, each with the version of what it was made of, of so many bytes in all.

    The one that was asked for least lately goes first. One that alone is larger than `max_bytes`
    pushes out no other: it is kept beside them until the next such one comes, so that it is neither
    made again for every question nor costs the others their places. Threads that ask for one key
    wait for each other, so that nothing is made twice at once.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._looking = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._hits = self._misses = 0

    def get(self, key: Hashable, version: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes, or made of this version before."""
        with self._looking:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._looking:
                kept = self._values.get(key)
                if kept and kept.version == version:
                    self._hits += 1
                    self._values.move_to_end(key)
                    found: Made = kept.value
                    return found
                self._misses += 1
            try:
                made = make()
                entry = _Entry(version, made, measure(made))
            except BaseException:
                with self._looking:
                    if key not in self._values:
                        self._making.pop(key, None)
                raise
            with self._looking:
                self._values[key] = entry
                self._values.move_to_end(key)
                self._evict()
        return made

    def forget(self, key: Hashable) -> None:
        """What there was of it is gone."""
        with self._looking:
            self._values.pop(key, None)
            self._making.pop(key, None)

    def usage(self) -> Usage:
        """What is kept by now, and how often it was of use."""
        with self._looking:
            sizes = [entry.size for entry in self._values.values()]
            return Usage(len(sizes), sum(sizes), self._hits, self._misses)

    def _evict(self) -> None:
        """Lets go what is too much, beginning with what was asked for least lately."""
        left, large = self._max_bytes, 1
        for key, entry in reversed(list(self._values.items())):
            if entry.size > self._max_bytes:
                large -= 1
                is_kept = large >= 0
            else:
                left -= entry.size
                is_kept = left >= 0
            if not is_kept:
                del self._values[key]
                self._making.pop(key, None)


def measure(value: object) -> int:
    """About how many bytes a value takes in memory, with all that it holds.

    Each object counts once, by `sys.getsizeof`, and an array by its data. What other values hold,
    too, counts in each of them, so the sum is rather too large than too small.
    """
    total, seen, found = 0, {id(value)}, [value]
    while found:
        item = found.pop()
        total += sys.getsizeof(item)
        if isinstance(item, np.ndarray) and item.base is not None:
            total += item.nbytes  # a view's own size is without its data
        for held in gc.get_referents(item):
            if id(held) not in seen and not isinstance(held, CODE):
                seen.add(id(held))
                found.append(held)
    return total
