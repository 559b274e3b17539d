"""Documents for a bibliography: names, escapes, keys, and the command that prints them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from cases import for_each
from commands import run
from database import name_server
from fabula.export.bibliography import CitedPlaces, bibtex, csl, people
from fabula.graph.entries import Entry
from fabula.server import Address
from isolation import shared_graph

CAROL = Entry(
    id="6730fb2e471146ea",
    collection="default",
    title="A Christmas Carol",
    author="Dickens, Charles, 1812-1870",
    language="en",
    source="/home/somebody/books/carol.epub",
    sha256="",
    tokens=1,
    created_at="2026-01-02T03:04:05Z",
    updated_at="2026-02-03T03:04:05Z",
    graphs={},
)


def key(entry: Entry) -> str:
    [item] = csl([entry])
    return str(item["id"])


@for_each(
    ("author", "found"),
    [
        ("", []),
        ("Homer", [("Homer", "")]),
        ("Charles Dickens", [("Dickens", "Charles")]),
        ("Dickens, Charles", [("Dickens", "Charles")]),
        ("Dickens, Charles, 1812-1870", [("Dickens", "Charles")]),
        ("Charles Dickens (1812–1870)", [("Dickens", "Charles")]),
        ("Ludwig van Beethoven", [("van Beethoven", "Ludwig")]),
        ("Charles Dickens and Wilkie Collins", [("Dickens", "Charles"), ("Collins", "Wilkie")]),
        ("Charles Dickens, Wilkie Collins", [("Dickens", "Charles"), ("Collins", "Wilkie")]),
        ("Dickens, Charles; Collins, Wilkie", [("Dickens", "Charles"), ("Collins", "Wilkie")]),
        ("Le Fanu, Joseph Sheridan, 1814-1873", [("Le Fanu", "Joseph Sheridan")]),
        ("Le Guin, Ursula K.", [("Le Guin", "Ursula K.")]),
        ("Doyle, Arthur Conan, Sir, 1859-1930", [("Doyle", "Arthur Conan")]),
        ("Chaucer, Geoffrey, -1400", [("Chaucer", "Geoffrey")]),
        ("Homer, 751? BCE-651? BCE", [("Homer", "")]),
        (", ", []),
        ("J. & W. Grimm", [("J.", ""), ("Grimm", "W.")]),
        ("Лев Толстой", [("Толстой", "Лев")]),
    ],
)
def test_an_author_is_one_person_or_several(author: str, found: list[tuple[str, str]]) -> None:
    assert people(author) == found


def test_a_book_as_bibtex() -> None:
    assert bibtex([CAROL]) == (
        f"@book{{{key(CAROL)},\n"
        "  author = {{Dickens}, Charles},\n"
        "  title = {{A Christmas Carol}},\n"
        "  language = {en},\n"
        "  file = {carol.epub},\n"
        "}\n"
    )


def test_a_book_as_csl() -> None:
    assert csl([CAROL]) == [
        {
            "id": key(CAROL),
            "type": "book",
            "title": "A Christmas Carol",
            "author": [{"family": "Dickens", "given": "Charles"}],
            "language": "en",
            "source": "carol.epub",
        }
    ]


def test_what_is_not_known_is_left_out() -> None:
    bare = replace(CAROL, author="", language="", source="")
    assert bibtex([bare]) == f"@book{{{key(bare)},\n  title = {{{{A Christmas Carol}}}},\n}}\n"
    assert set(csl([bare])[0]) == {"id", "type", "title"}


def test_an_address_is_one_with_the_day_it_was_read() -> None:
    web = replace(CAROL, source="https://x.org/a%20b_{c}?d=1&e#f")
    assert "  url = {https://x.org/a%20b_%7Bc%7D?d=1&e#f},\n  urldate = {2026-02-03},\n" in bibtex(
        [web]
    )
    [item] = csl([web])
    assert (item["URL"], item["accessed"]) == (web.source, {"date-parts": [[2026, 2, 3]]})


@pytest.mark.parametrize(
    ("title", "escaped"),
    [
        ("Tom & Jerry: 100% #1", r"Tom \& Jerry: 100\% \#1"),
        ("a_b $5 ~ ^", r"a\_b \$5 \textasciitilde{} \textasciicircum{}"),
        ("} @book{x, {", r"\textbraceright{} @book\textbraceleft{}x, \textbraceleft{}"),
        (r"\input{x}", r"\textbackslash{}input\textbraceleft{}x\textbraceright{}"),
        ("Die Verwandlung – Ä\nö", "Die Verwandlung – Ä ö"),
    ],
)
def test_nothing_in_a_title_is_a_command(title: str, escaped: str) -> None:
    made = bibtex([replace(CAROL, title=title, author=title, source=title)])
    assert f"  title = {{{{{escaped}}}}},\n" in made
    depth = 0
    for brace in re.findall("[{}]", made):
        depth += 1 if brace == "{" else -1
        assert depth >= 0, "BibTeX counts braces, and would end the entry here"
    assert depth == 0


def test_a_key_stays_and_is_plain() -> None:
    assert re.fullmatch(r"dickens_christmas_[0-9a-f]{6}", key(CAROL))
    elsewhere = replace(CAROL, id="0", collection="x", source=r"C:\Books\carol.epub", tokens=9)
    assert key(elsewhere) == key(CAROL), "the same book on another machine"
    assert re.fullmatch(r"[0-9a-f]{6}", key(replace(CAROL, author="Толстой", title="Мир")))
    assert key(replace(CAROL, author="Émile Zola", title="Œuvre & l'Été")).startswith("zola_")


def test_no_two_keys_are_the_same() -> None:
    others = [replace(CAROL, id=f"{n:016x}", source=f"/{n}/carol.epub") for n in range(3)]
    editions = [replace(CAROL, source=f"carol-{n}.epub") for n in range(3)]
    keys = [item["id"] for item in csl([*others, *editions])]
    assert len(set(keys)) == 6


# The command


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    with shared_graph(address, tmp_path_factory.mktemp("books")):
        for collection, title, text in (
            (
                "default",
                "Winter",
                "Author: Anna Nobody\n\nBoris walked to the mill, and told nobody.",
            ),
            ("default", "Summer", "\nClara swam under the bridge, where it was cold."),
            ("other", "Autumn", "\nClara swam under the pier."),
        ):
            Path(f"{title}.txt").write_text(f"Title: {title}\n{text}")
            run("ingest", f"{title}.txt", "--collection", collection)


@pytest.fixture
def books(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a graph of three books, which no test changes."""
    name_server(monkeypatch, address)


