"""How long it takes to find a document by the name that a person calls it, among 20,000.

The documents' titles are of three words and a number, and each has one chunk. Every name is asked
for once, through `Collection.document`, after as many others to warm up.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path, PurePath

from fabula import Collection, Fabula
from fabula.errors import NotFound
from fabula.graph import Part
from fabula.server import Address
from fabula_bench.speed.documents import documents, prepare
from fabula_bench.speed.graphs import offline
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import running
from fabula_bench.speed.startup import seconds

DOCUMENTS = 20_000
TOGETHER = 500
"""Documents that are written in one go."""
NAMES = 200
"""Asked for of each sort, and as many before them."""
MILLISECONDS = 20.0
LIBRARY = "library"


def measure(books: Path | None, count: int = DOCUMENTS) -> list[Figure]:
    """Milliseconds to find a document, by what it is called by."""
    with running() as address, _collection(address) as collection:
        writing = seconds(partial(_write, collection, count))
        drawn = random.Random(0).sample(range(count), 2 * NAMES)
        named = [next(documents(LIBRARY, range(number, number + 1), 1)) for number in drawn]
        titles = [str(part.nodes[0].properties["title"]) for part in named]
        sorts = {
            "id": [part.owner.document for part in named],
            "exact title": titles,
            "file name": [PurePath(part.nodes[0].properties["source"]).name for part in named],
            "a part of a title": [_part(title) for title in titles],
            "a name that isn't there": [f"No {title}" for title in titles],
        }
        return [
            Figure(f"{count:,} documents: written in", writing),
            *(
                figure
                for sort, names in sorts.items()
                for figure in _figures(f"{count:,} documents, by {sort}", collection, names)
            ),
        ]


def _collection(address: Address) -> Fabula:
    return Fabula(
        offline(
            neo4j_uri=address.uri,
            neo4j_username=address.username,
            neo4j_password=address.password,
            collection=LIBRARY,
        )
    )


def _write(collection: Collection, count: int) -> None:
    prepare(collection.store, LIBRARY)
    made = documents(LIBRARY, range(count), 1)
    while parts := list(islice(made, TOGETHER)):
        _apply(collection, parts)


def _apply(collection: Collection, parts: Sequence[Part]) -> None:
    made_from = parts[0].record.made_from
    collection.store.apply(parts, made_from["models"]["embedding_model"])


def _part(title: str) -> str:
    """The middle of a title, which no other has: 'dow Winter Number 17'."""
    return title[len(title) // 3 :].strip()


def _figures(what: str, collection: Collection, names: Sequence[str]) -> list[Figure]:
    ask = partial(_find, collection)
    for name in names[NAMES:]:
        ask(name)
    taken = sorted(1000 * seconds(partial(ask, name)) for name in names[:NAMES])
    p95 = taken[round(0.95 * (len(taken) - 1))]
    return [
        Figure(f"{what}: median", statistics.median(taken), "ms"),
        Figure(f"{what}: p95", p95, "ms", MILLISECONDS),
    ]


def _find(collection: Collection, name: str) -> None:
    with suppress(NotFound):
        collection.document(name)
