"""Concordances, collocates, key words and n-grams of a collection, and a query for analysts."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from fabula.cli import main
from fabula.errors import BadValue, NotFound
from fabula.library import App
from fabula.library.collection import Collection
from fabula.server import Address
from fabula_scholar.words.operations import collocates, concordance, dispersion, keyness, ngrams
from offline import offline_app

WHALE = """CHAPTER I

The white whale swam. A whale! The old whale saw the boat.

CHAPTER II

The whale sank it."""
MORE = "1 to 2 of 4: --limit shows more."
KING = "The old king sat. The king saw the boat, and the old king wept."


@pytest.fixture(scope="module")
def app(address: Address) -> Iterator[App]:
    with offline_app(address, graphs="", chunk_tokens=200) as app:
        books = app.collection("default")
        books.ingest_text(WHALE, source="w.txt", title="The Whale", language="en")
        books.ingest_text(KING, source="k.txt", title="The King", language="en")
        app.collection("other").ingest_text(KING * 3, source="k.txt", title="Other", language="en")
        yield app


@pytest.fixture
def books(app: App) -> Collection:
    return app.collection("default")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_concordance_has_every_place_of_the_words(books: Collection) -> None:
    found = concordance(books, "whale")
    assert [(each.title, each.count) for each in found.documents] == [("The Whale", 4)]
    assert [WHALE[row.start : row.end] for row in found.rows] == ["whale"] * 4
    assert found.rows[3].section == "CHAPTER II"
    rights = [row.right for row in concordance(books, "whale", sort="right").rows]
    assert [text.strip("! ").split()[0].strip(".") for text in rights] == [
        *("sank", "saw", "swam", "The"),
    ]
    by_pattern = concordance(books, r"[Tt]he \w+ king", regex=True)
    assert [row.node for row in by_pattern.rows] == ["The old king", "the old king"]
    assert concordance(books, "dragon").total == 0
    with pytest.raises(BadValue, match="leave stems out"):
        concordance(books, "king", regex=True, stemmed=True)
    with pytest.raises(BadValue):
        concordance(books, "(", regex=True)


def test_nothing_after_a_place_is_counted(books: Collection) -> None:
    read = books.as_read("The Whale", "CHAPTER I")
    assert concordance(read, "whale").total == 3
    assert {row.word for row in keyness(books, "The Whale", until="CHAPTER I").rows} == {"whale"}
    with pytest.raises(NotFound):
        books.as_read("", "CHAPTER I")  # a place of which document?


def test_words_near_words_are_counted_by_side(books: Collection) -> None:
    near = collocates(books, "king", left=1, right=0)
    assert near.places == 3
    [old] = [row for row in near.rows if row.word == "old"]
    assert (old.count, old.left, old.total) == (2, 2, 3)
    by_count = collocates(books, "king", by="count").rows
    assert [row.count for row in by_count] == sorted((row.count for row in by_count), reverse=True)
    with pytest.raises(NotFound, match="do not have"):
        collocates(books, "dragon")
    with pytest.raises(BadValue, match="0 words on both sides"):
        collocates(books, "king", left=0, right=0)


def test_key_words_are_those_of_one_document_and_not_of_others(app: App, books: Collection) -> None:
    first = keyness(books, "The Whale").rows[0]
    assert (first.word, first.reference_count) == ("whale", 0)
    other = app.collection("other")
    rarer = keyness(books, "The Whale", against_collection=other, negative=True)
    assert rarer.rows[0].word == "king"
    with pytest.raises(NotFound, match="can't be compared with itself"):
        keyness(books, "The Whale", against="The Whale")
    with pytest.raises(BadValue, match="not both"):
        keyness(books, "The Whale", against="The King", against_collection=other)


def test_runs_of_words_are_counted(books: Collection) -> None:
    pairs = ngrams(books, "The King", size=2)
    assert (pairs.rows[0].words, pairs.rows[0].count) == ("old king", 2)
    assert (pairs.tokens, pairs.types) == (14, 8)
    some = ngrams(books, containing="wh*", content_words=True)
    assert [row.words for row in some.rows] == ["whale", "white"]
    with pytest.raises(BadValue, match="one word"):
        ngrams(books, containing="the king")


def test_words_of_one_part_are_spread_less_than_words_of_all(books: Collection) -> None:
    [whale] = dispersion(books, "whale", parts=2).rows
    assert (whale.title, whale.count, whale.parts) == ("The Whale", 4, 2)
    [boat] = dispersion(books, "boat", "The Whale", parts=2).rows
    assert (boat.count, boat.parts, boat.deviation) == (1, 1, 1.0)
    assert 0 <= whale.deviation < boat.deviation
    assert dispersion(books, "dragon").total == 0


def test_a_line_is_opened_by_its_number(
    books: Collection, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    assert "whale" in run("concordance", "wh?le", "--document", "The Whale").output
    assert "The whale sank it." in run("read", "4").output
    csv = run("concordance", "king", "--csv").stdout.splitlines()
    assert csv[0].startswith("document,title,section,start,end,left,node,right")
    assert len(csv) == 4
    assert run("concordance", "dragon", "--csv").stdout.splitlines() == csv[:1]
    cut = run("concordance", "whale", "--csv", "--limit", "2")
    assert (len(cut.stdout.splitlines()), cut.stderr.strip()) == (3, MORE)
    found = json.loads(run("cypher", "concordance", "--param", "words=whale", "--json").stdout)
    rows = found["rows"]
    assert [WHALE[row["start"] :][:5] for row in rows] == ["whale"] * 4
    assert (rows[1]["left"][-2:], rows[1]["node"], rows[1]["right"][:5]) == ("A ", "whale", "! The")
