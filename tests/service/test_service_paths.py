"""A long novel's chapters are known by their paths, and a poem's lines and pages, everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from cases import for_each
from database import cypher
from fabula.ask.answer import Answer
from fabula.ask.notebook import show_answer
from fabula.errors import NotFound
from fabula.export.bibliography import bibtex, csl
from fabula.export.markdown import markdown
from fabula.graph.hits import describe_place
from fabula.library.collection import Collection
from fabula.server import Address
from novels import CHAPTERS, COMET, HERE, PARTS, PATHS, QUESTION, novel, poem
from offline import offline_app
from served import Served, served

BASE = "/api/v1/collections/novels"
SHIPS = "Which ship was the 347th ship that came slowly to the harbour?"


@pytest.fixture(scope="module")
def it(address: Address) -> Iterator[Served]:
    with offline_app(address, chunk_tokens=60, graphs=("aspects", "entities")) as app:
        novels = app.collection("novels")
        novels.ingest_text(novel(), source="war.txt", title="War and Peace")
        novels.ingest_sources([poem("novels")])
        with served(app) as it:
            yield it


@pytest.fixture(scope="module")
def novels(it: Served) -> Collection:
    return it.state.app.collection("novels")


@pytest.fixture(scope="module")
def answer(novels: Collection) -> Answer:
    return novels.query(QUESTION, mode="hybrid")


@pytest.fixture(scope="module")
def of_ships(novels: Collection) -> Answer:
    return novels.query(SHIPS, mode="hybrid", document="The Ships")


# The chapters of a novel


def test_every_chapter_is_a_section_of_its_own_in_its_part(novels: Collection) -> None:
    rows = novels.cypher(
        "MATCH (c:Chunk {collection: $collection}) WHERE c.section <> '' "
        "WITH c ORDER BY c.start RETURN collect(DISTINCT c.section) AS sections"
    )
    assert rows[0]["sections"] == PATHS


def test_a_heading_without_a_text_of_its_own_is_no_chunk(novels: Collection) -> None:
    [row] = novels.cypher(
        "MATCH (c:Chunk {collection: $collection}) WHERE c.text STARTS WITH 'BOOK NINE' "
        "RETURN c.text AS text, c.section AS section"
    )
    assert "CHAPTER I\n\nPrince Andrei" in row["text"]
    assert row["section"] == "BOOK NINE: 1807 · CHAPTER I"


def test_a_citation_has_the_path(answer: Answer) -> None:
    quote = answer.quotes[0]
    assert COMET in quote.hit.text
    assert quote.hit.section == HERE
    assert describe_place(quote.hit).startswith(f"War and Peace · {HERE} · characters ")
    assert HERE in markdown(answer, ())
    assert HERE in show_answer(answer.question, answer.text, answer.quotes, [])


@for_each(
    "at", [HERE, "BOOK NINE CHAPTER XI", "book 9, chapter eleven", "CHAPTER XI", "chapter 11"]
)
def test_a_chapter_is_opened_by_its_path_or_the_end_of_it(novels: Collection, at: str) -> None:
    reading = novels.read("War and Peace", at)
    [lines] = [lines for lines in reading.lines if lines.lit]
    assert lines.section == HERE
    [(start, end)] = lines.lit
    assert lines.text[start:end].startswith("CHAPTER XI\n\nPrince Andrei")


def test_a_part_is_opened_at_its_heading(novels: Collection) -> None:
    [lines] = [lines for lines in novels.read("War and Peace", "book two").lines if lines.lit]
    assert lines.text[lines.lit[0][0] :].startswith("BOOK TWO")


def test_a_name_of_several_places_lists_them(novels: Collection) -> None:
    with pytest.raises(NotFound) as caught:
        novels.read("War and Peace", "Chapter II")
    message = str(caught.value)
    assert message.startswith("'Chapter II' names 17 places of War and Peace. Name one of them")
    assert [line.strip() for line in message.splitlines()[1:]] == [
        f"{part} · CHAPTER II" for part in PARTS
    ]


@for_each("query", ["sections", "section_words", "characters"])
def test_analysts_queries_tell_the_chapters_apart(novels: Collection, query: str) -> None:
    rows = novels.cypher(query, document="War and Peace", limit=200)
    sections = [row["section"] for row in rows if row.get("section") in PATHS]
    assert sections
    assert len(sections) == len(set(sections))


def test_an_export_has_the_paths(novels: Collection, tmp_path: Path) -> None:
    novels.export(tmp_path / "graph.jsonl", document="War and Peace")
    rows = [json.loads(line) for line in (tmp_path / "graph.jsonl").read_text().splitlines()]
    sections = {row["properties"].get("section") for row in rows if "properties" in row}
    assert set(PATHS) <= sections


def test_the_api_has_the_tree_of_sections(client: httpx2.Client, novels: Collection) -> None:
    id = novels.document("War and Peace").id
    text = client.get(f"{BASE}/documents/{id}/text").json()
    chapters = [section for section in text["sections"] if section["depth"] == 2]
    assert [section["path"] for section in chapters] == PATHS
    parts = [section["title"] for section in text["sections"] if section["depth"] == 1]
    assert parts == PARTS
    for section in text["sections"]:
        assert text["text"][section["start"] :].startswith(section["title"])
    path = f"{BASE}/documents/{id}/text"
    chapter = client.get(path, params={"section": "BOOK NINE CHAPTER XI"}).json()
    assert chapter["chunks"][0]["section"] == HERE
    assert chapter["text"].startswith("CHAPTER XI")
    several = client.get(path, params={"section": "CHAPTER I"})
    assert (several.status_code, "names 17 places" in several.text) == (404, True)
    found = client.post(f"{BASE}/ask", json={"question": QUESTION, "mode": "hybrid"}).json()
    assert found["quotes"][0]["section"] == HERE


def test_the_page_has_a_table_of_contents_as_a_tree(
    client: httpx2.Client, novels: Collection
) -> None:
    address = f"/c/novels/d/{novels.document('War and Peace').id}"
    page = client.get(address).text
    contents = page.partition('<nav class="sections"')[2].partition("</nav>")[0]
    assert contents.count("<ol>") == 1 + len(PARTS)
    assert contents.count(">CHAPTER II</a>") == len(PARTS)
    jumped = client.get(address, params={"at": "BOOK NINE CHAPTER XI"}).text
    lit = jumped.partition('id="lit"')[2].partition("</mark>")[0]
    assert "CHAPTER XI" in lit
    assert f"<bdi>{HERE}</bdi>" in jumped
    several = client.get(address, params={"at": "CHAPTER I"})
    assert several.status_code == 404
    assert "names 17 places" in several.text


@for_each("picture", ["trees", "network"])
def test_pictures_tell_the_chapters_apart(
    client: httpx2.Client, novels: Collection, picture: str
) -> None:
    id = novels.document("War and Peace").id
    page = client.get(f"{BASE}/documents/{id}/plot.html", params={"drawn": picture})
    assert HERE in page.text


# The pages and lines of a poem


def test_a_citation_has_the_pages_and_lines_of_what_is_quoted(of_ships: Answer) -> None:
    quote = of_ships.quotes[0]
    assert "347th" in "".join(quote.hit.text[start:end] for start, end in quote.matches)
    assert quote.hit.pages == "114"
    assert quote.hit.lines.startswith("34")
    assert " · p. 114 · l" in describe_place(quote.hit, quote.matches)


@for_each(
    ("at", "begins", "ends"),
    [
        ("p. 114", "The 346th", "The 351th ship came slowly to the harbour."),
        ("pp. 113-114", "The 340th", "The 351th ship came slowly to the harbour."),
        ("l. 342", "The 342th", "The 342th ship came slowly to the harbour."),
        ("ll. 349-350", "The 349th", "The 350th ship came slowly to the harbour."),
    ],
)
def test_pages_and_lines_are_opened(novels: Collection, at: str, begins: str, ends: str) -> None:
    reading = novels.read("The Ships", at)
    lit = "".join(lines.text[a:b] for lines in reading.lines for a, b in lines.lit).strip()
    assert lit.startswith(begins)
    assert lit.endswith(ends)
    labels = [lines.pages if at[0] == "p" else lines.lines for lines in reading.lines]
    assert labels == [at.split()[1]]


def test_a_page_that_is_not_there_is_not_found(novels: Collection) -> None:
    with pytest.raises(NotFound, match=r"has no chunk, section or passage 'p\. 9'"):
        novels.read("The Ships", "p. 9")


def test_the_api_has_pages_and_lines(client: httpx2.Client, novels: Collection) -> None:
    id = novels.document("The Ships").id
    text = client.get(f"{BASE}/documents/{id}/text").json()
    assert [label["label"] for label in text["pages"]] == ["112", "113", "114"]
    by_label = {label["label"]: label["start"] for label in text["lines"]}
    assert text["text"][by_label["343"] :].startswith("The 343th")
    later = client.get(f"{BASE}/documents/{id}/text", params={"section": "l. 350"}).json()
    assert [each["label"] for each in later["pages"]] == ["114"]
    assert [each["label"] for each in later["lines"]][:2] == ["350", "351"]
    request = {"question": SHIPS, "mode": "hybrid", "document": id}
    found = client.post(f"{BASE}/ask", json=request).json()
    assert found["quotes"][0]["pages"] == "114"
    assert found["hits"][0]["pages"]


def test_the_page_goes_to_a_printed_page_and_names_it(
    client: httpx2.Client, novels: Collection
) -> None:
    address = f"/c/novels/d/{novels.document('The Ships').id}"
    page = client.get(address, params={"at": "p. 114"}).text
    assert "The 346th" in page.partition('id="lit"')[2].partition("</mark>")[0]
    assert "p. 114, ll. 346-351" in page
    id = novels.document("The Ships").id
    request = {"q": SHIPS, "mode": "hybrid", "document": id, "plain": "true"}
    assert re.search(r"· pp?\. 11[34]", client.get("/c/novels/ask", params=request).text)


def test_a_bibliography_has_year_and_edition(novels: Collection) -> None:
    entry = novels.document("The Ships")
    assert "  year = {1869},\n" in bibtex([entry])
    assert "  edition = {Second edition},\n" in bibtex([entry])
    [item] = csl([entry])
    assert item["issued"] == {"date-parts": [[1869]]}
    assert item["edition"] == "Second edition"


# What another reading changes


def test_a_text_read_by_an_earlier_version_gets_its_structure_and_stays_as_it_is(
    client: httpx2.Client, novels: Collection
) -> None:
    entry = novels.document("The Ships")
    store = novels.open_store()
    parts = {name: record.updated_at for name, record in entry.graphs.items()}
    cypher(
        store,
        "MATCH (d:Document {id: $id}) SET d.reading = 0, d.edition = '', "
        "d.page_starts = [], d.page_labels = []",
        id=entry.id,
    )
    assert novels.document("The Ships").reading == 0
    listed = client.get(f"{BASE}/documents").json()["rows"]
    assert {row["title"]: row["outdated_reading"] for row in listed} == {
        "The Ships": True,
        "War and Peace": False,
    }
    [outcome] = novels.ingest_sources([poem("novels")])
    assert (outcome.status, outcome.steps) == ("unchanged", {})
    now = novels.document("The Ships")
    assert (now.reading, now.edition) == (entry.reading, "Second edition")
    assert store.structure(now).pages.labels == ("112", "113", "114")
    assert {name: record.updated_at for name, record in now.graphs.items()} == parts
    assert novels.stale(now) == {}


def test_sections_that_are_newly_known_name_all_nodes(novels: Collection) -> None:
    entry = novels.document("War and Peace")
    nodes = (
        "MATCH (n:Passage|Element {collection: $collection, document: $document}) "
        "WHERE n.section IS NOT NULL RETURN n.id AS id, n.section AS section ORDER BY id"
    )
    before = novels.cypher(nodes, document=entry.id)
    cypher(
        novels.open_store(),
        "MATCH (n {document: $id}) WHERE n.section IS NOT NULL AND NOT n:Part "
        "SET n.section = reduce(s = '', part IN split(n.section, ' – ') | "
        "s + CASE s WHEN '' THEN '' ELSE ' – ' END + last(split(part, ' · ')))",
        id=entry.id,
    )
    # Two chapters of one title are not told apart before; a stretch of them is one name.
    cypher(
        novels.open_store(),
        "MATCH (n:Summary {document: $id}) WITH n MATCH (c:Chunk) WHERE c.id IN n.sources "
        "WITH n, c ORDER BY c.start WITH n, collect(c.section) AS names "
        "SET n.section = CASE WHEN head(names) = last(names) THEN head(names) "
        "ELSE CASE head(names) WHEN '' THEN last(names) "
        "ELSE head(names) + ' – ' + last(names) END END",
        id=entry.id,
    )
    cypher(novels.open_store(), "MATCH (d:Document {id: $id}) SET d.reading = 0", id=entry.id)
    again = novels.ingest_text(novel(), source="war.txt", title="War and Peace")
    assert again.status == "unchanged"
    after = {row["id"]: row["section"] for row in novels.cypher(nodes, document=entry.id)}
    kept = {row["id"]: row["section"] for row in before}
    assert {id: name for id, name in after.items() if kept[id] != name} == {}
    assert set(CHAPTERS) == set(PARTS)
