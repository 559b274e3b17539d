"""A mode: a way to find passages, and what it works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from fabula.graph import Record
from fabula.graph.entries import Entry
from fabula.graph.hits import Filters, Hit, Passage, read_hit
from fabula.graph.path import Path
from fabula.models import Embedder, Guide, Reply
from fabula.models.parallel import Job, Workers
from fabula.models.roles import Models
from fabula.text.document import Vector

Kind = Literal["fact", "reasoning", "overview", "comparison", "creative"]
"""What a question asks for: one fact, what several passages together say, what a long stretch is
about, how two compare, or a text of its own."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Made = TypeVar("Made")
In = TypeVar("In")
Out = TypeVar("Out")


class NoKnobs(BaseModel):
    """The settings of a mode that has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GraphReader(Protocol):
    """What a mode may read of the graph; `fabula.store.Store` has it."""

    def nearest(self, vector: Vector, limit: int, filters: Filters, model: str) -> list[Hit]:
        """Return the `limit` passages of highest cosine with `vector`, best first.

        Raises:
            SpaceError: The collection's embeddings are not of that model.

        """
        ...

    def nearest_elements(
        self, vector: Vector, limit: int, filters: Filters, model: str, kinds: Sequence[str] = ()
    ) -> list[Hit]:
        """Return the `limit` elements of these kinds of highest cosine, best first."""
        ...

    def near_or_alike(
        self, vector: Vector, question: str, limit: int, filters: Filters, model: str
    ) -> tuple[list[Hit], list[Hit]]:
        """Return the `limit` nearest passages, and those with most of the question's words."""
        ...

    def related(
        self, statement: str, collection: str, passages: Sequence[str]
    ) -> dict[str, list[Hit]]:
        """Return what a statement finds for some passages, by their ids."""
        ...

    def vectors(self, collection: str, nodes: Sequence[str]) -> dict[str, Vector]:
        """Return the embeddings of some nodes, by their ids."""
        ...

    def documents(self, collection: str) -> Iterator[Entry]:
        """Return all documents of a collection by title."""
        ...

    def settled(self, collection: str) -> dict[str, Record]:
        """Return what the parts of a collection itself were made from, by their graphs."""
        ...

    def found(
        self, statement: str, vector: Vector, filters: Filters, model: str, **asked: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement over embeddings; it is given the filters."""
        ...

    def read(self, statement: str, filters: Filters, **asked: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement over no embeddings; it is given the filters."""
        ...

    def keep(
        self,
        name: str,
        collection: str,
        document: str,
        graphs: Sequence[str],
        make: Callable[[], Made],
        uses: Sequence[str] = (),
    ) -> Made | None:
        """Return what `make` makes of graphs, kept by `name` until one of them changes."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What a mode works with: the graph, models, and how far to look.

    `k`: most hits; `tokens`: most of the context that is filled from them; `knobs`: the mode's own
    settings, of the class that it names; `method`: those of the graph that it walks, or None where
    it walks none; `workers`: the threads that all wait for models with.
    """

    store: GraphReader
    embedder: Embedder
    models: Models
    guide: Guide
    path: Path
    k: int
    tokens: int
    knobs: Any
    method: Any
    workers: Workers

    def each(self, do: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """`do` for all items, calls to models, side by side; the first failure is raised."""
        with Job(self.workers) as job:
            return job.each(0, do, items)

    def embed(self, question: str) -> Vector:
        """The question's embedding, shape (dimensions,), of length 1."""
        with self.path.step("embed", self.embedder.model):
            vectors: list[Vector] = [*self.embedder.embed([question]).vectors]
        return vectors[0]

    def found(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[Hit]:
        """The hits that a statement of the mode's own finds, best first."""
        return [read_hit(row) for row in self.rows(statement, vector, filters, **parameters)]

    def rows(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[dict[str, Any]]:
        """The rows of a statement of the mode's own: the hit of each is what `read_hit` reads.

        Beside `parameters` it is given $vector, the space that this is of ($model, $slot and
        $embedding, the property), and what the filters say; it must not leave $collection.
        """
        return self.store.found(statement, vector, filters, self.embedder.model, **parameters)

    def read(self, statement: str, filters: Filters, **parameters: Any) -> list[dict[str, Any]]:
        """The rows of a statement of the mode's own over what needs no embedding.

        It is given `parameters` and what the filters say; it must not leave $collection.
        """
        return self.store.read(statement, filters, **parameters)

    def keep(
        self,
        name: str,
        filters: Filters,
        graphs: Sequence[str],
        make: Callable[[], Made],
        uses: Sequence[str] = (),
    ) -> Made | None:
        """What `make` makes of `graphs` of the filters' collection or document, kept by `name`.

        It is made again once a part of them has changed, or of a graph that it `uses` where that is
        there. None where one of the `graphs` has no part.
        """
        return self.store.keep(name, filters.collection, filters.document, graphs, make, uses)

    def nearest(self, question: str, filters: Filters, limit: int) -> list[Hit]:
        """The `limit` passages of highest cosine with the question; one round trip."""
        vector = self.embed(question)
        with self.path.step("nearest", "cosine, from the vector index") as step:
            hits = self.store.nearest(vector, limit, filters, self.embedder.model)
            step.found(hits)
        return hits

    def elements(
        self, vector: Vector, filters: Filters, limit: int, kinds: Sequence[str] = ()
    ) -> list[Hit]:
        """The `limit` elements of highest cosine with `vector`, best first; one round trip.

        Of these `kinds`, whatever the filters say of kinds, as a mode may look for elements only to
        get to what they lead to; of all that have an embedding where there are none.
        """
        with self.path.step("elements", ", ".join(kinds)) as step:
            hits = self.store.nearest_elements(vector, limit, filters, self.embedder.model, kinds)
            step.found(hits)
        return hits


Pieces = Iterator[Reply | Passage]
"""Of an answer, and passages that it read beside its context, numbered on, before it cites them."""
Respond = Callable[[str, Sequence[Passage], Filters, Tools], Pieces | None]
"""An answer to a question from its context, whose passages it cites as [1], [2], ...

None where it leaves that to the usual way: one call, or without a model the closest passages.
"""
Retrieve = Callable[[str, Filters, Tools], list[Hit]]
"""At most `tools.k` passages within the filters, best first; equal ones by their ids."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to find passages, and what it does is said in `about`.

    `knobs`: a frozen pydantic model of its settings; `graph`: the graph that it walks, '' where it
    needs passages alone; `answer`: its own way to answer, where it is not one call; `kinds`: of
    passages that it looks for, where it is not all; its filters let no others through.

    `serves` says how well it does by kind of question, with a model, and `serves_offline` without
    one: the accuracy of answers and the share of the evidence found, in %, on GraphRAG-Bench's
    novels. A mode that has no figure for a kind is never chosen for it unasked. `uses` are graphs
    that it reads where they are there, and its figures need: without them, too, it is not chosen.
    What either of two graphs may bring has no place in it, as the facts which those of `hippo`
    presuppose: `entities` has some with its setting `triples`, and the graph `facts` others.
    """

    retrieve: Retrieve
    about: str
    knobs: type[BaseModel] = NoKnobs
    graph: str = ""
    answer: Respond | None = None
    kinds: tuple[str, ...] = ()
    serves: Mapping[Kind, float] = field(default_factory=dict)
    serves_offline: Mapping[Kind, float] = field(default_factory=dict)
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """A mode by its name, and what it works with when it is asked a question."""

    name: str
    mode: Mode
    tools: Tools
