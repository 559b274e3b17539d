"""A reader who has not read to the end is told nothing of what comes later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cases import for_each
from database import cypher, server_variables
from fabula import App, Collection
from fabula.ask.mode_runs import prepare_modes
from fabula.ask.modes import modes
from fabula.ask.query import Query
from fabula.ask.retrieve import retrieve
from fabula.cli import main
from fabula.config.settings import OFFLINE, STATIC
from fabula.errors import FabulaError, InvalidPlace, NotFound, SettingsError
from fabula.graph import Owner
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.graph.mode import Mode
from fabula.graph.trace import Trace
from fabula.graphs.entities.known_until import find_called, list_entities
from fabula.library.drawing import draw_document
from fabula.models.counted import Meter
from fabula.operations.notes import list_notes
from fabula.server import Address
from fabula.store.database import Database
from fabula.store.integrity import check
from fabula.store.part_reader import read_part
from fabula_bench.speed.spoilers import Secret, _Later, lists, places_of, probe, secrets_of
from hits import rounded
from shared_library import shared_library

pytestmark = pytest.mark.shared_library


@pytest.fixture(scope="module")
def library(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A collection with the story and all its graphs, and one with two documents."""
    with shared_library(address, "story", "two", home=tmp_path_factory.mktemp("until")) as app:
        yield app


@pytest.fixture
def story(library: App) -> Collection:
    return library.collection("story")


@pytest.fixture
def entry(story: Collection) -> Entry:
    return story.document("The Convict")


def text_of(story: Collection) -> str:
    rows = story.open_store().find_chunks(story.document("The Convict"), 0, 10**6)
    return "".join(row["text"] for row in rows)


@pytest.mark.journey
@for_each(
    ("until", "end", "name"),
    [
        ("Part One", "PART TWO", "the end of PART ONE"),
        ("PART TWO CHAPTER I", "CHAPTER II: THE SECRET", "the end of PART TWO · CHAPTER I"),
        ("a  prisoner\nhad FLED", ".\n\nPART TWO", 'the end of "a  prisoner\nhad FLED"'),
        ("“You are a good boy”", '," said the stranger', 'the end of "“You are a good boy”"'),
        ("Pip ran home", " to Joe", 'the end of "Pip ran home"'),
    ],
)
def test_a_place_is_the_end_of_what_is_named(
    story: Collection, until: str, end: str, name: str
) -> None:
    place = story.reading_place(until)
    text = text_of(story)
    assert text[place.end :].lstrip("\n").startswith(end.lstrip("\n"))
    assert place.name == name
    assert 0 < place.percent < 100
    assert str(place) == f"up to {name} ({place.percent} %)"


def test_a_place_may_be_a_share_or_a_character(story: Collection) -> None:
    length = len(text_of(story))
    assert story.reading_place("40%").end == int(length * 0.4)
    assert story.reading_place("12,5 %").end == int(length / 8)
    assert story.reading_place("200").end == 200
    assert story.reading_place("120-340").end == 340
    assert story.reading_place("100%").end == story.reading_place("999999").end == length
    assert story.reading_place("100%").percent == 100


def test_words_that_are_printed_twice_mean_the_first_place(story: Collection) -> None:
    place = story.reading_place("said the stranger")
    assert place.end == text_of(story).index("stranger. Pip ran") + len("stranger")
    assert "(the first place that has these words)" in place.name


@for_each("until", ["Chapter Nine", "p. 113", "no such words at all"])
def test_a_place_that_is_not_there_is_refused(story: Collection, until: str) -> None:
    with pytest.raises(NotFound):
        story.reading_place(until)


@for_each(
    "until",
    [" ", "\t", "-1%", "101%", "100.1 %", "NaN%", "1e2%", "%", "２", "٢", "２%"],
)
def test_what_can_be_no_place_is_never_taken_for_none(story: Collection, until: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: story.reading_place(until),
        lambda: story.retrieve("Who is Provis?", until=until),
        lambda: story.as_read("The Convict", until).read("The Convict", "1"),
        lambda: story.as_read("", until).filters(),
        lambda: story.cypher("cast", until=until),
        lambda: list_notes(story.as_read("", until)),
    ]
    for call in calls:
        with pytest.raises(InvalidPlace, match=r"^The place "):
            call()


