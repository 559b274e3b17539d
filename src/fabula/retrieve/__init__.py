"""Rankings of passages for a question: one strategy a file, all of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fabula.model import Filters, Hit
from fabula.providers import Embedder
from fabula.retrieve.collapsed import Collapsed
from fabula.retrieve.hybrid import Hybrid
from fabula.store import Store


class Retriever(Protocol):
    """Finds the passages that serve a question best."""

    def retrieve(self, question: str, filters: Filters) -> list[Hit]:
        """The best passages within `filters`, best first; equal scores in the order of ids."""
        ...


STRATEGIES: dict[str, Callable[[Store, Embedder, int], Retriever]] = {
    "collapsed": Collapsed,
    "hybrid": Hybrid,
}
