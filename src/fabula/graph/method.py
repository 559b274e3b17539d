"""A graph as a method: what it builds from a text, and the ways it brings to ask."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from fabula.graph import Edge, Gap, Node, Part
from fabula.graph.entries import Entry
from fabula.graph.gaps import GapLimit
from fabula.text.document import Chunk, Document

if TYPE_CHECKING:
    from fabula.graph.mode import Mode
    from fabula.models.parallel import Job
    from fabula.models.progress import Progress
from fabula.models.roles import Models

Knobs = TypeVar("Knobs", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Text:
    """What a graph is built from: a document and its chunks, embedded, in text order.

    `below` are its parts of the graphs that this one rests on, and of those that it uses and the
    document has, by the graphs' names; embeddings may be left out of them.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    below: Mapping[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reader:
    """What a collection's own part is made from: the parts of others, read when they are asked for.

    `documents` are those that have the graphs which it rests on, by their ids. `read` gives a part
    by its graph's name and the document's id, '' for one of the collection itself, without
    embeddings; it raises Changed where that is not the version any more which `documents` tell of.
    `own` are the names of the collection's own parts that there are, of those it rests on or uses.
    """

    collection: str
    documents: tuple[Entry, ...]
    read: Callable[[str, str], Part]
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has of an earlier version of the same part, made in the same way.

    `chunks` are those that it rested on, embeddings left out; all is empty at a first build.
    `gaps` are pieces that were asked for in vain: a build asks for them again.
    `means` are averages of the numbers among the facts whose names begin with `mean_`, over other
    documents' parts that were made in the same way: what a dry run can expect.
    """

    chunks: tuple[Chunk, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()

    def asked(self, step: str) -> frozenset[str]:
        """Return the ids of the chunks about which a model replied in a step."""
        missing = {id for gap in self.gaps if gap.step == step for id in gap.sources}
        return frozenset(chunk.id for chunk in self.chunks) - missing


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: the content of a part, what it tells of it, and what no model gave."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """How a build's calls are made side by side, who hears of their progress, what may be missing.

    A piece whose reply is a BadReply may be left out, as a Gap, where `gaps` accepts it.
    """

    job: Job
    progress: Progress
    gaps: GapLimit = field(default_factory=GapLimit)


@dataclass(frozen=True, slots=True)
class Lazy:
    """A function by its import path, `package.module:name`, which is imported when it is called.

    A graph names its build so, as a question imports all graphs and needs no build.
    """

    path: str

    def __call__(self, *values: Any) -> Any:
        """Call the function."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)(*values)


def _settings(knobs: BaseModel, offline: bool) -> Mapping[str, Any]:
    return knobs.model_dump(mode="json")


def _nothing(facts: Mapping[str, Any]) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Graph(Generic[Knobs]):
    """A method, by its `name`, which is also that of its table of settings.

    It has `build`, which makes a part of each document, or `settle`, which makes one of the whole
    collection, out of what its documents have of the graphs that it rests on.
    `version` counts up when the method makes something else of the same; `knobs` is a frozen
    pydantic model of its settings. `passages` are the labels of its nodes that every mode finds, by
    vector and by words; `elements` those of all others, which may have an embedding too, and then
    are found by the graph's own modes alone; `edges` the types of its relationships: a closed list
    each. `prompts` and `cypher` are folders of its texts and statements; in the latter every
    `check_*.cypher` is an invariant, and `find_parents.cypher` finds what stands above a passage.
    `settings` says on which settings the result depends; with `offline` true there is no chat
    model. On those that `unasked` names no question to a model depends: what is known of the graph
    is used again where one of them has changed. `tell` puts into words what is worth saying of a
    part's facts, and `doubt` what `fabula check` is to say of them. It `rests_on` graphs without
    which it can't be, and `uses` others where they are there: with either it becomes stale.
    """

    name: str
    about: str
    version: int
    knobs: type[Knobs]
    build: Callable[[Text, Knobs, Models, Known, Work], Built] | None = None
    settle: Callable[[Reader, Knobs, Models, Known, Work], Built] | None = None
    passages: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    modes: Mapping[str, Mode] = field(default_factory=dict)
    prompts: Path | None = None
    cypher: Path | None = None
    settings: Callable[[Knobs, bool], Mapping[str, Any]] = _settings
    unasked: frozenset[str] = frozenset()
    tell: Callable[[Mapping[str, Any]], Sequence[str]] = _nothing
    doubt: Callable[[Mapping[str, Any]], Sequence[str]] = _nothing

    def prompts_digest(self) -> str:
        """8 hex digits of all its prompts' texts; '' where it has none."""
        return _digest(self.prompts) if self.prompts else ""


@cache
def _digest(folder: Path) -> str:
    texts = [file.read_bytes() for file in sorted(folder.glob("*.txt"))]
    return hashlib.blake2b(b"\0".join(texts), digest_size=4).hexdigest()