def test_a_name_of_several_sections_is_refused_without_later_headings(story: Collection) -> None:
    with pytest.raises(NotFound, match="names 2 sections") as error:
        story.reading_place("Chapter I")
    assert "PART ONE" in str(error.value)
    assert "PART TWO" not in str(error.value)


def test_a_place_needs_a_document_where_there_are_several(library: App) -> None:
    two = library.collection("two")
    with pytest.raises(NotFound, match="name the document") as error:
        two.retrieve("Who is Pip?", until="Part One")
    assert "Name the document, with --document where the command has it." in str(error.value)
    hits = two.retrieve("the sea and the gulls", document="The Convict", until="Part One", k=50)
    assert {hit.title for hit in hits} == {"The Convict"}, "the other document is left out"


def test_every_node_says_how_much_of_the_text_it_rests_on(
    library: App, story: Collection, entry: Entry
) -> None:
    rows = cypher(
        story.open_store(),
        "MATCH (n:Passage|Element {document: $id}) "
        "RETURN n.kind AS kind, n.last AS last, n.since AS since, COLLECT { "
        "UNWIND n.sources AS id MATCH (chunk:Passage {id: id}) RETURN chunk.end } AS ends",
        id=entry.id,
    )
    growing = {"entity", "relation", "triple", "term"}
    for row in rows:
        if row["kind"] != "report":
            assert row["last"] == max(row["ends"])
        assert row["last"] >= max(row["ends"])
        assert row["since"] == (min(row["ends"]) if row["kind"] in growing else row["last"])
    assert {"chunk", "summary", "detail", *growing - {"triple"}} < {row["kind"] for row in rows}
    assert check(library.connect(), graphs().values(), "story").violations == ()


@pytest.mark.journey
@for_each("mode", sorted(modes()))
@for_each("until", ["PART ONE CHAPTER I", "Part One", "70%"])
def test_no_mode_finds_what_comes_later(story: Collection, mode: str, until: str) -> None:
    end = story.reading_place(until).end
    hits = story.retrieve("Who is Provis, the father of Estella?", mode=mode, until=until, k=20)
    assert all(hit.end <= end for hit in hits)
    shown = " ".join(f"{hit.section} {hit.text}" for hit in hits)
    assert "Provis" not in shown
    assert "SECRET" not in shown
    if end < text_of(story).index("Estella"):
        assert "Estella" not in shown
    answer = story.query("Who is Provis?", mode=mode, until=until)
    assert answer.until == end
    assert "Provis" not in answer.text.replace("Who is Provis?", "")
    for structure in answer.structures.values():
        assert all(section.start < end for section in structure.outline.sections)


def test_what_was_read_is_found_as_without_a_place(story: Collection) -> None:
    kinds = ("chunk",)
    whole = story.retrieve("Who brought the file to the stranger?", kinds=kinds, mode="naive", k=3)
    limited = story.retrieve(
        "Who brought the file to the stranger?", kinds=kinds, mode="naive", k=3, until="Part One"
    )
    assert rounded(limited[:1]) == rounded(whole[:1])
    everything = story.retrieve("Who is Provis?", mode="naive", kinds=kinds, until="100%", k=50)
    assert any("Provis" in hit.text for hit in everything)