def test_documents_are_named_or_all_or_those_of_the_last_answer(
    books: None, tmp_path: Path
) -> None:
    assert run("cite").stdout.count("@book{") == 2
    assert run("cite", "winter", "Winter").stdout.count("@book{nobody_winter_") == 1
    assert "There is no document 'Moby'" in run("cite", "Moby", code=1).stderr
    assert "There is no last answer" in run("cite", "--last", code=1).stderr
    shown = run("query", "Where did Clara swim?", "--markdown").stdout
    assert shown.endswith("\n**Books**\n\n- *Summer*\n")
    [item] = json.loads(run("cite", "--last", "--format", "csl").stdout)
    assert item["title"] == "Summer"
    assert run("cite", "--last", "winter", code=2)
    assert "collection 'nowhere' yet" in run("cite", "-c", "nowhere", code=1).stderr


def test_the_last_answer_may_cite_several_collections(books: None, tmp_path: Path) -> None:
    run("query", "Where did Clara swim?", "--across", "other,default")
    [file] = (tmp_path / "home" / "last_answers").iterdir()
    kept = json.loads(file.read_text())
    assert {each["collection"] for each in kept["citations"]} == {"default", "other"}
    entries = json.loads(run("cite", "--last", "--format", "csl").stdout)
    assert {entry["title"] for entry in entries} == {"Autumn", "Summer"}
    annotations = run("cite", "--last", "--format", "webannotation").stdout
    assert "the pier" in annotations
    assert "the bridge" in annotations


