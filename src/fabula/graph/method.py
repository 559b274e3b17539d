"""What a graph is to the core: what it builds from a text, and the modes that it brings."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from fabula.graph import Edge, Gap, Node, Part
from fabula.graph.decisions import Decision, DecisionRules
from fabula.graph.entries import Entry
from fabula.graph.gaps import GapLimit
from fabula.models.roles import ModelProfile
from fabula.text.document import Chunk, Document

if TYPE_CHECKING:
    from fabula.graph.annotations import AnnotationLayer
    from fabula.graph.builds import Build
    from fabula.graph.findings import Findings
    from fabula.graph.mode import Mode
    from fabula.graph.reading_tools import ReadingTool

OptionsType = TypeVar("OptionsType", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BuildText:
    """What a graph is built from.

    Attributes:
        document: The document.
        chunks: Its chunks with embeddings, in text order.
        below: Its parts of the graphs that this one rests on or uses, by the graphs' names. Their
            embeddings may be left out; a graph that is only used may be missing.
        decisions: What people decided about the graph, in the order in which they did.
        layers: The annotations that were imported into the document, for a graph that is made of
            them (`Graph.imports`). Their places are those of the text of when they were imported.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    below: Mapping[str, Part] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    layers: tuple[AnnotationLayer, ...] = ()


