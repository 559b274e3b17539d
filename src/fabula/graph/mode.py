"""What a mode is: a way to find passages, and what it works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from fabula.graph.hits import Filters, Hit, Passage, read_hit
from fabula.graph.options import FrozenOptions
from fabula.graph.readers import GraphReader
from fabula.graph.trace import Trace
from fabula.models import Embedder, Guide, Reply
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.roles import Models
from fabula.models.usage import Usage
from fabula.text.document import Vector

if TYPE_CHECKING:
    from fabula.models.prices import Cost

In = TypeVar("In")
Out = TypeVar("Out")


class NoOptions(FrozenOptions):
    """The settings of a mode that has none."""


def _no_prices(usage: Mapping[str, Usage]) -> Cost:
    from fabula.models.prices import Cost

    return Cost(unpriced=tuple(usage))


@dataclass(frozen=True, slots=True)
class Tools:
    """What a mode works with.

    Attributes:
        store: Reads the graph.
        embedder: The embedder of the collection.
        models: Models for calls of the mode's own.
        guide: Rewrites and reads questions.
        trace: Records the steps, for `--explain`.
        k: The most hits to return.
        tokens: The size of the context that is filled from them.
        options: The mode's own settings, of the class that it names.
        graph_options: Those of the graph that it walks; None if it walks none.
        workers: The threads that wait for models.
        cost: Returns what usage costs, by steps.
    """

    store: GraphReader
    embedder: Embedder
    models: Models
    guide: Guide
    trace: Trace
    k: int
    tokens: int
    options: Any
    graph_options: Any
    workers: Workers
    cost: Callable[[Mapping[str, Usage]], Cost] = _no_prices

    def run_each(self, do: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Return the results of `do`, a call to a model, for all items; they run in parallel.

        The first failure is raised.
        """
        with TaskGroup(self.workers) as job:
            return job.each(0, do, items)

    def embed(self, question: str) -> Vector:
        """Return the question's embedding, a unit vector of shape (dimensions,)."""
        with self.trace.step("embed", self.embedder.model):
            vectors: list[Vector] = [*self.embedder.embed([question], "query").vectors]
        return vectors[0]

    def find_hits(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[Hit]:
        """Return the hits that a statement of the mode's own finds, best first."""
        return [read_hit(row) for row in self.find_rows(statement, vector, filters, **parameters)]

    def find_rows(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement of the mode's own; `read_hit` reads the hit of each.

        Besides `parameters` it is given $vector, the space that this is of ($model, $slot and
        $embedding, the property) and the filters; it must not leave $collection.
        """
        return self.store.search_vectors(
            statement, vector, filters, self.embedder.model, **parameters
        )

    def nearest(self, question: str, filters: Filters, limit: int) -> list[Hit]:
        """Return the `limit` passages of highest cosine with the question; one round trip."""
        vector = self.embed(question)
        with self.trace.step("nearest", "cosine, from the vector index") as step:
            hits = self.store.nearest(vector, limit, filters, self.embedder.model)
            step.record(hits)
        return hits

    def elements(
        self, vector: Vector, filters: Filters, limit: int, kinds: Sequence[str] = ()
    ) -> list[Hit]:
        """Return the `limit` elements of highest cosine with `vector`, best first; one round trip.

        They are of these `kinds`, or of all if there are none. The filters' own kinds do not count:
        a mode may look for elements only to reach the passages that they lead to.
        """
        with self.trace.step("elements", ", ".join(kinds)) as step:
            hits = self.store.nearest_elements(vector, limit, filters, self.embedder.model, kinds)
            step.record(hits)
        return hits


Pieces = Iterator[Reply | Passage]
"""Pieces of an answer, and passages that it read besides its context, before it cites them."""
Respond = Callable[[str, Sequence[Passage], Filters, Tools], Pieces | None]
"""Returns an answer to a question from its context, whose passages it cites as [1], [2], ...

None if it leaves that to the usual way: one call, or without a model the closest passages.
"""
Retrieve = Callable[[str, Filters, Tools], list[Hit]]
"""Returns at most `tools.k` passages within the filters, best first; equal ones by id."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to find passages.

    Attributes:
        retrieve: Finds the passages of a question.
        about: What it does, for lists.
        options: A frozen pydantic model of its settings.
        graph: The graph that it walks; '' if it needs passages only.
        answer: Its own way to answer, if that is not one call.
        kinds: The kinds of passages that it looks for; all if there are none. Its filters let no
            others through.
        uses: Graphs that it reads where they exist.
        sentence: What it does, in one sentence for somebody who reads books and knows nothing of
            retrieval; '' to use `about`.
    """

    retrieve: Retrieve
    about: str
    options: type[BaseModel] = NoOptions
    graph: str = ""
    answer: Respond | None = None
    kinds: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class ModeRun:
    """A mode by its name, and what it works with when it is asked a question."""

    name: str
    mode: Mode
    tools: Tools