def test_the_last_answers_citations_are_opened_by_their_numbers(
    books: None, tmp_path: Path
) -> None:
    assert "There is no last answer" in run("read", "[3]", code=1).stderr
    assert "Looking for a document named 3 instead." in run("read", "3", code=1).stderr
    run("query", "Where did Clara swim?")
    [kept] = (tmp_path / "home" / "last_answers").iterdir()
    number = str(json.loads(kept.read_text())["citations"][0]["number"])
    before = kept.read_text()
    run("query", "Where did Boris walk?", "--json")
    assert kept.read_text() == before, "what a program asks is nobody's last answer"
    # Wherever it was asked.
    shown = run("read", number, "--collection", "other")
    assert "Clara swam under" in shown.stdout
    assert f"[{number}] of the answer to 'Where did Clara swim?'" in shown.stderr
    assert run("read", f"[{number}]").stdout == shown.stdout
    assert run("read", "Summer", "--at", f"[{number}]").stdout == shown.stdout
    refused = run("read", "Winter", "--at", f"[{number}]", code=1).stderr
    assert f"[{number}] of the last answer is not in 'Winter'." in refused
    assert "does not cite [99]: it cites" in run("read", "[99]", code=1).stderr
    # After --at a bare number is a chunk, as ever.
    assert "Boris" in run("read", "Winter", "--at", "0").stdout


@for_each(
    "damage", [b"", b"{", b'{"collection": 1}', b"\xff" * 9, b"[" * 100_000, b" " * 2_000_000]
)
def test_a_damaged_file_of_citations_is_told_and_made_anew(
    damage: bytes, tmp_path: Path, books: None
) -> None:
    kept = tmp_path / "home" / "last_answers" / f"{os.getsid(0)}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(damage)
    assert f"{kept}: ask again." in run("read", "[1]", code=1).stderr
    run("query", "Where did Clara swim?")
    assert json.loads(kept.read_text())["question"] == "Where did Clara swim?"


def test_each_terminal_opens_the_citations_of_its_own_last_answer(
    books: None, tmp_path: Path
) -> None:
    """`fabula read 1` opened what another window had asked."""
    run("query", "Where did Clara swim?")
    [here] = (tmp_path / "home" / "last_answers").iterdir()
    # Other terminals ask after this one.
    os.utime(here, (1, 1))
    for session in range(25):
        there = here.with_name(f"other{session}.json")
        there.write_text(here.read_text().replace("Clara", f"Boris {session}"))
        os.utime(there, (2 + session,) * 2)
    assert "[1] of the answer to 'Where did Clara swim?'" in run("read", "1").stderr
    # One that has no answer of its own opens the newest.
    here.unlink()
    assert "[1] of the answer to 'Where did Boris 24 swim?'" in run("read", "1").stderr
    run("query", "Where did Clara swim?")
    kept = {file.stem for file in here.parent.iterdir()}
    assert kept == {here.stem, *(f"other{session}" for session in range(6, 25))}


def test_an_answer_stands_where_its_citations_cannot_be_kept(
    books: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "file" / "home"))
    assert "Clara swam" in run("query", "Where did Clara swim?").stdout


def test_places_as_citations_print_them_are_places_to_read(books: None) -> None:
    reading = json.loads(run("read", "Winter", "--at", "0-5, 9-12,20-22", "--json").stdout)
    [lines] = reading["text"]
    assert lines["lit"] == [[0, 5], [9, 12], [20, 22]]
    assert "has no characters 0-5, 999999-1000000" in (
        run("read", "Winter", "--at", "0-5, 999999-1000000", code=1).stderr
    )


def test_what_a_person_says_of_the_edition_is_cited() -> None:
    places = {CAROL.id: CitedPlaces("113-114", "", "Chapman & Hall", "London")}
    written = bibtex([replace(CAROL, published="1843", edition="1st")], places)
    assert (
        "  publisher = {Chapman \\& Hall},\n  address = {London},\n  pages = {113--114},\n"
        in written
    )
    assert "  year = {1843},\n" in written
    [item] = csl([CAROL], places)
    assert (item["publisher"], item["publisher-place"], item["locator"]) == (
        *("Chapman & Hall", "London", "113-114"),
    )
