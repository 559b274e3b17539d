"""How many of the persons and names that rules find are such, in books that were read and judged.

`tests/data/names` has, for each book, its 100 names of most uses and all that were found to be of
persons: what each truly is, and which line it is another name of. What the rules find since, and
nobody has judged, is counted as wrong, so that the lists are kept. The rules were made on the first
three books; nothing was changed for the fourth, `cornwall`, which is a journey, so that it tells
what they are worth elsewhere.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.rules import extract_entities
from fabula.graphs.entities.values import Entities, Entity
from fabula.load import load
from fabula.text.chunk import split
from fabula.text.document import Chunk
from fabula_bench.speed.books import STORY
from fabula_bench.speed.report import Figure

JUDGED = Path(__file__).parents[3] / "tests" / "data" / "names"
BOOKS = {
    "hound": "2852-0.txt",
    "dragon": "../graphrag-bench/novels/10321-8.txt",
    "cornwall": "../graphrag-bench/novels/44557-8.txt",
}
"""Project Gutenberg's numbers, as a folder of books may have them."""
LISTED = 100
PERSONS = 90.0
SECONDS = 3.0
"""For 100,000 words."""


def measure(books: Path | None) -> list[Figure]:
    """Per cent of what was found that is right, and what it costs."""
    files = {"carol": STORY}
    if books:
        files |= {book: books / name for book, name in BOOKS.items() if (books / name).is_file()}
    return [figure for book, file in files.items() for figure in _measure(book, file)]


def find_cast(chunks: Sequence[Chunk], language: str) -> Entities:
    """Who and what is in a text, and what ties them, by rules."""
    resolved = resolve_mentions(
        extract_entities(chunks, language),
        language=language,
        decisions=DecidedPairs(),
    )
    return resolved.merge("bench")


def _measure(book: str, file: Path) -> list[Figure]:
    document = load(file, "default", 10**8)
    chunks = split(document, 200)
    begun = time.process_time()
    every = find_cast(chunks, document.language).entities
    seconds = 100_000 * (time.process_time() - begun) / len(document.text.split())
    with (JUDGED / f"{book}.tsv").open(encoding="utf-8", newline="") as lines:
        judged = {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}

    def is_truly(kind: str) -> Callable[[Entity], bool]:
        return lambda entity: judged.get(entity.name, {}).get("is", "") == kind

    def is_found(type: str) -> Callable[[Entity], bool]:
        return lambda entity: entity.type == type

    def share(
        what: str,
        of: Sequence[Entity],
        is_right: Callable[[Entity], bool],
        goal: float | None = None,
    ) -> Figure:
        name = f"{book}: {what.format(len(of))}"
        return Figure(name, 100 * sum(map(is_right, of)) / max(1, len(of)), "%", goal, True)

    listed = sorted(every, key=lambda entity: (-sum(entity.names.values()), entity.key))[:LISTED]
    persons, places = ([*filter(is_found("person"), listed)], [*filter(is_found("place"), listed)])
    is_person = is_truly("person")
    return [
        share("persons, of {} found so among the names of most uses", persons, is_person, PERSONS),
        share("persons, of all {} found so", [*filter(is_found("person"), every)], is_person),
        share(
            "of the {} persons among these names, found to be persons",
            [*filter(is_person, listed)],
            is_found("person"),
        ),
        share("places, of {} found so", places, is_truly("place")),
        Figure(f"{book}: CPU for 100,000 words", seconds, goal=SECONDS),
    ]