def test_an_entity_is_what_the_text_has_said_of_it(story: Collection, entry: Entry) -> None:
    read = story.as_read(entry.id, "Part One")
    filters, end = story.filters(entry.id), read.open_store().until
    cast = {row["name"]: row for row in list_entities(read.open_store(), filters, limit=100)}
    assert "Pip" in cast
    assert not {"Provis", "Estella", "Compeyson"} & cast.keys()
    part_one = text_of(story)[:end]
    assert cast["Pip"]["mentions"] == part_one.count("Pip")
    assert find_called(read.open_store(), filters, "Provis", 10) == []
    [card] = find_called(read.open_store(), filters, "Joe Gargery", 10)
    [of_all] = find_called(story.open_store(), filters, "Joe Gargery", 10)
    assert card["mentions"] < of_all["mentions"]
    assert card["chunks"] < of_all["chunks"]
    assert "letter" not in card["text"]
    assert {place["end"] <= end for place in card["places"]} == {True}


@pytest.mark.journey
def test_probes_find_no_leak(story: Collection, entry: Entry) -> None:
    places = places_of(story, entry, 3)
    probing = probe(story, entry, places, 40)
    assert probing.leaks == []
    assert probing.probes == 40
    assert probing.checks > 1000


def test_a_leak_would_be_found(story: Collection, entry: Entry) -> None:
    secrets = secrets_of(story, entry)
    assert {secret.kind for secret in secrets} == {"name", "text", "heading"}
    half = story.reading_place("50%").end
    later = _Later([secret for secret in secrets if secret.place > half], "")
    whole = story.reading_place("100%").end
    leaking = {surface for surface, output in lists(story, entry, whole) if [*later.find(output)]}
    assert {"entities", "speech", "export", "picture trees.html", "picture network.html"} <= leaking


def test_a_word_that_an_excerpt_cuts_is_no_leak_if_it_was_read() -> None:
    later = _Later([Secret("name", "Sędzi", 900)], "Wtem stary pan\nSędziego synowiec wszedł.")
    assert [*later.find('"suffix": "Wtem stary pan Sędzi"')] == []
    assert [*later.find("Wtem stary Sędzi")] == ["name 'Sędzi' in 'Wtem stary Sędzi'"]
    assert [*later.find("Sędzi")] == ["name 'Sędzi' in 'Sędzi'"]


def test_an_export_has_what_was_read_alone(story: Collection, entry: Entry, tmp_path: Path) -> None:
    read = story.as_read(entry.id, "Part One")
    for name in ("part.jsonl", "part.graphml"):
        written = read.export(tmp_path / name, entry.id)
        content = (tmp_path / name).read_text()
        assert written.nodes > 5
        assert "Joe Gargery" in content
        assert "Provis" not in content
        assert "PART TWO" not in content
    with pytest.raises(SettingsError, match="Embeddings"):
        read.export(tmp_path / "x.jsonl", entry.id, embeddings=True)


def test_before_the_end_of_the_first_chunk_there_is_nothing_to_draw(
    story: Collection, entry: Entry
) -> None:
    read = story.as_read(entry.id, "10")
    for picture in ("trees", "network", "communities", "story"):
        with pytest.raises(NotFound, match="nothing to draw"):
            draw_document(read, entry, ".svg", picture=picture)


def test_reading_ends_at_the_place(story: Collection, entry: Entry) -> None:
    end = story.reading_place("PART ONE CHAPTER I").end
    read = story.as_read(entry.id, "PART ONE CHAPTER I")
    reading = read.read(entry.id, "PART ONE CHAPTER I")
    assert reading.lines[-1].end == end
    assert all(hit.end <= end for hit in reading.related)
    with pytest.raises(NotFound, match="comes after what was read"):
        read.read(entry.id, "PART TWO CHAPTER I")


def test_a_collection_that_is_read_up_to_a_place_is_of_that_document(library: App) -> None:
    two = library.collection("two")
    with pytest.raises(NotFound, match="name the document"):
        two.as_read("", "Part One")
    read, another = two.as_read("The Convict", "Part One"), two.document("Another")
    assert read.document("") == two.document("The Convict")
    for refused in (
        lambda: read.read("Another"),
        lambda: read.retrieve("the sea and the gulls", document="Another"),
        lambda: read.export("x.jsonl", "Another"),
    ):
        with pytest.raises(NotFound, match="What is read up to a place is The Convict"):
            refused()
    for misused in (
        lambda: read.open_store().find_chunks(another, 0, 10),
        lambda: read.open_store().structure(another),
        lambda: read.open_store().read("RETURN $until", two.filters("Another")),
    ):
        with pytest.raises(ValueError, match="one of a single document"):
            misused()
    assert {hit.title for hit in read.retrieve("the sea and the gulls", k=50)} == {"The Convict"}
    assert {hit.title for hit in two.retrieve("the sea and the gulls", k=50)} > {"The Convict"}


