"""Episodes in the graph: built, told up to each place, asked, explored, checked and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import connect, cypher, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.errors import BadValue, InvalidPlace, NotFound
from fabula.graph.explore import shipped_query
from fabula.operations import recaps
from fabula.operations.documents import drop_graph, remove_document
from fabula.server import Address
from fabula.store import Store
from fabula.store.user_query import run_user_query
from fabula.text.sections import BETWEEN
from offline import offline_settings

CHAPTERS = {
    "CHAPTER I": "Anna Hale sold the old mill at Dunmore in {}. She burned all of her letters in "
    "the kitchen. Nobody in the village had ever seen her cry before that evening.\n\n",
    "CHAPTER II": "Captain Reed came home from the northern sea in {}. He looked for Anna Hale in "
    "every house. The widow at the inn told him about the auction of the mill.\n\n",
    "CHAPTER III": "Elias Stone kept the heavy bells of Dunmore in {}. The great storm broke the "
    "boats on the beach that night. Reed carried the drowned boy up to the church.\n\n",
    "CHAPTER IV": "Zenobia Quill wrote the whole story down in {}. She never named the man who had "
    "set fire to the mill. The village forgot the storm within a year.\n\n",
}
MONTHS = ("January", "March", "May", "July", "September", "October", "November", "December")


def story(chapters: dict[str, str] = CHAPTERS) -> str:
    """A book of four chapters with eight paragraphs each."""
    return "".join(
        f"{heading}\n\n{''.join(paragraph.format(month) for month in MONTHS)}"
        for heading, paragraph in chapters.items()
    )


@pytest.fixture(scope="module")
def settings(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    small = {"episodes.window_chunks": 3, "episodes.members": 3, "episodes.summary_tokens": 60}
    home = tmp_path_factory.mktemp("episodes")
    return offline_settings(address, home, graphs=("episodes",), **small)


@pytest.fixture(scope="module")
def fabula(settings: Settings, address: Address) -> Iterator[Fabula]:
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(story(), source="mill.txt", title="The Mill", language="en")
        yield fabula


@pytest.fixture(scope="module")
def chunks(fabula: Fabula) -> list[dict[str, Any]]:
    return fabula.open_store().find_chunks(fabula.document("The Mill"), 0, 10**9)


@pytest.fixture
def run(
    fabula: Fabula, address: Address, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """`fabula` with what follows it."""
    name_server(monkeypatch, address)
    monkeypatch.setenv("FABULA_HOME", str(settings.home))
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "40")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def explored(store: Store, query_name: str, /, **given: Any) -> list[dict[str, Any]]:
    query = shipped_query(query_name)
    table = run_user_query(store, query.statement, query.fill({"document": "Mill", **given}))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def spans(recap: recaps.Recap) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in recap.rows]


@pytest.mark.journey
def test_nothing_is_wrong_with_the_graph(fabula: Fabula) -> None:
    assert fabula.check().violations == ()


@pytest.mark.journey
def test_a_recap_of_all_tiles_the_book(fabula: Fabula, chunks: list[dict[str, Any]]) -> None:
    for options in ({}, {"by": "chapter"}, {"level": 1}, {"tokens": 0}, {"tokens": 700}):
        recap = recaps.recap(fabula, "The Mill", **options)
        places = spans(recap)
        assert recap.until == chunks[-1]["end"]
        assert places[0][0] == 0, options
        assert places[-1][1] == recap.until
        assert all(before[1] == after[0] for before, after in pairwise(places)), options
        assert [part.number for part in recap.rows] == list(range(1, len(places) + 1))


def test_a_recap_rests_on_nothing_after_the_place(
    fabula: Fabula, chunks: list[dict[str, Any]]
) -> None:
    text = "".join(chunk["text"] for chunk in chunks)
    first = {name: text.index(name) for name in ("Reed", "Elias", "storm", "Zenobia", "fire")}
    flat = " ".join(text.split())
    for place in range(0, len(text) + 1, 97):
        for by in ("", "chapter"):
            recap = recaps.recap(
                fabula.as_read("The Mill", f"0-{place}"), "The Mill", by=by, tokens=0
            )
            assert recap.until == place
            places = spans(recap)
            assert all(end <= place for _, end in places), place
            assert all(before[1] == after[0] for before, after in pairwise(places))
            # All whole chunks before the place are told.
            whole = [chunk["end"] for chunk in chunks if chunk["end"] <= place]
            assert (places[-1][1] if places else 0) == (whole[-1] if whole else 0)
            for name, start in first.items():
                assert start < place or name not in recap.to_text(), (place, name)
            for part in recap.rows:
                assert part.is_extract
                for sentence in part.text.splitlines():
                    assert flat.find(sentence.rstrip(".")) >= 0
                    assert len(sentence) < place


def test_places_are_named_as_for_reading(fabula: Fabula, chunks: list[dict[str, Any]]) -> None:
    text = "".join(chunk["text"] for chunk in chunks)
    fourth = text.index("CHAPTER IV")
    assert recaps.recap(fabula.as_read("The Mill", "chapter three"), "The Mill").until == fourth
    assert recaps.recap(fabula.as_read("The Mill", "CHAPTER III"), "The Mill").until == fourth
    assert recaps.recap(fabula.as_read("The Mill", "CHAPTER IV"), "The Mill").until == len(text)
    assert recaps.recap(fabula.as_read("The Mill", "50%"), "The Mill").until == len(text) // 2
    assert recaps.recap(fabula.as_read("The Mill", "12.5 %"), "The Mill").until == len(text) // 8
    assert recaps.recap(fabula.as_read("The Mill", "100-200"), "The Mill").until == 200
    assert recaps.recap(fabula.as_read("The Mill", "250"), "The Mill").until == 250
    with pytest.raises(InvalidPlace, match="no share of a text"):
        recaps.recap(fabula.as_read("The Mill", "300%"), "The Mill")
    with pytest.raises(NotFound, match="no section, page or words"):
        recaps.recap(fabula.as_read("The Mill", "Stave Nine"), "The Mill")


def test_recaps_by_chapter_cross_no_chapter(fabula: Fabula) -> None:
    recap = recaps.recap(fabula.as_read("The Mill", "CHAPTER III"), "The Mill", by="chapter")
    assert [part.section for part in recap.rows] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    middle = recaps.recap(fabula.as_read("The Mill", "60%"), "The Mill", by="chapter")
    assert [part.section for part in middle.rows][:2] == ["CHAPTER I", "CHAPTER II"]
    assert {part.section for part in middle.rows[2:]} == {"CHAPTER III"}
    assert all(BETWEEN not in part.section for part in middle.rows)


def test_more_tokens_tell_more_and_few_are_not_exceeded(fabula: Fabula) -> None:
    lengths = {}
    for tokens in (30, 100, 300, 1000):
        recap = recaps.recap(fabula, "The Mill", tokens=tokens)
        lengths[tokens] = sum(part.tokens for part in recap.rows)
        assert lengths[tokens] <= tokens
    assert lengths[30] < lengths[100] <= lengths[300] < lengths[1000]
    one = recaps.recap(fabula, "The Mill", tokens=0)
    assert len(one.rows) == 1


def test_bad_arguments_are_refused(fabula: Fabula) -> None:
    with pytest.raises(BadValue, match="by: Input should be '' or 'chapter'"):
        recaps.recap(fabula, "The Mill", by="scene")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="level"):
        recaps.recap(fabula, "The Mill", level=-1)


def test_the_command_tells_and_read_opens_what_a_paragraph_rests_on(run: Any) -> None:
    result = run("recap", "The Mill", "--until", "CHAPTER II", "--by", "chapter")
    assert result.stdout.startswith("The Mill, up to character "), "no marks of a heading's style"
    assert result.exit_code == 0, result.output
    assert "[1] CHAPTER I · characters 0-" in result.stdout
    assert "[2] CHAPTER II · " in result.stdout
    assert "extract" in result.stdout
    assert "Elias" not in result.stdout
    assert "storm" not in result.stdout
    opened = run("read", "2")
    assert opened.exit_code == 0, opened.output
    assert "Captain Reed came home" in opened.stdout
    as_json = json.loads(run("recap", "The Mill", "--until", "10%", "--json").stdout)
    assert as_json["rows"]
    assert all(part["end"] <= as_json["until"] for part in as_json["rows"])
    nothing = run("recap", "The Mill", "--until", "0-0")
    assert "tells nothing before this place" in nothing.stdout


def test_a_document_without_episodes_is_told_what_builds_them(
    fabula: Fabula, run: Any, address: Address
) -> None:
    fabula.ingest_text(
        story().partition("CHAPTER II")[0],
        source="short.txt",
        title="The Short",
        language="en",
    )
    drop_graph(fabula, "episodes", "The Short")
    result = run("recap", "The Short")
    assert result.exit_code != 0
    assert "has no episodes yet" in result.output
    assert "fabula build episodes" in result.output
    with pytest.raises(NotFound, match="build the graph 'episodes'"):
        recaps.recap(fabula, "The Short")
    remove_document(fabula, "The Short")


def test_the_mode_finds_stretches_none_within_another(fabula: Fabula) -> None:
    hits = fabula.retrieve("Who came home from the northern sea?", mode="episodes", k=4)
    assert {hit.kind for hit in hits} == {"episode"}
    assert hits[0].section == "CHAPTER II"
    for number, hit in enumerate(hits):
        for other in hits[:number]:
            assert hit.end <= other.start or other.end <= hit.start
    answer = fabula.query("Who came home from the northern sea?", mode="episodes", k=2)
    assert answer.text


def test_queries_tell_the_book_and_list_a_level(fabula: Fabula, address: Address) -> None:
    whole = recaps.recap(fabula, "The Mill", tokens=0)
    with connect(address) as store:
        everything = explored(store, "recap")
        middle = explored(store, "recap", until=len(story()) // 2)
        lowest = explored(store, "episodes", level=1)
        higher = explored(store, "episodes", level=2)
    assert [row["text"] for row in everything] == [part.text for part in whole.rows]
    recap = recaps.recap(fabula.as_read("The Mill", f"0-{len(story()) // 2}"), "The Mill", tokens=0)
    texts = [part.text for part in recap.rows if part.id]
    assert [row["text"] for row in middle] == texts
    for rows in (lowest, higher):
        assert rows[0]["start"] == 0
        assert all(before["end"] == after["start"] for before, after in pairwise(rows))
    assert len(higher) < len(lowest)


def test_an_edit_of_a_chapter_keeps_the_episodes_of_others(
    fabula: Fabula, address: Address
) -> None:
    def ids() -> set[str]:
        with connect(address) as store:
            return {row["id"] for row in cypher(store, "MATCH (n:Episode) RETURN n.id AS id")}

    before = ids()
    edited = {**CHAPTERS, "CHAPTER II": CHAPTERS["CHAPTER II"].replace("widow", "old widow")}
    fabula.ingest_text(story(edited), source="mill.txt", title="The Mill", language="en")
    after = ids()
    kept = {
        part.id
        for part in recaps.recap(fabula, "The Mill", by="chapter", tokens=0).rows
        if part.section != "CHAPTER II"
    }
    assert len(kept) == 3
    assert kept <= before & after
    assert fabula.check().violations == ()
    drop_graph(fabula, "episodes")
    assert ids() == set()
