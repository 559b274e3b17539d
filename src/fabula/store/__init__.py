"""The graph in Neo4j: one method per question that is asked of it."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import neo4j
from neo4j.exceptions import Neo4jError

from fabula.errors import StoreError, TooLarge
from fabula.graph import TEXT, Gap, Owner, Part, Record
from fabula.graph.entries import Entry, Layer
from fabula.graph.hits import Filters, Hit
from fabula.graph.queries import over, query
from fabula.store import migration, schema
from fabula.store.database import A_QUERY, Database
from fabula.store.kept import Kept, Made, Usage
from fabula.store.parts import (
    broken_off,
    lock,
    lock_collection,
    refuse_broken,
    refuse_long,
    searchable,
    stage,
    switch,
)
from fabula.store.rows import bounds, entry, gap, made_space, record, unwired, wire
from fabula.store.space import (
    Space,
    other_space,
    refuse_collection,
    refuse_dimensions,
    refuse_other_model,
    refuse_reembedding,
)
from fabula.store.turns import Turn, turn
from fabula.store.wording import MEMORY_ADVICE, is_out_of_memory, out_of_memory
from fabula.text.document import Vector

LOG = logging.getLogger("fabula")
LEAST_DEPTH = 50
"""How many the vector index is asked for. With 434 readers' questions on 38 books and stories, 98 %
of the true best 5 were among 10, and 86 % within one book; among 50, 99.9 % and 98 %."""
ELEMENTS = "element_vectors_256"
"""The index that statements over elements name."""
MOST_CHARACTERS = 1000
"""Of a question's words that are looked up."""
PAGE = 500
"""Documents that are read at once."""
KEPT_BYTES = 256 << 20
"""Memory for what modes make of whole graphs: networks, terms, reports. Those of a book as long as
*War and Peace* take 11 MB, so all of 23 such books stay, and thousands of stories."""
SHORTEST_ID = 4
"""Characters of an id that are enough to name a document by."""


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that a node rests on: where in its document's text it stands, and what it says."""

    chunk: str
    document: str
    section: str
    start: int
    end: int
    text: str


