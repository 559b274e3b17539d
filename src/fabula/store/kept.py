"""What readers make of whole graphs, kept until a part of these changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")


class Kept:
    """A few values by their keys, each with the version of what it was made of.

    The one that was asked for least lately goes first. Threads that ask for one key wait for each
    other, so that nothing is made twice at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._looking = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, version: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes, or made of this version before."""
        with self._looking:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._looking:
                kept = self._values.get(key)
                if kept and kept[0] == version:
                    self._values.move_to_end(key)
                    found: Made = kept[1]
                    return found
            try:
                made = make()
            except BaseException:
                with self._looking:
                    if key not in self._values:
                        self._making.pop(key, None)
                raise
            with self._looking:
                self._values[key] = version, made
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    gone, _ = self._values.popitem(last=False)
                    self._making.pop(gone, None)
        return made

    def forget(self, key: Hashable) -> None:
        """What there was of it is gone."""
        with self._looking:
            self._values.pop(key, None)
            self._making.pop(key, None)
