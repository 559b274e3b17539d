"""How many of the persons and names that rules find are such, in books that were read and judged.

`tests/data/names` has, for each book, its 100 names of most uses and all that were found to be of
persons: what each truly is, and which line it is another name of. What the rules find since, and
nobody has judged, is counted as wrong, so that the lists are kept. The rules were made on the first
three books; nothing was changed for the fourth, `cornwall`, which is a journey, so that it tells
what they are worth elsewhere.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Mapping
from pathlib import Path

import fabula
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.rules import extract_entities
from fabula.graphs.entities.values import Entity
from fabula.load import load
from fabula.text.chunk import split
from fabula_bench.speed.report import Figure

JUDGED = Path(__file__).parents[3] / "tests" / "data" / "names"
CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
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
    files = {"carol": CAROL}
    if books:
        files |= {book: books / name for book, name in BOOKS.items() if (books / name).is_file()}
    return [figure for book, file in files.items() for figure in _measure(book, file)]


def _measure(book: str, file: Path) -> list[Figure]:
    document = load(file, "default", 10**8)
    chunks = split(document, 200)
    begun = time.process_time()
    extraction = extract_entities(chunks, document.language)
    ordinary = {word for word in re.findall(r"[^\W\d_]+", document.text) if word.islower()}
    cast = resolve_mentions(
        extraction, language=document.language, decisions=DecidedPairs(), ordinary=ordinary
    ).merge(document.id)
    seconds = 100_000 * (time.process_time() - begun) / len(document.text.split())
    with (JUDGED / f"{book}.tsv").open(encoding="utf-8", newline="") as lines:
        judged = {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}
    found = sorted(cast.entities, key=lambda entity: (-sum(entity.names.values()), entity.key))[
        :LISTED
    ]
    persons = [entity for entity in cast.entities if entity.type == "person"]
    listed = [entity for entity in found if entity.type == "person"]
    places = [entity for entity in found if entity.type == "place"]
    true_persons = [entity for entity in found if _is(entity, judged) == "person"]
    others = [entity for entity in found if judged.get(entity.name, {}).get("same")]
    return [
        _share(f"{book}: persons, of {len(listed)} found so among the {LISTED} names of most uses",
               sum(_is(entity, judged) == "person" for entity in listed), len(listed), PERSONS),
        _share(f"{book}: persons, of all {len(persons)} found so",
               sum(_is(person, judged) == "person" for person in persons), len(persons)),
        _share(f"{book}: of the {len(true_persons)} persons among these names, found to be persons",
               sum(person.type == "person" for person in true_persons), len(true_persons)),
        _share(f"{book}: places, of {len(places)} found so",
               sum(_is(place, judged) == "place" for place in places), len(places)),
        _share(f"{book}: names, of the {LISTED}",
               sum(_is(entity, judged) not in ("none", "") for entity in found), len(found)),
        _share(f"{book}: of the {LISTED}, another name of one above", len(others), len(found)),
        Figure(f"{book}: CPU for 100,000 words", seconds, goal=SECONDS),
    ]  # fmt: skip


def _is(entity: Entity, judged: Mapping[str, Mapping[str, str]]) -> str:
    return judged.get(entity.name, {}).get("is", "")


def _share(what: str, right: int, of: int, goal: float | None = None) -> Figure:
    return Figure(what, 100 * right / max(1, of), "%", goal, at_least=True)