@dataclass(frozen=True, slots=True)
class PartReader:
    """What a collection's own part is built from: other parts, read when they are needed.

    Attributes:
        collection: The collection's name.
        documents: Those that have the graphs which it rests on, by id.
        read: Returns a part by its graph's name and the document's id ('' for the collection's
            own), without embeddings. Raises Changed if it was replaced since `documents` were read.
        own: The names of the collection's own parts that exist, of those it rests on or uses.
        decisions: What people decided about all documents of the collection, in order.
    """

    collection: str
    documents: tuple[Entry, ...]
    read: Callable[[str, str], Part]
    own: frozenset[str] = frozenset()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has of the previous version of the same part, made in the same way.

    All is empty at a first build.

    Attributes:
        chunks: Those that it rested on, without embeddings.
        nodes: Its nodes.
        edges: Its edges.
        facts: What its graph counted.
        means: Averages of the facts whose names begin with `mean_`, over other documents' parts
            that were made in the same way: what a dry run can expect.
        gaps: Pieces that were asked for in vain: a build asks for them again.
        kept: What it kept of replies, by keys (`fabula.graph.kept_replies`).
    """

    chunks: tuple[Chunk, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: the content of a part, what it counted, and what no model gave.

    `kept` is what the next build is to know of replies (`BuildWork.kept`).
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)


PieceListener = Callable[[Sequence[Node], Sequence[Edge]], None]
"""Given nodes of a part that is still being made, and edges that begin at them."""


@dataclass(frozen=True, slots=True)
class BuildWork:
    """What a build shares with whoever runs it.

    Attributes:
        gaps: Decides whether a piece without a usable reply may be left out as a gap.
        pieces: Given nodes and edges of the part as soon as they are final, so that they can be
            written while models are asked for the others; each node once, and exactly as the built
            part has it. It returns at once. None: nobody wants them. A build need not give any; one
            whose `Graph.inherits` has types can't, as its nodes' sources are known at the end.
        saved: Counts, by step, the calls that the previous build made unnecessary.
        kept: What the next build is to know, by keys: the replies of models, which `keep_replies`
            takes in, and what the build itself keeps of them.
    """

    gaps: GapLimit = field(default_factory=GapLimit)
    pieces: PieceListener | None = None
    saved: Counter[str] = field(default_factory=Counter)
    kept: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LazyFunction:
    """A function by its import path, `package.module:name`, which is imported when it is called.

    Graphs name their builds and modes so: a question loads the declarations of all graphs, and uses
    no build and few modes.
    """

    path: str

    def __call__(self, *values: Any) -> Any:
        """Call the function."""
        module, _, name = self.path.partition(":")
        return attrgetter(name)(import_module(module))(*values)


def _settings(options: BaseModel, offline: bool) -> Mapping[str, Any]:
    return options.model_dump(mode="json")


def _no_aspects(options: BaseModel) -> Mapping[str, str]:
    return {}


def _no_sentences(facts: Mapping[str, Any]) -> Sequence[str]:
    return ()


def _no_tools() -> tuple[ReadingTool, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class OtherEntities:
    """What a graph knows about an entity in other documents.

    Attributes:
        others: Entities of which it is decided whether they are the same, with the reason.
        namesakes: Entities of the same name, of which nothing is decided.
        lines: Both in words, with the commands that change them.
    """

    others: Sequence[Mapping[str, Any]] = ()
    namesakes: Sequence[Mapping[str, Any]] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Graph(Generic[OptionsType]):
    """A graph as its package declares it.

    Attributes:
        name: Its name, and that of its table of settings.
        about: What it is, for lists.
        version: Is counted up when the method makes something else of the same.
        options: A frozen pydantic model of its settings.
        build: Makes the part of a document, as a generator of requests to models
            (`fabula.graph.builds`). A graph has this or `build_collection`.
        build_collection: Makes the one part of a collection, of what its documents have of the
            graphs that it rests on.
        passages: Labels of its nodes that every mode finds, by vector and by words.
        elements: Labels of all its other nodes. They may have an embedding, too, by which only the
            graph's own modes find them.
        growing: Those of its elements that grow with the text, as an entity does: a reader knows
            of one from the first chunk on that it rests on. Whatever shows such an element has to
            show of it what the chunks up to the reader's place say ($until). Any other node is
            hidden from a reader who has not read all that it rests on.
        restrict: Returns a part as a reader has it who has read only some chunks. It is given the
            part without the nodes that rest on others, in which growing elements are still whole,
            the restricted parts of other graphs, and the ids of the chunks that were read.
        inherits: Types of edges along which a node also rests on what the other node rests on, as
            a report does on all of its community, whatever it cites.
        edges: Types of its relationships. Labels and types are closed lists.
        connects: What each type connects, as the label of the start, the type, and the label of the
            end, which may be of a graph below. The diagrams of the documentation are made from it.
        rests_on: Graphs without which it can't be built; with them it becomes stale.
        uses: Graphs that it uses where they exist; with them it becomes stale, too.
        modes: The modes that it brings, by name.
        prompts: The folder of its prompts.
        cypher: The folder of its statements. Each `check_*.cypher` there is an invariant,
            `find_parents.cypher` finds what is above a passage, and `find_brief.cypher` what whole
            documents are about.
        settings: Returns the settings that the result depends on; its second argument says
            whether there is no chat model.
        not_in_prompts: Settings on which no question to a model depends: if one of them changes,
            what is known of the graph is used again.
        describe: Returns what is worth saying of a part's facts, in sentences.
        warnings: Returns what `fabula check` is to say of them.
        aspects: Returns the aspects by which its passages may be filtered, each with what it is.
        decisions: What people can decide about it; None if nothing.
        follows: The name of a graph whose decisions are part of what it is made from; its own, or
            that of another one; '' for none.
        imports: Whether it is made of the annotations that were imported into a document
            (`BuildText.layers`): with each change of these it becomes stale.
        needs_model: Whether it is built only where there is a chat model.
        reads_edges: Whether its build reads `Known.edges` or `Known.gaps`: without them, what is
            there is read from the store in less time.
        find: Reads what a part of a document found as values that gold annotations can be compared
            with; `fabula bench run gold` builds and measures each graph that has it.
        tools: Returns what a model that reads for itself may call where the graph is built.
        find_others: Returns what it knows about some entities in other documents, by their ids. It
            is given what returns the rows of a statement, the collection, its own settings, what
            has changed since it was built, and rows of the entities.
        title: What a reader of books would call what it holds, such as "People and places"; '' to
            use its name.
    """

    name: str
    about: str
    version: int
    options: type[OptionsType]
    build: (
        Callable[[BuildText, OptionsType, ModelProfile, Known, BuildWork], Build[Built]] | None
    ) = None
    build_collection: (
        Callable[[PartReader, OptionsType, ModelProfile, Known, BuildWork], Build[Built]] | None
    ) = None
    passages: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    growing: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()
    restrict: Callable[[Part, Mapping[str, Part], Set[str]], Part] | None = None
    edges: tuple[str, ...] = ()
    connects: tuple[tuple[str, str, str], ...] = ()
    rests_on: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    modes: Mapping[str, Mode] = field(default_factory=dict)
    prompts: Path | None = None
    cypher: Path | None = None
    settings: Callable[[OptionsType, bool], Mapping[str, Any]] = _settings
    not_in_prompts: frozenset[str] = frozenset()
    describe: Callable[[Mapping[str, Any]], Sequence[str]] = _no_sentences
    warnings: Callable[[Mapping[str, Any]], Sequence[str]] = _no_sentences
    aspects: Callable[[OptionsType], Mapping[str, str]] = _no_aspects
    decisions: DecisionRules | None = None
    follows: str = ""
    title: str = ""
    imports: bool = False
    needs_model: bool = False
    reads_edges: bool = True
    find: Callable[[BuildText, Part], Findings] | None = None
    tools: Callable[[], tuple[ReadingTool, ...]] = _no_tools
    find_others: Callable[..., Mapping[str, OtherEntities]] | None = None

    def prompts_digest(self) -> str:
        """Return 8 hex digits of the texts of all its prompts; '' if it has none."""
        return _digest(self.prompts) if self.prompts else ""


@cache
def _digest(folder: Path) -> str:
    texts = [file.read_bytes() for file in sorted(folder.glob("*.txt"))]
    return hashlib.blake2b(b"\0".join(texts), digest_size=4).hexdigest()