class Store(Database):
    """A graph in one Neo4j database; safe to share between threads.

    Raises StoreError for all that the server refuses or can't do, in words for a person.
    """

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        super().__init__(driver, database)
        self._making = threading.Lock()
        self._has_schema = False
        self._preparing = threading.Lock()
        self._spaces: dict[str, Space] = {}
        """As they were when they were last read: `found` reads them again where that is too old."""
        self._kept = Kept(KEPT_BYTES)
        self.check_room: Callable[[], None] = lambda: None
        """Raises an error where the server's disk has too little room for more to be written. It
        does nothing unless whoever made the store knows that disk."""

    def follow(self, other: Self) -> None:
        """Take over another store's connections, and close those that were used until now."""
        super().follow(other)
        self._has_schema = False

    # What is there

    def space(self, collection: str) -> Space | None:
        """The embedding space of a collection, or None where nothing was ever written to it."""
        space = made_space(self.rows("core/find_space", collection=collection))
        with self._preparing:
            if space is None:
                self._spaces.pop(collection, None)
            else:
                self._spaces[collection] = space
        return space

    def collections(self) -> list[str]:
        """Return the names of the collections that hold documents, in order."""
        return [row["name"] for row in self.rows("core/find_collections")]

    def documents(
        self, collection: str, page_size: int = PAGE, after: tuple[str, str] = ("", "")
    ) -> Iterator[Entry]:
        """All documents of a collection by title, read page by page.

        Those after one, if its title, case folded, and its id are given.
        """
        title, after_id = after
        while page := self.rows(
            "core/find_documents",
            collection=collection,
            after_title=title,
            after=after_id,
            limit=page_size,
        ):
            yield from map(entry, page)
            title, after_id = page[-1]["title_key"], page[-1]["document"]["id"]

    def count(self, collection: str) -> tuple[int, int]:
        """How many documents a collection has, and how many all collections have together."""
        [row] = self.rows("core/count_documents", collection=collection)
        return row["documents"], row["all"]

    def latest(self) -> str:
        """The collection whose document was written last; '' where there is no document."""
        rows = self.rows("core/find_latest")
        return str(rows[0]["collection"]) if rows else ""

    def passages(self) -> int:
        """How many passages all collections have together."""
        [row] = self.rows("core/count_checked", collection="", document="")
        return int(row["passages"])

    def named(
        self,
        collection: str,
        name: str,
        limit: int,
        *,
        whole: bool = False,
        sources: Sequence[str] = (),
    ) -> list[Entry]:
        """The documents that a name fits best, at most `limit` or a few more.

        An id or the beginning of one, where it comes from, its title, the name of its file with or
        without its ending; and, but with `whole`, a part of its title. `sources` are further
        places that the name may mean, as the whole path of a file.
        """
        key = name.casefold()
        asked = {
            "collection": collection,
            "id": name.lower() if len(name) >= SHORTEST_ID else "",
            "sources": [name, *sources],
            "key": key,
            "part": "" if whole else key.strip() and key,
            "limit": limit,
        }
        rows = self.rows("core/find_named", **asked)
        if not rows:
            wait = partial(lock_collection, collection=collection)
            rows = self._between_switches(wait, "core/find_named", asked)
        best = [row for row in rows if row["rank"] == rows[0]["rank"]]
        return [entry(row) for row in best]

    def same(
        self, collection: str, ids: Sequence[str] = (), sha256: Sequence[str] = ()
    ) -> list[Entry]:
        """The documents of a collection with one of these ids, or one of these texts."""
        asked = {"collection": collection, "ids": list(ids), "sha256": list(sha256)}
        return [entry(row) for row in self.rows("core/find_same", **asked)]

    def _between_switches(
        self, wait: Callable[[neo4j.Transaction], None], name: str, asked: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Asks again, while no switch is under way, for what was not found.

        A server reads what is committed at each step of a statement, not one moment's state: in
        the midst of a switch's commit neither the old nodes may be found nor the new ones.
        """
        with self.session() as session, session.begin_transaction() as transaction:
            wait(transaction)
            rows = transaction.run(query(name), dict(asked)).data()
            transaction.rollback()
        return rows

    def layers(self, collection: str, document: str) -> list[Layer]:
        """How many passages a document has, by kind, aspect and level."""
        asked = {"collection": collection, "document": document}
        return [Layer(**row) for row in self.rows("core/count_passages", **asked)]

    def gaps(self, collection: str, document: str) -> dict[str, list[Gap]]:
        """The gaps of a document, in text order, by the names of the graphs that have some."""
        found: dict[str, list[Gap]] = {}
        for row in self.rows("core/find_gaps", collection=collection, document=document):
            found.setdefault(row["graph"], []).append(gap(row))
        return found

    def record(self, owner: Owner) -> Record | None:
        """What a part was made from and cost, or None where there is none."""
        if not owner.document:
            return self.settled(owner.collection).get(owner.graph)
        asked = {"collection": owner.collection, "ids": [owner.document], "sha256": []}
        found = _record(self.rows("core/find_same", **asked), owner.graph)
        if found is None:
            wait = partial(lock, owners=[owner])
            rows = self._between_switches(wait, "core/find_same", asked)
            found = _record(rows, owner.graph)
        return found

    def settled(self, collection: str) -> dict[str, Record]:
        """What the parts of a collection itself were made from and cost, by their graphs' names."""
        rows = self.rows("core/find_settled", collection=collection)
        return {row["part"]["graph"]: record(row["part"]) for row in rows}

    def broken_off(self) -> list[str]:
        """The names of runs whose writers are gone, and that have left something staged."""
        with self.session() as session:
            return broken_off(session)

    # Retrieval

    def nearest(self, vector: Vector, limit: int, filters: Filters, model: str) -> list[Hit]:
        """The `limit` passages of highest cosine with `vector`, best first; one round trip.

        Raises SpaceError where the collection's embeddings are not of the `model` of the vector.
        """
        asked = {"limit": limit, "depth": max(2 * limit, LEAST_DEPTH)} | bounds(filters)
        name = "core/find_nearest_filtered"
        if filters == Filters(filters.collection, filters.document):
            name = "core/find_nearest_in_document" if filters.document else "core/find_nearest"
            asked["document"] = filters.document
        rows = self.found(query(name), vector, filters, model, **asked)
        return [Hit(**row) for row in rows]

    def nearest_elements(
        self, vector: Vector, limit: int, filters: Filters, model: str, kinds: Sequence[str] = ()
    ) -> list[Hit]:
        """The `limit` elements of highest cosine with `vector`, best first; one round trip.

        Of these `kinds`, whatever the filters say of kinds; of all that have an embedding where
        there are none. Raises SpaceError as `nearest` does.
        """
        asked = {"limit": limit, "depth": max(2 * limit, LEAST_DEPTH), "kinds": list(kinds)}
        statement = query("core/find_nearest_elements")
        return [Hit(**row) for row in self.found(statement, vector, filters, model, **asked)]

    def found(
        self, statement: str, vector: Vector, filters: Filters, model: str, **asked: Any
    ) -> list[dict[str, Any]]:
        """What a statement over a collection's embeddings finds, whichever slot they are in.

        It is given the filters, the `vector` and what embedded it, and finds nothing where the
        collection's space is another, or a statement is over elements and none is embedded. Raises
        SpaceError where the space is of another model.

        A statement that asks the index for $depth nodes is asked again with more where fewer than
        $limit of them were visible. Where it returns a row for something else than each of these
        nodes, its column `nearest` tells how many they were.
        """
        collection = filters.collection
        space = self._spaces.get(collection)
        of_elements = ELEMENTS in statement
        if space is None or space.model != model or (of_elements and not space.element_kinds):
            space = self.space(collection)
        while space:
            refuse_other_model(space, model)
            if of_elements and not space.element_kinds:  # there is no index to ask
                return []
            given = bounds(filters) | {"vector": wire(vector), "model": model, "slot": space.slot}
            given |= {"embedding": space.embedding, **asked}
            rows: list[dict[str, Any]] = []
            trouble = None
            try:
                rows = self._nearest(over(statement, space.dimensions, space.slot), given)
            except StoreError as error:  # its index may just have been given up for another
                trouble = error
            now = space if rows else self.space(collection)
            if now is None or (now.kind, now.slot) == (space.kind, space.slot):
                if trouble:
                    raise trouble
                for row in rows:
                    row.pop("nearest", None)
                return rows
            space = now
        return []

    def _nearest(self, statement: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a statement over a vector index, which it asks for `depth` nodes.

        The index also holds staged and replaced nodes, which the statement leaves out. Where these
        took the places of others, the index is asked again for more.
        """
        rows = self._send(statement, A_QUERY, given, is_reading=True)
        depth = given.get("depth", 0)
        wanted = min(given.get("limit", depth), depth)
        if _count_nearest(rows) >= wanted:
            return rows
        [hidden] = self.rows("core/count_hidden")
        enough = depth + hidden["nodes"]
        while _count_nearest(rows) < wanted and depth < enough:
            depth = min(4 * depth, enough)
            rows = self._send(statement, A_QUERY, {**given, "depth": depth}, is_reading=True)
        return rows

    def near_or_alike(
        self, vector: Vector, question: str, limit: int, filters: Filters, model: str
    ) -> tuple[list[Hit], list[Hit]]:
        """The `limit` passages of highest cosine with `vector`, and those that share most with the
        question's words (BM25); each best first, in one round trip.

        Raises SpaceError where the collection's embeddings are not of the `model` of the vector.
        """
        # The parser refuses more than 1024 terms, and no term is shorter than a character.
        words = " ".join(re.findall(r"\w+", question.lower()))[:MOST_CHARACTERS]
        if not words:
            return self.nearest(vector, limit, filters, model), []
        asked = {"limit": limit, "depth": max(2 * limit, LEAST_DEPTH), "words": words}
        name = "core/find_near_or_alike"
        if filters != Filters(filters.collection):
            name = "core/find_near_or_alike_filtered"
        rows = self.found(query(name), vector, filters, model, **asked)
        return _ranking(rows, "near"), _ranking(rows, "alike")

    def read(self, statement: str, filters: Filters, **asked: Any) -> list[dict[str, Any]]:
        """What a statement over no embeddings finds; it is given the filters."""
        return self._send(statement, A_QUERY, {**bounds(filters), **asked}, is_reading=True)

    def keep(
        self,
        name: str,
        collection: str,
        document: str,
        graphs: Sequence[str],
        make: Callable[[], Made],
        uses: Sequence[str] = (),
    ) -> Made | None:
        """What `make` makes of graphs of a collection, or of one document: again once they change.

        It is kept by that `name`. None where there is no part of one of the `graphs`; those that it
        `uses` may be missing.
        """
        asked = {"collection": collection, "document": document, "graphs": [*graphs, *uses]}
        rows = self.rows("core/find_versions", **asked)
        key = (name, collection, document)
        if not {row["graph"] for row in rows}.issuperset(graphs):
            self._kept.forget(key)
            return None
        version = tuple(tuple(row.values()) for row in rows)
        return self._kept.get(key, version, make)

    def kept(self) -> Usage:
        """How much is kept in memory by `keep`, and how often it was of use."""
        return self._kept.usage()

    def collection_version(self, collection: str, graphs: Sequence[str]) -> str:
        """Return a digest that changes whenever a part of one of these graphs of a collection comes
        in, is replaced or goes.
        """
        rows = self.rows("core/find_versions", collection=collection, document="", graphs=graphs)
        told = repr([tuple(row.values()) for row in rows])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def count_parts(self, collection: str, document: str, graphs: Sequence[str]) -> dict[str, int]:
        """How many parts of some graphs there are, of a collection or of one document; no 0."""
        asked = {"collection": collection, "document": document, "graphs": list(graphs)}
        return {row["graph"]: row["parts"] for row in self.rows("core/find_versions", **asked)}

    def related(
        self, statement: str, collection: str, passages: Sequence[str]
    ) -> dict[str, list[Hit]]:
        """What a statement finds above or beside some passages, by the passages' ids."""
        found: dict[str, list[Hit]] = {}
        asked = {"collection": collection, "passages": list(passages)}
        for row in self._send(statement, A_QUERY, asked, is_reading=True):
            found.setdefault(row.pop("of"), []).append(Hit(**row))
        return found

    def vectors(self, collection: str, nodes: Sequence[str]) -> dict[str, Vector]:
        """The embeddings of some nodes, by their ids: float32, shape (dimensions,), length 1."""
        space = self.space(collection)
        if space is None:
            return {}
        asked = {"embedding": space.embedding, "dimensions": space.dimensions}
        rows = self.rows("core/find_vectors", collection=collection, nodes=list(nodes), **asked)
        return {row["id"]: unwired(row["vector"]) for row in rows}

    def sources(self, collection: str, nodes: Sequence[str]) -> dict[str, list[Source]]:
        """The chunks that nodes rest on, in text order, by the nodes' ids."""
        found: dict[str, list[Source]] = {}
        for row in self.rows("core/find_sources", collection=collection, nodes=list(nodes)):
            found.setdefault(row.pop("id"), []).append(Source(**row))
        return found

    def text(self, document: Entry, first: int, last: int) -> list[dict[str, Any]]:
        """The chunks that hold any character from `first` to before `last`, in text order."""
        asked = {"collection": document.collection, "document": document.id}
        return self.rows("core/find_text", **asked, first=first, last=last)

    def texts(self, document: Entry, spans: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
        """Return the chunks that hold any character of any span, in text order, each once."""
        asked = {"collection": document.collection, "document": document.id}
        return self.rows("core/find_texts", **asked, spans=[list(span) for span in spans])

    def place(self, document: Entry, at: str, index: int) -> Hit | None:
        """The passage of that id, the chunk of that `index` if it is not -1, or the first chunk of
        a section that `at` is the heading of, or a part of it.
        """
        asked = {"collection": document.collection, "document": document.id}
        rows = self.rows("core/find_place", **asked, at=at.lower(), index=index)
        return Hit(**rows[0]) if rows else None

    def said(self, document: Entry, chunks: Sequence[str], limit: int) -> list[Hit]:
        """What graphs say of some chunks of a document, the closest of it."""
        asked = {"collection": document.collection, "document": document.id}
        rows = self.rows("core/find_said", **asked, passages=list(chunks), limit=limit)
        return [Hit(**row) for row in rows]

    # Writing

    def make_schema(self) -> None:
        """Makes what the graph is kept by, and sweeps up what a crash has left, once.

        Raises StoreError for a graph of another version of Fabula.
        """
        with self._making:
            if not self._has_schema:
                migration.record(self)
                schema.make(self)
                self._sweep()
                self._has_schema = True

    def prepare(self, collection: str, model: str, dimensions: int) -> Space:
        """Makes a collection ready for embeddings of `model`; what is ready already stays.

        One without documents takes any model. Raises SpaceError where they have another's.
        """
        refuse_dimensions(model, dimensions)
        self.check_room()
        self.make_schema()
        space = self.space(collection)
        if space is None:
            refuse_collection(collection)
        if space is None or (space.kind != (model, dimensions) and not space.documents):
            wanted = {"collection": collection, "model": model, "dimensions": dimensions}

            def take(transaction: neo4j.ManagedTransaction) -> None:
                # A document of another model may just be coming in.
                lock_collection(transaction, collection)
                transaction.run(query("core/save_space"), wanted).consume()

            with self.session() as session:
                session.execute_write(take)
            space = self.space(collection)
        assert space is not None
        refuse_reembedding(space)
        refuse_other_model(space, model)
        if space.dimensions != dimensions:
            raise other_space(space, f"{dimensions} dimensions of {model}", model)
        with self._making:
            schema.make_vectors(self, space.dimensions, space.slot)
            schema.wait(self, schema.TEXTS, space.index)
        self._sweep()
        return space

    def apply(
        self,
        parts: Sequence[Part],
        model: str,
        written: Callable[[int], None] = lambda count: None,
        held: Turn | None = None,
    ) -> None:
        """Puts parts, all of one collection, in the place of what their owners had: all or nothing.

        Their nodes are staged in slices where no reader sees them, `written` being told how many
        that have embeddings; the indexes of vectors and words take them in then, slice by slice.
        One transaction, which changes labels alone, switches the old ones out and the new ones in.
        What is left of the old ones is swept afterwards, and what a crash leaves, by the next run.
        The collection was prepared for the `model` of their embeddings. Raises StoreError where
        the turn that is `held` for the documents was lost.
        """
        [collection] = {part.owner.collection for part in parts}
        space = self.space(collection)
        if space is None:
            raise StoreError(f"Collection {collection!r} is not there any more: run it again.")
        refuse_other_model(space, model)
        refuse_broken(parts, space)
        self.check_room()
        run = uuid.uuid4().hex

        def staged(count: int) -> None:
            written(count)
            self.check_room()

        found_by = searchable(parts)
        if found_by["element_kinds"]:
            with self._making:
                schema.make_vectors(self, space.dimensions, space.slot, "element")
                schema.wait(self, space.element_index)
        # Its turn tells others that what it stages is not to be swept.
        with turn(self, [run]) as own, self.session() as session:
            out = stage(session, run, parts, space, staged)
            # Before, as whoever finds nothing of a new aspect is right, and in a transaction of its
            # own, so that no two writers wait for each other's switch.
            session.execute_write(
                lambda transaction: transaction.run(
                    query("core/save_searchable"), found_by | {"collection": collection}
                ).consume()
            )

            def switched(transaction: neo4j.ManagedTransaction) -> None:
                switch(transaction, run, parts, out, space)
                # Last: where the server was restarted, others may have had these turns since.
                for one in filter(None, (own, held)):
                    one.check()

            try:
                session.execute_write(switched)
            except Neo4jError as error:
                if is_out_of_memory(error):
                    raise TooLarge(
                        f"{out_of_memory('Switching this document in')}.",
                        advice=f"{MEMORY_ADVICE}.",
                    ) from error
                raise
        self._sweep()

    def drop(self, owners: Sequence[Owner]) -> int:
        """Takes parts out of the graph, at once; how many of them there were.

        With a document's part goes what parts of the collection itself tell of it.
        """

        def take_out(transaction: neo4j.ManagedTransaction) -> int:
            lock(transaction, [*owners, *map(_whole, owners)])
            gone = 0
            for owner in owners:
                if owner.document:
                    transaction.run(query("core/switch_out_settled"), owner._asdict()).consume()
                [row] = transaction.run(query("core/switch_out"), owner._asdict())
                gone += row["nodes"] > 0
            return gone

        with self.session() as session:
            gone: int = session.execute_write(take_out)
        self._sweep()
        return gone

    def remove(self, collection: str, document: str) -> None:
        """Takes a document and all its graphs out, at once; a replacement comes before or after.

        With it goes what parts of the collection itself tell of it, and with the last one those.
        """
        owner = Owner(collection, TEXT, document)

        def take_out(transaction: neo4j.ManagedTransaction) -> None:
            lock(transaction, [owner, _whole(owner)])
            asked = {"collection": collection, "document": document}
            transaction.run(query("core/switch_out_settled"), asked, graph="").consume()
            transaction.run(query("core/switch_out_document"), asked).consume()
            space = made_space(transaction.run(query("core/find_space"), asked).data())
            if space is None or not space.documents:
                for row in transaction.run(query("core/find_settled"), asked).data():
                    own = Owner(collection, row["part"]["graph"])
                    transaction.run(query("core/switch_out"), own._asdict()).consume()

        with self.session() as session:
            session.execute_write(take_out)
        self._sweep()

    def describe(self, document: Entry, title: str, author: str) -> bool:
        """Gives a document another title and author; whether it was there.

        A run that takes in its file with another text gives it those of the file again.
        """
        owner = Owner(document.collection, TEXT, document.id)
        refuse_long(title)
        refuse_long(author)

        def take(transaction: neo4j.ManagedTransaction) -> bool:
            # One that is just being replaced must not be changed on its way out.
            lock(transaction, [owner])
            asked = {"collection": owner.collection, "document": owner.document}
            told = {"title": title, "title_key": title.casefold(), "author": author}
            [row] = transaction.run(query("core/save_description"), asked | told)
            return bool(row["documents"])

        with self.session() as session:
            was_there: bool = session.execute_write(take)
        return was_there

    def _sweep(self) -> None:
        """Clear what switches leave behind: marks of staging, replaced nodes, and what was staged
        and never switched in.

        The graph is right without it: where it fails, the next sweep does it.
        """
        try:
            with self.session() as session:
                ended = {"runs": broken_off(session)}
                session.run(query("core/clear_staging"), ended).consume()
                session.run(query("core/clear_retired")).consume()
                session.run(query("core/clear_staged"), ended).consume()
        except StoreError as error:
            LOG.warning("What was replaced is not deleted yet; the next run will. %s", error)


def _whole(owner: Owner) -> Owner:
    """Whose lock keeps parts of the collection itself from coming in meanwhile."""
    return owner._replace(document="")


def _record(rows: Sequence[Mapping[str, Any]], graph: str) -> Record | None:
    """That of a graph, of the one document that was found, if it was."""
    return entry(rows[0]).graphs.get(graph) if rows else None


def _count_nearest(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how many visible nodes a vector index gave a statement."""
    if rows and "nearest" in rows[0]:
        return int(rows[0]["nearest"])
    if rows and "near" in rows[0]:
        return sum(row["near"] is not None for row in rows)
    return len(rows)


def _ranking(rows: Sequence[Mapping[str, Any]], score: str) -> list[Hit]:
    """The passages that have a score by that name, best first."""
    place = [name for name in (rows[0] if rows else ()) if name not in ("near", "alike")]
    hits = [
        Hit(**{name: row[name] for name in place}, score=row[score])
        for row in rows
        if row[score] is not None
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))