def test_a_reader_who_has_read_less_is_told_no_more_by_a_later_place(story: Collection) -> None:
    read = story.as_read("", "Part One")
    assert story.as_read("", "") is story
    assert read.as_read("", "100%").place == read.place
    assert read.as_read("", "PART ONE CHAPTER I").place == story.reading_place("PART ONE CHAPTER I")
    hits = read.retrieve("Who is Provis?", until="100%", k=50)
    assert hits and all(hit.end <= read.open_store().until for hit in hits)


def test_the_text_of_a_store_with_a_place_ends_there(story: Collection, entry: Entry) -> None:
    text, read = text_of(story), story.as_read(entry.id, "700")
    rows = read.open_store().find_chunks(entry, 0, len(text))
    assert "".join(row["text"] for row in rows) == text[:700]
    assert rows[-1]["end"] == read.open_store().length_of(entry) == 700
    assert read.open_store().find_chunks(entry, 700, 701) == []
    assert read.open_store().find_chunks_of_spans(entry, [(0, 1), (700, 710)]) == rows[:1]
    sections = read.open_store().structure(entry).outline.sections
    assert sections and all(section.start < 700 for section in sections)
    assert rows[-1]["section"] == read.open_store().structure(entry).paths[-1]
    assert story.open_store().length_of(entry) == len(text)


def test_a_statement_that_knows_no_place_is_refused(story: Collection, entry: Entry) -> None:
    read = story.as_read(entry.id, "Part One")
    names = {row["name"] for row in read.cypher("cast")}
    assert "Pip" in names and "Provis" not in names
    for statement in ("profile", "MATCH (n) RETURN n.text"):
        with pytest.raises(SettingsError, match="can't be restricted"):
            read.cypher(statement)


def test_a_build_of_what_was_read_is_refused(story: Collection, tmp_path: Path) -> None:
    read = story.as_read("", "Part One")
    for refused in (
        lambda: read.build("aspects"),
        lambda: read.ingest(tmp_path),
        lambda: read.export_whole(tmp_path / "whole.jsonl"),
    ):
        with pytest.raises(SettingsError, match="use the whole one"):
            refused()
    with pytest.raises(ValueError, match="use read_parts"):
        read_part(read.open_store(), Owner("story", "aspects", story.document("The Convict").id))


@pytest.mark.parametrize("is_told", [True, False], ids=["since", "no since"])
def test_what_a_mode_that_knows_no_places_finds_is_left_out(
    story: Collection, entry: Entry, is_told: bool
) -> None:
    """A mode of another package may find everything, with or without `since` in its hits."""
    everything = [
        hit if is_told else replace(hit, since=None)
        for hit in story.retrieve("Who is the convict?", mode="collapsed", k=500)
    ]
    assert all(isinstance(hit.since, int) for hit in everything) is is_told
    query = Query(question="Who is the convict?", mode="naive", k=500)
    store, filters = story.as_read(entry.id, "Part One").open_store(), story.filters(entry.id)
    [run] = prepare_modes(query, filters, store, story.models, Meter(), Trace())
    careless = Mode(lambda *_: everything, "all that there is, whatever was read")
    shown = {hit.id for hit in retrieve(query, filters, [replace(run, mode=careless)]).hits}
    read = "MATCH (n:Passage) WHERE n.collection = 'story' AND n.last <= $end RETURN n.id AS id"
    known = {row["id"] for row in cypher(story.open_store(), read, end=store.until)}
    assert shown == known & {hit.id for hit in everything}
    assert 0 < len(shown) < len(everything)


