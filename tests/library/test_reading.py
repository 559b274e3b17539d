"""A citation is opened: the text around a place, what is meant there, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from cases import for_each
from commands import run
from database import connect, cypher, name_server
from fabula import Fabula
from fabula.errors import NotFound
from fabula.graph.hits import Hit, shown_fields
from fabula.library.reading import MARGIN_CHARACTERS, Lines, Reading
from fabula.server import Address
from fabula.store import Store
from isolation import shared_graph

CHAPTERS = ("The Harbour", "The Mill", "The Church")


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Three chapters, in the graph, whose every sentence is another."""
    folder = tmp_path_factory.mktemp("reading")
    path = folder / "winter.txt"
    chapters = [
        f"CHAPTER {number}: {title}\n\n"
        + " ".join(f"On day {number}{day:02} Anna saw a ship in the ice." for day in range(60))
        for number, title in enumerate(CHAPTERS, 1)
    ]
    path.write_text("Title: Winter\n\n" + "\n\n".join(chapters))
    with shared_graph(address, folder), Fabula(chunk_tokens=60) as fabula:
        [outcome] = fabula.ingest(path)
    assert outcome.status == "added"


@pytest.fixture
def book(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The book is there, and no test changes it."""
    name_server(monkeypatch, address)


@pytest.fixture
def store(book: None, address: Address) -> Iterator[Store]:
    with connect(address) as store:
        yield store


def read(at: str = "") -> Reading:
    with Fabula() as fabula:
        return fabula.read("Winter", at)


def whole(store: Store) -> str:
    rows = cypher(store, "MATCH (c:Chunk) RETURN c.text AS text ORDER BY c.start")
    return "".join(row["text"] for row in rows)


def lit(reading: Reading) -> list[str]:
    return [lines.text[start:end] for lines in reading.lines for start, end in lines.lit]


@pytest.mark.journey
def test_characters_are_shown_as_they_stand_with_what_is_around(book: None, store: Store) -> None:
    text = whole(store)
    sentence = "On day 230 Anna saw a ship in the ice."
    start = text.index(sentence)
    reading = read(f"{start}-{start + len(sentence)}")
    assert lit(reading) == [sentence]
    for lines in reading.lines:
        assert text[lines.start : lines.end] == lines.text
    [here] = [lines for lines in reading.lines if lines.lit]
    assert "The Mill" in here.section
    assert reading.lines[0].start <= start - MARGIN_CHARACTERS
    assert reading.lines[-1].end >= start + len(sentence) + MARGIN_CHARACTERS
    assert reading.of is None
    kinds = {hit.kind for hit in reading.related}
    assert kinds == {"summary", "detail"}


def test_what_spans_two_chunks_is_lit_as_one(book: None, store: Store) -> None:
    [row] = cypher(
        store,
        "MATCH (c:Chunk)-[:NEXT_CHUNK]->(d:Chunk) WHERE c.section = d.section "
        "RETURN c.end AS end ORDER BY end LIMIT 1",
    )
    reading = read(f"{row['end'] - 9}-{row['end'] + 9}")
    assert lit(reading) == [whole(store)[row["end"] - 9 : row["end"] + 9]]


def test_a_chunk_is_named_by_its_number_or_its_id(book: None, store: Store) -> None:
    [row] = cypher(store, "MATCH (c:Chunk {index: 3}) RETURN c.id AS id, c.text AS text")
    assert lit(read("3")) == lit(read(row["id"])) == [row["text"]]


def test_a_section_is_named_by_its_heading_or_a_part_of_it(book: None) -> None:
    [first] = lit(read("the mill"))
    assert "On day 200 Anna" in first


@for_each("at", ["Chapter Two", "chapter II", "The Second Chapter", "CHAPTER 2."])
def test_a_section_is_named_by_its_number_in_words_or_figures(at: str, book: None) -> None:
    reading = read(at)
    [place] = [lines for lines in reading.lines if lines.lit]
    assert place.section == "CHAPTER 2: The Mill"


@for_each("at", ["Chapter Nine", "Stave Two", "Chapter the Last"])
def test_a_section_of_another_number_or_kind_is_not_meant(at: str, book: None) -> None:
    with pytest.raises(NotFound, match="has no chunk, section or passage"):
        read(at)


def test_without_a_place_it_is_the_beginning(book: None) -> None:
    reading = read()
    assert reading.lines[0].start == 0
    assert lit(reading) == []


@for_each("kind", ["summary", "detail"])
def test_what_a_graph_says_leads_to_the_passages_that_bear_it(
    kind: str, book: None, store: Store
) -> None:
    [row] = cypher(
        store,
        "MATCH (n:Passage {kind: $kind}) WITH n ORDER BY size(n.sources) DESC, n.id LIMIT 1 "
        "MATCH (c:Chunk) WHERE c.id IN n.sources WITH n, c ORDER BY c.start "
        "RETURN n.id AS id, n.text AS text, collect(c.text) AS texts",
        kind=kind,
    )
    reading = read(row["id"])
    assert isinstance(reading.of, Hit)
    assert reading.of.text == row["text"]
    assert "".join(lit(reading)) == "".join(row["texts"])
    assert "".join(lines.text for lines in reading.lines) == "".join(row["texts"])
    of = json.loads(run("read", "Winter", "--at", row["id"], "--json").stdout)["of"]
    assert of == shown_fields(reading.of)
    output = run("read", "Winter", "--at", row["id"]).stdout
    assert output.index(row["text"].strip()) < output.index("It rests on:")


@for_each(
    ("at", "says"),
    [
        ("999999", "no chunk, section or passage '999999'. Name characters as 120-340"),
        ("900000-900001", "has no characters 900000-900001: it ends at "),
        ("20-10", "has no characters 20-10"),
        ("CHAPTER 2: The Mil!", "Did you mean CHAPTER 2: The Mill?"),
        ("nothing like it", "Name characters as 120-340"),
    ],
)
def test_a_place_that_is_not_there_is_told(at: str, says: str, book: None) -> None:
    with pytest.raises(NotFound) as refused:
        read(at)
    assert says in str(refused.value)
    assert run("read", "Winter", "--at", at, code=1).stderr.count("\n") <= 2


def test_the_command_shows_the_text_and_what_is_said(book: None) -> None:
    output = run("read", "Winter", "--at", "0-20").stdout
    assert output.startswith("Winter · CHAPTER 1: The Harbour · characters 0-")
    assert "On day 100 Anna saw a ship" in output
    assert "The graphs say of it:" in output
    assert "\x1b" not in output


def test_programs_are_given_the_same(book: None) -> None:
    body = json.loads(run("read", "Winter", "--at", "0-20", "--json").stdout)
    assert (body["title"], body["of"]) == ("Winter", None)
    [first, *_] = body["text"]
    assert (first["start"], first["lit"]) == (0, [[0, 20]])
    assert first["end"] == len(first["text"])
    assert {one["kind"] for one in body["said"]} == {"summary", "detail"}


def test_lines_know_where_they_end() -> None:
    assert Lines("I", 5, "four", ()).end == 9
