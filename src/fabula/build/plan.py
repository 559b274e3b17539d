"""The first step of a build: read from the store what has to be made, and from what."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from statistics import fmean
from typing import Any, Literal

from fabula.build.outcome import SilentProgress
from fabula.build.values import CollectionPlan, DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_collection_recipe, make_recipes
from fabula.config.settings import STATIC
from fabula.errors import Changed, LoadError, NotFound
from fabula.graph import CHUNK, TEXT, Owner, Part, Record, fingerprint
from fabula.graph.annotations import AnnotationLayer
from fabula.graph.decisions import Decision
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs as installed_graphs
from fabula.graph.installed import refuse_without_model
from fabula.graph.method import Graph, Known, PartReader
from fabula.graph.parts import chunks_of, document_of, known_of
from fabula.graph.recipes import (
    Recipe,
    collection_decisions,
    complete_documents,
    decisions_by_graph,
    find_stale,
    is_reusable,
    with_bases,
    with_dependents,
    with_relatives,
)
from fabula.models.progress import READ_PREVIOUS, Progress
from fabula.models.usage import Usage
from fabula.store import Store
from fabula.store.annotations import read_digests, read_layers
from fabula.store.decisions import read_decisions
from fabula.store.part_reader import read_part
from fabula.text.document import Chunk, Document, empty_vector
from fabula.text.nouns import count_noun

MAX_SAMPLED_DOCUMENTS = 200
"""How many documents a dry run takes its averages from."""
MEAN = "mean_"
"""How the names of those facts of a part begin that a dry run takes averages of."""


class Outdated(Changed):
    """A text was read to continue a document, which another has changed since."""


@dataclass(frozen=True)
class Planner:
    """Decides what a run has to make in one collection; reads the store and writes nothing.

    Attributes:
        store: The graph.
        models: The models, which know the settings that parts are made from.
        collection: The collection of all documents of the run.
        names: The graphs that were asked for. Those that a document has already are brought up to
            date as well.
        rebuild: Whether everything is made as if it came for the first time.
        strict: Passed on to the plans.
        dry: Whether placeholders stand for the models, whose vectors are others.
        progress: Told how much of what is there was read.
    """

    store: Store
    models: ModelFactory
    collection: str
    names: Collection[str]
    rebuild: bool = False
    strict: bool = False
    dry: bool = False
    progress: Progress = SilentProgress()  # noqa: RUF009  it has no state
    _means: dict[str, Mapping[str, float]] = field(default_factory=dict)
    """What `_estimate_means` has found, by the graphs' names."""
    _means_lock: threading.Lock = field(default_factory=threading.Lock)

    def plan_document(self, document: Document) -> DocumentPlan | Entry:
        """Return what is to be made of a text that was just read.

        Returns:
            The plan, or the document as the store has it where nothing is to be done.

        Raises:
            Changed: Another process replaced the document while it was read.
        """
        entry, current = self.find(document)
        if current is not None:
            return current
        is_same = entry is not None and entry.sha256 == document.sha256
        is_next = entry is not None and entry.appended == document.appended[:-1]
        if document.appended and not (is_same or is_next):
            raise Outdated(f"{document.title} was changed while it was continued: try again.")
        graphs = self._list_graphs(entry)
        names = [TEXT, *(graph.name for graph in graphs)]
        if entry is not None and is_same and not self.rebuild:
            names = self._stale(entry, gaps=True)
        stale_graphs = [graph for graph in graphs if graph.name in names]
        # What is made anew follows all decisions, whatever was in it when they were made.
        parts = entry.graphs if entry else {}
        stay = {name: part for name, part in parts.items() if name not in names}
        decisions = read_decisions(self.store, self.collection)
        followed = decisions_by_graph(graphs, decisions, document.id, stay)
        layers = self._digests(graphs, document.id)
        recipes = make_recipes(
            self.models.settings, document.sha256, graphs, decisions=followed, layers=layers
        )
        status: Literal["added", "replaced"] = "replaced" if entry else "added"
        plan = self._plan(
            entry, stale_graphs, recipes, followed, document, is_new_text=TEXT in names
        )
        return replace(plan, status=status)

    def is_missing(self, entry: Entry, names: Collection[str]) -> bool:
        """Return whether one of these graphs, or of those related to it, is to be built."""
        return bool(self._missing(entry, names)[0])

    def plan_graphs(self, entry: Entry, names: Collection[str]) -> DocumentPlan | Entry:
        """Return what is to be made of these graphs of a document whose text stays as it is.

        Returns:
            The plan, or the document as the store has it now where nothing is to be done.

        Raises:
            Changed: Another process replaced the document while it was read.
            NotFound: The document was removed.
        """
        [entry] = self.store.find_same(self.collection, [entry.id]) or [entry]
        graphs, recipes, followed = self._missing(entry, names)
        if not graphs:
            return entry
        return self._plan(entry, graphs, recipes, followed)

    def plan_collection(self, graph: Graph[Any]) -> CollectionPlan | None:
        """Return what is to be made of a collection's own graph, or None if it is up to date.

        Raises:
            NotFound: Nothing that the graph is made from has been built yet.
            SettingsError: The graph needs a chat model, and there is none.
        """
        if self.models.offline:
            refuse_without_model([graph.name])
        collection_parts = self.store.collection_parts(self.collection)
        entries = complete_documents(graph, self.store.documents(self.collection), collection_parts)
        decisions = collection_decisions(graph, read_decisions(self.store, self.collection))
        recipe = make_collection_recipe(
            self.models.settings, graph, entries, collection_parts, decisions
        )
        record = collection_parts.get(graph.name)
        is_current = record is not None and record.fingerprint == fingerprint(recipe)
        if record and is_current and not (record.gaps or self.rebuild):
            return None
        own = collection_parts.keys() & {*graph.rests_on, *graph.uses}
        read = partial(self._read_unchanged, entries, collection_parts)
        space = self.store.space(self.collection)
        return CollectionPlan(
            status="replaced" if record else "added",
            graph=graph,
            options=self.models.table(graph.name),
            recipe=recipe,
            reader=PartReader(self.collection, entries, read, frozenset(own), tuple(decisions)),
            known=self._known_of_collection(graph, record, recipe),
            dimensions=space.dimensions if space else 1,
            strict=self.strict,
        )

    # What is stale

    def keep_appended(self, document: Document, entry: Entry) -> Document:
        """Return what a file stands for whose document was continued: the whole of its text.

        Raises:
            LoadError: The file has changed, so that what was appended goes on from another text.
        """
        chunks = chunks_of(self._read(entry, TEXT))
        known = document_of(entry, chunks, self.store.structure(entry))
        if known.text.startswith(document.text):
            return replace(known, metadata={**known.metadata, **document.metadata})
        if document.text.startswith(known.text):
            return document
        raise LoadError(
            f"{document.source} has changed, and its document was continued with "
            f"{count_noun(len(entry.appended), 'other text')}, the last of them "
            f"{entry.appended[-1]}: remove the document, and add all of them again."
        )

    def find(self, document: Document) -> tuple[Entry | None, Entry | None]:
        """Return the document as the store has it, and the one that is up to date with its text."""
        entries = self.store.find_same(self.collection, [document.id], [document.sha256])
        same_id = next((entry for entry in entries if entry.id == document.id), None)
        for entry in [same_id] if same_id else entries:
            # Another file with the same text does not come in beside it for its gaps.
            is_same = entry.sha256 == document.sha256
            if is_same and not self._stale(entry, gaps=same_id is not None):
                return same_id, entry
        return same_id, None

    def _list_graphs(self, entry: Entry | None) -> list[Graph[Any]]:
        """Return those graphs asked for, those the document has, and what they rest on."""
        installed = installed_graphs()
        existing = [name for name in (entry.graphs if entry else ()) if name in installed]
        return with_bases(installed, {*self.names, *existing})

    def _stale(self, entry: Entry, *, gaps: bool) -> list[str]:
        if self.rebuild:
            return [TEXT]
        graphs = self._list_graphs(entry)
        decisions = read_decisions(self.store, self.collection)
        followed = decisions_by_graph(graphs, decisions, entry.id, entry.graphs)
        layers = self._digests(graphs, entry.id)
        recipes = make_recipes(
            self.models.settings, entry.sha256, graphs, decisions=followed, layers=layers
        )
        return find_stale(graphs, entry, recipes, gaps=gaps)

    def _missing(
        self, entry: Entry, names: Collection[str]
    ) -> tuple[list[Graph[Any]], Mapping[str, Recipe], Mapping[str, Sequence[Decision]]]:
        """Return the graphs to build, the recipes of all, and the decisions that each follows."""
        graphs_by_name = {graph.name: graph for graph in self._list_graphs(entry)}
        base = entry.graphs[TEXT].made_from
        decisions = read_decisions(self.store, self.collection)
        every = [*graphs_by_name.values()]
        followed = decisions_by_graph(every, decisions, entry.id, entry.graphs)
        layers = self._digests(every, entry.id)
        make = partial(
            make_recipes, self.models.settings, entry.sha256, every, base=base, layers=layers
        )
        recipes = make(decisions=followed)
        # What these rest on or use has to be as the recipes say, too.
        related = with_relatives(graphs_by_name, names)
        candidates = [graph for name, graph in graphs_by_name.items() if name in related]
        missing = set(find_stale(candidates, entry, recipes))
        if self.rebuild:
            missing |= with_dependents(graphs_by_name, names)
        graphs = [graph for name, graph in graphs_by_name.items() if name in missing]
        if graphs and decisions:
            # What is made anew follows all decisions, whatever was in it when they were made.
            stay = {name: part for name, part in entry.graphs.items() if name not in missing}
            followed = decisions_by_graph(every, decisions, entry.id, stay)
            recipes = make(decisions=followed)
        return graphs, recipes, followed

    def _digests(self, graphs: Sequence[Graph[Any]], document: str) -> Mapping[str, str]:
        """Return the digests of a document's layers of annotations, if a graph is made of them."""
        if not any(graph.imports for graph in graphs):
            return {}
        return read_digests(self.store, self.collection, document)

    # What the store has

    def _plan(
        self,
        entry: Entry | None,
        graphs: Sequence[Graph[Any]],
        recipes: Mapping[str, Recipe],
        decisions: Mapping[str, Sequence[Decision]],
        document: Document | None = None,
        *,
        is_new_text: bool = False,
    ) -> DocumentPlan:
        """Read all that these graphs are built from; without a document, it is the store's."""
        if self.models.offline:
            refuse_without_model(graph.name for graph in graphs)
        if is_new_text:
            part = self._read_previous(entry, TEXT, recipes[TEXT])
        else:
            part = self._read(entry, TEXT)
        chunks = chunks_of(part) if part else ()
        if document is None:
            assert entry is not None
            document = document_of(entry, chunks, self.store.structure(entry))
        bare = tuple(replace(chunk, embedding=empty_vector()) for chunk in chunks)
        names = {graph.name for graph in graphs}
        existing = {*names, *(entry.graphs if entry else ())}
        plans: list[GraphPlan] = []
        for graph in graphs:
            below = (*graph.rests_on, *(name for name in graph.uses if name in existing))
            known = self._known(entry, graph, recipes[graph.name], bare)
            options = self.models.table(graph.name)
            followed = tuple(decisions.get(graph.name, ()))
            recipe = recipes[graph.name]
            layers = self._layers(graph, document.id, recipe)
            plans.append(GraphPlan(graph.name, options, recipe, below, known, followed, layers))
        unchanged = {name for plan in plans for name in plan.below} - names
        is_added = not (entry and any(name in entry.graphs for name in names))
        return DocumentPlan(
            status="added" if is_added else "replaced",
            document=document,
            text_recipe=recipes[TEXT] if is_new_text else None,
            chunks=chunks,
            graphs=tuple(plans),
            unchanged={name: self._read(entry, name) for name in sorted(unchanged)},
            strict=self.strict,
        )

    def _layers(
        self, graph: Graph[Any], document: str, recipe: Recipe
    ) -> tuple[AnnotationLayer, ...]:
        """Return a document's layers of annotations, as the recipe of a graph names them."""
        if not graph.imports:
            return ()
        layers = tuple(read_layers(self.store, self.collection, document))
        if {layer.name: layer.record.digest for layer in layers} != recipe["annotations"]:
            raise Changed("Annotations were added or removed meanwhile: try again.")
        return layers

    def _read(
        self, entry: Entry | None, name: str, *, replies: bool = False, edges: bool = True
    ) -> Part:
        """Read a document's part; in a dry run its vectors are replaced by placeholders."""
        assert entry is not None
        owner = Owner(self.collection, name, entry.id)
        part = read_part(
            self.store,
            owner,
            embeddings=True,
            replies=replies,
            edges=edges,
            report=self._report_read,
        )
        if not self.dry:
            return part
        # A chunk whose vector is lost is embedded by a run before it builds.
        lost = {node.id for node in part.nodes if node.embedding is None and node.label == CHUNK}
        if self.models.settings.embedding_model == STATIC and not lost:
            return part
        # A dry run embeds by static vectors, which can't be compared with a model's.
        texts = [str(node.properties.get("text", "")).strip() or "-" for node in part.nodes]
        vectors = self.models.static.embed(texts).vectors
        nodes = tuple(
            node if node.embedding is None and node.id not in lost else replace(node, embedding=row)
            for node, row in zip(part.nodes, vectors, strict=True)
        )
        return replace(part, nodes=nodes)

    def _report_read(self, read: int, nodes: int) -> None:
        self.models.stop.check()
        if not read:
            self.progress.expect(READ_PREVIOUS, nodes)
        for _ in range(read):
            self.progress.done(READ_PREVIOUS, Usage())

    def _read_previous(self, entry: Entry | None, name: str, recipe: Recipe) -> Part | None:
        """Read a part that was made in the same way as it would be made now, if there is one."""
        record = entry.graphs.get(name) if entry else None
        if record is None or self.rebuild or not is_reusable(record.made_from, recipe):
            return None
        try:
            edges = name != TEXT and installed_graphs()[name].reads_edges
            return self._read(entry, name, replies=True, edges=edges)
        except (NotFound, Changed):  # removed or replaced a moment ago
            return None

    def _known(
        self, entry: Entry | None, graph: Graph[Any], recipe: Recipe, chunks: tuple[Chunk, ...]
    ) -> Known:
        means = self._estimate_means(recipe) if self.dry else {}
        part = self._read_previous(entry, graph.name, recipe)
        return Known(means=means) if part is None else known_of(part, chunks, means)

    def _known_of_collection(
        self, graph: Graph[Any], record: Record | None, recipe: Recipe
    ) -> Known:
        """Return what the collection's own part was, if it was made in the same way."""
        if record is None or self.rebuild or not is_reusable(record.made_from, recipe):
            return Known()
        try:
            owner = Owner(self.collection, graph.name)
            part = read_part(self.store, owner, embeddings=not self.dry, replies=True)
            return known_of(part, (), {})
        except (NotFound, Changed):  # dropped or replaced a moment ago
            return Known()

    def _read_unchanged(
        self,
        entries: Sequence[Entry],
        collection_parts: Mapping[str, Record],
        name: str,
        document: str,
    ) -> Part:
        """Read a part that another is made from. Raises Changed if it is a newer version."""
        records = next(
            (entry.graphs for entry in entries if entry.id == document), collection_parts
        )
        part = read_part(self.store, Owner(self.collection, name, document))
        if part.record != records[name]:
            raise Changed("A document was changed while this was built: try again.")
        return part

    def _estimate_means(self, recipe: Recipe) -> Mapping[str, float]:
        """Average the facts whose names begin with `mean_` over parts made in the same way."""
        name = str(recipe["graph"])
        with self._means_lock:
            if name not in self._means:
                values: dict[str, list[float]] = {}
                for entry in islice(self.store.documents(self.collection), MAX_SAMPLED_DOCUMENTS):
                    record = entry.graphs.get(name)
                    if record is None or not is_reusable(record.made_from, recipe):
                        continue
                    for fact, value in record.facts.items():
                        if fact.startswith(MEAN):
                            values.setdefault(fact, []).append(float(value))
                self._means[name] = {fact: fmean(numbers) for fact, numbers in values.items()}
            return self._means[name]
