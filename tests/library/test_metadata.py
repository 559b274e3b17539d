"""Metadata of one's own: from files, with an ingest and by hand; and questions restricted by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.ask.where import read_condition
from fabula.cli.shared.progress import outcome_line
from fabula.errors import BadValue, NotFound
from fabula.graph.hits import Filters
from fabula.library.collection import Collection
from fabula.operations.documents import EditedDocument, edit_document, list_fields
from fabula.server import Address
from fabula.text.metadata import GivenMetadata, list_assignments, read_assignments, read_table
from offline import offline_app

BOOKS = {
    "carol.md": "---\ntitle: The Carol\ndate: 1843\ngenre: ghosts\ntags: [winter, London]\n---\n"
    "The lantern of the captain went out in the snow. Marley was dead.",
    "whale.md": "---\ntitle: The Whale\ndate: 18 October 1851\ngenre: sea\nwritten: 1850-02-01\n"
    "---\nThe captain lost his lantern at sea. The whale swam.",
    "moor.txt": "The captain saw a lantern on the moor. The hound howled.",
    "castle.txt": "No captain had a lantern in the castle. The prince died.",
}
TABLE = """file,genre,year,pages,place,title
moor.txt,crime,1902,256,Dartmoor,The Hound
castle,gothic,1764,,"Otranto, Italy",
nothing.txt,gothic,,,,
"""
QUESTION = "Where is the lantern of the captain?"


@pytest.fixture(scope="module")
def books(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("books")
    for name, text in BOOKS.items():
        (folder / name).write_text(text)
    with offline_app(address) as app:
        books = app.collection("default")
        given = GivenMetadata(read_assignments(["shelf=A"]), read_table(TABLE))
        books.ingest(folder, metadata=given)
        other = app.collection("other")
        other.ingest_text("The captain of others.", source="o.txt", title="Foreign")
        edit(other, "Foreign", "secret_field=secret value", "genre=gothic")
        yield books


def edit(books: Collection, title: str, *meta: str) -> EditedDocument:
    edited: EditedDocument = edit_document(books, title, meta=meta)
    return edited


def titles(books: Collection, where: str, mode: str = "hybrid", **options: Any) -> set[str]:
    return {hit.title for hit in books.retrieve(QUESTION, where=where, mode=mode, k=20, **options)}


def test_fields_come_from_files_from_a_table_and_from_the_ingest(books: Collection) -> None:
    fields = {entry.title: dict(entry.metadata) for entry in books.documents()}
    assert fields == {
        "The Carol": {"genre": "ghosts", "shelf": "A", "tags": ["winter", "London"]},
        "The Whale": {"genre": "sea", "shelf": "A", "written": "1850-02-01"},
        "The Hound": {
            "genre": "crime",
            "pages": 256,
            "place": "Dartmoor",
            "shelf": "A",
            "year": 1902,
        },
        "Castle": {"genre": "gothic", "place": "Otranto, Italy", "shelf": "A", "year": 1764},
    }
    rows = {row.name: row for row in list_fields(books).rows}
    assert (rows["genre"].documents, rows["tags"].values) == (4, ("London", "winter"))
    assert "secret_field" not in rows


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("year < 1850", {"The Carol", "Castle"}),
        ("year >= 1851 and year != 1902", {"The Whale"}),
        ("genre in (sea, 'ghosts')", {"The Carol", "The Whale"}),
        ("not genre = sea and not (year > 1900 or place contains otranto)", {"The Carol"}),
        ("genre not in (sea, ghosts)", {"The Hound", "Castle"}),
        ("tags = WINTER", {"The Carol"}),
        ("written < 1850-03-01", {"The Whale"}),
        ("written = 1850 or pages > 255.5", {"The Whale", "The Hound"}),
        ("title contains the and shelf = a", {"The Carol", "The Whale", "The Hound"}),
        ("place != Dartmoor and published = ''", {"Castle"}),
    ],
)
def test_a_condition_restricts_a_question(books: Collection, where: str, found: set[str]) -> None:
    assert titles(books, where) == found
    assert titles(books, where, "naive") == found


@pytest.mark.parametrize("mode", ["hybrid", "naive", "collapsed", "top-down", "bottom-up"])
def test_each_mode_stays_in_the_documents(books: Collection, mode: str) -> None:
    found = titles(books, "genre in (crime, gothic)", mode)
    # Going down one tree may end in one of the two books.
    assert found == {"The Hound", "Castle"} or (mode == "top-down" and found == {"The Hound"})


def test_a_hit_and_an_answer_have_the_fields_and_nothing_of_other_documents(
    books: Collection,
) -> None:
    [hit] = books.retrieve(QUESTION, where="year < 1800")
    assert hit.metadata["place"] == "Otranto, Italy"
    answer = books.query(QUESTION, where="genre in (crime, gothic)")
    assert {passage.hit.title for passage in answer.context} == {"The Hound", "Castle"}
    assert all(passage.hit.metadata["shelf"] == "A" for passage in answer.context)


def test_several_documents_can_be_named(books: Collection) -> None:
    named = ["The Carol", "moor.txt"]
    assert titles(books, "", document=named) == {"The Carol", "The Hound"}
    assert titles(books, "year < 1850", document=named) == {"The Carol"}
    with pytest.raises(NotFound, match="fulfils: year > 1950"):
        titles(books, "year > 1950", document=named)


def test_what_is_edited_is_seen_by_the_next_question(books: Collection) -> None:
    edit(books, "The Whale", "mood=dark")
    assert titles(books, "mood = dark") == {"The Whale"}
    edited = edit(books, "The Carol", "mood=dark", "shelf=")
    assert "shelf" not in edited.metadata
    assert titles(books, "mood = dark") == {"The Whale", "The Carol"}
    by_name = {"shelf": "A", "mood": None}
    edit(books, "The Carol", *list_assignments(by_name))
    edit(books, "The Whale", "mood=")
    assert "mood" not in books.document("The Carol").metadata


def test_a_document_is_switched_off_and_on_again(books: Collection) -> None:
    edit_document(books, "The Hound", questions="off")
    assert titles(books, "") == {"The Carol", "The Whale", "Castle"}
    assert titles(books, "shelf = A") == {"The Carol", "The Whale", "Castle"}
    assert titles(books, "", document="The Hound") == {"The Hound"}
    edit_document(books, "The Hound", questions="on")
    assert "The Hound" in titles(books, "")


def test_another_version_keeps_what_was_edited_and_takes_what_the_file_changes(
    books: Collection, tmp_path: Path
) -> None:
    file = tmp_path / "tale.md"
    head = "---\ntitle: The Tale\ngenre: fable\nmoral: none\n---\n"
    file.write_text(f"{head}The fox saw the grapes.")
    books.ingest(file)
    edit(books, "The Tale", "genre=satire", "rating=5")
    edit_document(books, "The Tale", questions="off")
    assert books.ingest(file)[0].notes == ()
    assert books.document("The Tale").metadata == {"genre": "satire", "moral": "none", "rating": 5}
    [again] = books.ingest(file, metadata=GivenMetadata({"rating": 4, "shelf": "B"}))
    assert outcome_line(again).endswith("The Tale is up to date; metadata changed: rating, shelf")
    edit(books, "The Tale", "rating=5", "shelf=")
    file.write_text(f"{head.replace('none', 'sour')}The fox saw the grapes and left.")
    books.ingest(file)
    entry = books.document("The Tale")
    assert entry.metadata == {"genre": "satire", "moral": "sour", "rating": 5}
    assert entry.is_off
    books.open_store().remove(books.name, entry.id)


HOSTILE = ["x' OR 1=1 //", "}) DETACH DELETE n //", "$collection", "`meta_genre`", "\\", "%", "'\""]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_values_are_never_part_of_a_statement(books: Collection, text: str) -> None:
    edit(books, "Castle", f"odd={text}")
    assert books.document("Castle").metadata["odd"] == text
    quoted = f'"{text}"' if "'" in text else f"'{text}'"
    if not {"'", '"'} <= set(text):
        assert titles(books, f"odd = {quoted}") == {"Castle"}
    with pytest.raises(BadValue, match="can't be the name of a field"):
        edit(books, "Castle", f"{text}x=1")
    with pytest.raises(BadValue, match="can't be read"):
        titles(books, f"{text} = 1")
    edit(books, "Castle", "odd=")


def test_nothing_of_another_collection_is_told(books: Collection) -> None:
    with pytest.raises(BadValue) as refused:
        titles(books, "secret_fiel = 1")
    assert "secret_field" not in str(refused.value)
    with pytest.raises(BadValue, match="Did you mean genre"):
        titles(books, "gnre = gothic")
    assert titles(books, "genre = gothic") == {"Castle"}


def test_a_reader_with_a_place_stays_there(books: Collection) -> None:
    read = {hit.text for hit in books.retrieve(QUESTION, document="The Carol", until="50%")}
    same = books.retrieve(QUESTION, document="The Carol", until="50%", where="genre = ghosts")
    assert {hit.text for hit in same} == read
    with pytest.raises(NotFound, match="fulfils"):
        books.retrieve(QUESTION, document="The Carol", until="50%", where="genre = sea")


def test_what_is_chosen_is_looked_up_once_until_the_collection_changes(books: Collection) -> None:
    steps = read_condition("genre = gothic")
    first = books.open_store().find_chosen("default", steps)
    second = books.open_store().find_chosen("default", steps)
    assert (first, second) == (second, books.open_store().find_chosen("default", steps))
    assert books.open_store().find_chosen("default", steps) is second
    assert books.open_store().find_chosen("other", steps)[0] != first[0]
    [entry] = [each for each in books.documents() if each.title == "Castle"]
    filters = Filters("default", documents=(entry.id,))
    assert {
        row["id"]
        for row in books.open_store().read(
            "MATCH (n:Chunk) WHERE n.document >= $first_document AND n.document <= $last_document "
            "RETURN DISTINCT n.document AS id",
            filters,
        )
    } == {entry.id}