@pytest.mark.parametrize("mode", ["collapsed", "hybrid", "fast"])
def test_a_place_costs_no_round_trip(
    story: Collection, entry: Entry, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = Database._send

    def count(database: Database, statement: str, *values: Any, **more: Any) -> Any:
        sent.append(statement)
        return send(database, statement, *values, **more)

    monkeypatch.setattr(Database, "_send", count)
    counts = []
    for until in (None, "50%", "50%", None):  # what is cached is read by the first two
        sent.clear()
        assert story.context("Who is Joe Gargery?", mode=mode, document=entry.id, until=until)
        counts.append(len(sent))
    assert counts[2] == counts[3]


def test_a_query_for_analysts_takes_a_place(story: Collection) -> None:
    names = {row["name"] for row in story.cypher("cast", until="Part One")}
    assert "Pip" in names
    assert not {"Provis", "Estella"} & names
    assert {row["section"] for row in story.cypher("sections", until="Part One")} == {
        "PART ONE · CHAPTER I",
        "PART ONE · CHAPTER II",
    }
    whole = {row["name"] for row in story.cypher("cast")}
    assert "Provis" in whole
    with pytest.raises(FabulaError):
        story.cypher("cast", until="Chapter Nine")


def test_commands_say_what_they_have_understood(
    library: App, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        **server_variables(address),
        "FABULA_MODEL": OFFLINE,
        "FABULA_EMBEDDING_MODEL": STATIC,
        "FABULA_COLLECTION": "story",
    }.items():
        monkeypatch.setenv(name, value)

    def run(*words: str, typed: str = "") -> tuple[str, str]:
        result = CliRunner().invoke(main, list(words), input=typed, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout, result.stderr

    out, err = run("query", "Who is Provis?", "--until", "Part One")
    assert "Only what is read up to the end of PART ONE (" in err
    assert "Provis" not in out
    out, _ = run("entities", "The Convict", "--until", "Part One")
    assert "Pip" in out and "Provis" not in out
    out, _ = run("speech", "The Convict", "--until", "Part One", "--json")
    assert "Bring me a file" in out and "benefactor" not in out
    typed = "/until Part One\nWho is Provis?\n/until end\n/quit\n"
    out, err = run("chat", typed=typed)
    assert "Only what is read up to the end of PART ONE" in err
    assert "Showing everything." in err
    assert "Provis" not in out.replace("Who is Provis?", "")
    out, _ = run("plot", "The Convict", "--until", "Part One", "--network", "--out", "net.html")
    assert "Provis" not in Path("net.html").read_text()


def test_a_volume_means_it_and_those_before_it(
    address: Address, library: App, tmp_path: Path
) -> None:
    series = library.collection("series")
    for number, word in (("Ten", "tower"), ("Two", "bridge"), ("One", "castle")):
        text = f"Title: The Stones, Book {number}\nLanguage: en\n\nThe {word} of stone was old. "
        file = tmp_path / f"{word}.txt"
        file.write_text(text + f"Anna built the {word} of stone with Boris.\n")
        [outcome] = series.ingest(file, graphs=())
        assert outcome.error is None
    volumes = series.read_volumes("The Stones, Book Two")
    assert volumes is not None
    assert [entry.title for entry in volumes.entries] == [
        "The Stones, Book One",
        "The Stones, Book Two",
    ]
    assert "in the order of their numbers" in str(volumes)
    for mode in ("hybrid", "naive", "collapsed"):
        hits = series.retrieve("the tower of stone", until="The Stones, Book Two", mode=mode, k=20)
        assert {hit.title for hit in hits} == {entry.title for entry in volumes.entries}
    answer = series.query("Who built the tower of stone?", until="The Stones, Book Two")
    assert "tower" not in answer.text
    assert series.read_volumes("Book Two", "The Stones, Book Two") is None
    assert library.collection("story").read_volumes("The Convict") is None
    with pytest.raises(NotFound, match="name the document"):
        series.retrieve("the tower", until="no volume at all")
