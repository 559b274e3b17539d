"""Ways to find passages, by name: the core's own, those that graphs bring, and other packages'.

A package registers a mode as an entry point of the group `fabula.modes`: a `Mode`, or its function
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from fabula.ask import collapsed, hybrid, naive
from fabula.errors import SettingsError, did_you_mean
from fabula.graph.hits import Filters, Hit, Passage
from fabula.graph.method import Models, graphs, load
from fabula.graph.path import Path
from fabula.models import Embedder, Guide, Reply
from fabula.models.parallel import Job, Workers
from fabula.text.document import Vector

if TYPE_CHECKING:
    from fabula.store import Store

GROUP = "fabula.modes"
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


@dataclass(frozen=True, slots=True)
class Tools:
    """What a mode works with: the graph, models, and how far to look.

    `k`: most hits; `tokens`: most of the context that is filled from them; `knobs`: the mode's own
    settings, of the class that it names; `method`: those of the graph that it walks, or None where
    it walks none; `workers`: the threads that all wait for models with.
    """

    store: Store
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
        return [Hit(**row) for row in self.rows(statement, vector, filters, **parameters)]

    def rows(
        self, statement: str, vector: Vector, filters: Filters, **parameters: Any
    ) -> list[dict[str, Any]]:
        """The rows of a statement of the mode's own; each is a hit, and what else it returns.

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


# Plain RAG's in GraphRAG-Bench's Novel table (Xiang et al. 2025, arXiv 2506.05690; as its site had
# it in 2026): passages by cosine, beside which summaries and details stand here.
PLAIN: Mapping[Kind, float] = {
    "fact": 58.76,
    "reasoning": 41.35,
    "overview": 50.08,
    "creative": 41.52,
}
CORE = {
    "collapsed": Mode(
        collapsed.retrieve, "all levels at once, in one ranking by cosine", serves=PLAIN
    ),
    "hybrid": Mode(
        hybrid.retrieve,
        "cosine and BM25 over all levels at once",
        knobs=hybrid.Knobs,
        serves=PLAIN,
        # Measured on three novels: sentences, 1,000 tokens (`python -m bench choosing`).
        serves_offline={"fact": 64.5, "reasoning": 47.1, "overview": 35.0, "creative": 26.5},
    ),
    "naive": Mode(naive.retrieve, "chunks alone, by cosine", kinds=("chunk",)),
}


@cache
def modes() -> dict[str, Mode]:
    """The modes that are installed, by name. Raises SettingsError for a name in two places."""
    found = [(name, "Fabula itself", mode) for name, mode in CORE.items()]
    for graph in graphs().values():
        found += [(name, f"the graph {graph.name}", mode) for name, mode in graph.modes.items()]
    found += [(entry.name, entry.value, _loaded(entry)) for entry in entry_points(group=GROUP)]
    places: dict[str, str] = {}
    for name, place, _ in found:
        if name in places:
            raise SettingsError(
                f"There are two modes named {name!r}, one of {places[name]} and one of {place}: "
                "remove one of the two packages."
            )
        places[name] = place
    return {name: mode for name, _, mode in sorted(found, key=lambda one: one[0])}


def mode(name: str) -> Mode:
    """The mode of that name. Raises SettingsError for one that no package has."""
    if name in modes():
        return modes()[name]
    hint = did_you_mean(name, modes(), f"There are: {', '.join(modes())}.")
    raise SettingsError(f"There is no mode {name!r} (FABULA_MODE). {hint}")


def _loaded(entry: EntryPoint) -> Mode:
    loaded = load(entry)
    return loaded if isinstance(loaded, Mode) else Mode(loaded, f"{entry.name}, of {entry.value}")
