"""A collection moved from one Neo4j server to another, while questions go on being answered.

The home server's graph records where a collection lives, and how far a move is. Each step can be
run again, so a move that was stopped or killed anywhere is continued by the same command:

1. The home server records where the collection is moved to.
2. The server that it lives on refuses to change it from then on; writers at work are waited for.
3. It is copied in slices, and the copy is compared with it.
4. One transaction at home switches readers and writers to the copy.
5. After a pause, in which every process learns of it, the old copy is removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fabula.errors import FabulaError, NotFound, StoreError
from fabula.models.progress import Progress
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.store import Store, collection_copy
from fabula.store.server_registry import (
    CollectionPlace,
    move_lock,
    read_registry,
    save_place,
)

PAUSE_SECONDS = 40.0
"""How long the old copy stays after the switch. Processes read where collections live every 30
seconds at the latest (`fabula.app.server_pool`), and questions that began before that go on with
the old copy."""
LOCK_SECONDS = 2.0
"""How often it is checked that the lock of the move was not lost."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did.

    Attributes:
        collection: The collection.
        server: The server that it lives on now.
        nodes: How many nodes were copied by this run; a run that was stopped has copied others.
        seconds: How long this run took.

    """

    collection: str
    server: str
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class MoveRun:
    """One run.

    Attributes:
        home: The home server, which knows where collections live.
        store_at: Returns the graph on the server of a name.
        collection: The collection to move.
        server: The name of the server to move it to.
        progress: Told of each node that is copied.
        stop: Once it is set, the run ends with Stopped, and can be continued.
        pause: Seconds between the switch and the removal of the old copy.
        switched: Called after the switch.

    """

    home: Store
    store_at: Callable[[str], Store]
    collection: str
    server: str
    progress: Progress
    stop: Stop = field(default_factory=Stop)
    pause: float = PAUSE_SECONDS
    switched: Callable[[], object] = lambda: None

    def run(self) -> Moved:
        """Move the collection, from wherever another run has left it.

        A move to another server that has not switched yet is given up. To move a collection to the
        server that it lives on gives a move that was stopped up.

        Raises:
            NotFound: There is no such collection or server.
            SpaceError: The collection is being re-embedded.
            StoreError: A server can't be reached, or another process is moving the collection.

        """
        began = time.monotonic()
        self.home.make_schema()
        copied = 0
        with move_lock(self.home, self.collection) as lock:
            self._check_names()
            place = self._place()
            if place.leaving:
                self._leave(place, lambda: lock.check(LOCK_SECONDS))
                place = self._place()
            if place.moving_to and place.moving_to != self.server:
                self._give_up(place)
                place = self._place()
            if place.server != self.server:
                copied = self._copy(place, lambda: lock.check(LOCK_SECONDS))
                # Last of all before the switch: without the lock another run may be at work.
                lock.check()
                place = replace(place, server=self.server, moving_to="", leaving=place.server)
                save_place(self.home, place)
                self.switched()
                self._leave(place, lambda: lock.check(LOCK_SECONDS))
        return Moved(self.collection, self.server, copied, time.monotonic() - began)

    def _check_names(self) -> None:
        registry = read_registry(self.home)
        if self.server != CollectionPlace("").server:
            registry.server(self.server)
        place = registry.place(self.collection)
        if self.collection in registry.places:
            return
        space = self.store_at(place.server).space(self.collection)
        if space is None or not space.has_documents:
            raise NotFound(
                f"There is no collection {self.collection!r} with documents.",
                advice="A new collection is made on another server by `fabula ingest --server`.",
            )

    def _place(self) -> CollectionPlace:
        return read_registry(self.home).place(self.collection)

    def _copy(self, place: CollectionPlace, check: Callable[[], None]) -> int:
        """Copy the collection to the server; return how many nodes that were in this run."""
        source, target = self.store_at(place.server), self.store_at(self.server)
        move = collection_copy.find_move(source, self.collection)
        collection_copy.refuse_occupied(target, self.collection, self.server, move)
        if space := source.space(self.collection):
            collection_copy.refuse_unsettled(space)
        save_place(self.home, replace(place, moving_to=self.server))
        move = collection_copy.close_to_writers(source, self.collection, self.server)
        collection_copy.prepare_target(source, target, self.collection)
        cursor = collection_copy.read_cursor(target, self.collection)
        if cursor and cursor.phase == collection_copy.DONE:
            return 0
        counts = collection_copy.count_nodes(source, self.collection)
        for phase in (collection_copy.NODES, collection_copy.RELATIONSHIPS):
            self.progress.expect(phase, counts["nodes"])
        copied = 0

        def check_all() -> None:
            self.stop.check()
            check()

        def count(phase: str, nodes: int) -> None:
            nonlocal copied
            copied += nodes if phase == collection_copy.NODES else 0
            for _ in range(nodes):
                self.progress.done(phase, Usage())

        try:
            collection_copy.copy_slices(source, target, self.collection, move, check_all, count)
            difference = collection_copy.compare(source, target, self.collection)
        except collection_copy.IncompleteCopy as error:
            difference = str(error).rstrip(".")
        if difference:
            self._give_up(replace(place, moving_to=self.server))
            raise StoreError(
                f"The copy of collection {self.collection!r} is not complete ({difference}): it "
                "was removed, and the collection stays where it was.",
                advice="`fabula check` says whether the collection is in order.",
            )
        collection_copy.finish_copy(source, target, self.collection)
        # `fabula db compact` there may have dropped an index that no collection used until now.
        collection_copy.prepare_target(source, target, self.collection)
        return copied

    def _give_up(self, place: CollectionPlace) -> None:
        """Remove what was copied to another server, and let the collection take changes again."""
        source = self.store_at(place.server)
        if move := collection_copy.find_move(source, self.collection):
            collection_copy.remove_copy(self.store_at(place.moving_to), self.collection, move)
        collection_copy.open_to_writers(source, self.collection)
        save_place(self.home, replace(place, moving_to=""))

    def _leave(self, place: CollectionPlace, check: Callable[[], None]) -> None:
        """Remove the old copy, once every process reads the new one."""
        # At once: it says that the move goes on.
        collection_copy.forget_copy(self.store_at(place.server), self.collection)
        # Before the pause, so that whoever looks on sees what is left to do.
        self.progress.expect("remove", 1)
        until = time.monotonic() + self.pause
        while (left := until - time.monotonic()) > 0:
            self.stop.check()
            check()
            time.sleep(min(left, 0.5))
        collection_copy.remove_old(self.store_at(place.leaving), self.collection, place.server)
        self.progress.done("remove", Usage())
        save_place(self.home, replace(place, leaving=""))


def place_new(home: Store, store_at: Callable[[str], Store], collection: str, server: str) -> None:
    """Have a new collection made on another server.

    The same transaction closes the name at home, so that no other process makes it there.

    Raises:
        NotFound: There is no such server.
        FabulaError: The collection exists, on another server.

    """
    home.make_schema()
    with move_lock(home, collection):
        registry = read_registry(home)
        place = registry.place(collection)
        if place.server == server:
            return
        space = store_at(place.server).space(collection)
        if collection in registry.places or (space and space.has_documents):
            raise FabulaError(
                f"Collection {collection!r} exists already, on server {place.server!r}.",
                advice=f"`fabula collections move {collection} --to {server}` moves it.",
            )
        registry.server(server)
        target = store_at(server)
        collection_copy.refuse_occupied(target, collection, server)
        target.make_schema()
        collection_copy.open_to_writers(target, collection)
        collection_copy.place_name(home, collection, server)
