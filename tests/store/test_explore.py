"""The queries for analysts: each runs, and finds what is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cases import for_each
from explored import explored
from fabula.graph.explore import query_names, shipped_query
from fabula.server import Address
from fabula.store import Store
from fabula.store.user_query import run_user_query
from fabula.text.document import Chunk
from fabula.text.ids import chunk_id
from graphs import DIMENSIONS, MODEL, in_space, parts_of, put, small_document, small_graph, vector


@pytest.fixture(scope="module")
def graph(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with explored(address, tmp_path_factory.mktemp("explore")) as store:
        yield store


def found(graph: Store, name: str, **given: str) -> list[dict[str, Any]]:
    query = shipped_query(name)
    table = run_user_query(graph, query.statement, query.values(given))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_the_outline_goes_from_the_top_down(graph: Store) -> None:
    rows = found(graph, "outline", document="A", aspect="plot")
    mine = [row for row in rows if row["title"] == "A"]
    assert [row["level"] for row in mine] == [2, 1, 1]
    assert (mine[0]["members"], sorted(row["members"] for row in mine[1:])) == (2, [1, 3])


def test_aspects_that_were_in_no_cluster_are_counted(graph: Store) -> None:
    rows = found(graph, "missing_aspects")
    # The graph by hand records no rounds.
    assert {row["title"] for row in rows} == {"The Lighthouse", "Winter"}
    for row in rows:
        assert row["rounds"] == 1, "offline nothing is asked twice"
        assert row["missing_first"] == row["assigned"]
        assert row["missing_later"] == []
    share = 100 * sum(bool(row["missing_first"]) for row in rows) / len(rows)
    assert {row["percent"] for row in rows} == {round(share, 1)}


def test_a_passage_is_followed_up_to_the_tops(graph: Store) -> None:
    rows = found(graph, "above", words="word 2")
    assert rows[0]["text"] == "word 2."
    assert {(row["aspect"], row["level"]) for row in rows[1:]} == {
        ("plot", 1),
        ("plot", 2),
        ("theme", 1),
        ("theme", 2),
    }


def test_the_uncovered_chunk_is_found(graph: Store) -> None:
    [row] = found(graph, "uncovered", aspect="")
    assert (row["title"], row["text"]) == ("A", "word 3.")
    of_plot = found(graph, "uncovered", document="A", aspect="plot")
    assert [row["index"] for row in of_plot if row["title"] == "A"] == [3]


def test_words_are_found_where_they_are_densest(graph: Store) -> None:
    rows = found(graph, "density", document="lighthouse", words="storm|lens", parts="3")
    assert sum(row["found"] for row in rows) == 2
    assert rows[-1]["found"] == 0
    assert found(graph, "density", document="lighthouse", words="stor", parts="1")[0]["found"] == 0


@pytest.fixture(scope="module")
def accented(graph: Store) -> Iterator[dict[str, str]]:
    """The collection of two books, one printed with accents, one without."""
    collection = "accented"
    graph.prepare(collection, MODEL, DIMENSIONS)
    for source, title, text in (
        ("natasha.txt", "Les Misérables de Natásha", "Natásha danced. The oﬃcer slept."),
        ("plain.txt", "The Uncle of Natasha", "He took the guitar, and Natasha danced."),
    ):
        document = replace(small_document(source, text, collection), title=title)
        chunk = Chunk(chunk_id(document.id, text, 0), 0, "I", 0, len(text), text, 9, vector(1))
        put(graph, parts_of(document, [chunk], (), ()))
    yield {"collection": collection}
    for source in ("natasha.txt", "plain.txt"):
        graph.remove(collection, small_document(source, collection=collection).id)


@pytest.mark.parametrize("words", ["Natasha", "Natásha", "NATASHA|cello", "natásha"])
def test_words_are_counted_however_they_are_printed(
    graph: Store, accented: dict[str, str], words: str
) -> None:
    for document in ("miserables", "uncle"):
        given = {**accented, "document": document, "words": words, "parts": "1"}
        assert [row["found"] for row in found(graph, "density", **given)] == [1]


@pytest.mark.parametrize(
    ("document", "title"),
    [
        ("miserables", "Les Misérables de Natásha"),
        ("MISÉRABLES", "Les Misérables de Natásha"),
        ("uncle of natásha", "The Uncle of Natasha"),
        ("Uncle of Natasha", "The Uncle of Natasha"),
    ],
)
def test_a_document_is_named_however_its_title_is_printed(
    graph: Store, accented: dict[str, str], document: str, title: str
) -> None:
    for name in ("density", "sections", "read"):
        rows = found(graph, name, **accented, document=document)
        assert {row["title"] for row in rows} == {title}, name


def test_a_title_in_neo4j_browser_is_found_as_it_is_printed_or_without_accents(
    graph: Store, accented: dict[str, str]
) -> None:
    """No program folds there what is typed."""
    query = shipped_query("sections")
    for document in ("Misérables", "miserables"):
        values = query.fill(accented) | {"document": document}
        assert run_user_query(graph, query.statement, values).rows


def test_a_theme_is_measured_along_the_book(graph: Store) -> None:
    rows = found(graph, "theme", document="Winter", parts="5")
    assert [row["part"] for row in rows] == [1, 2, 3, 4, 5]
    assert all(-1 <= row["cosine"] <= 1 for row in rows)


def test_chapters_of_two_characters_are_compared(graph: Store) -> None:
    rows = found(graph, "characters", document="lighthouse", first="Elias", second="Aurora")
    assert [row["section"] for row in rows] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert [row["second"] > 0 for row in rows] == [False, True, True]
    assert all(row["both"] <= min(row["first"], row["second"]) for row in rows)
    assert rows[0]["first"] > 0
    assert rows[0]["percent"] == 0


def test_sections_come_longest_or_shortest_first(graph: Store) -> None:
    longest = found(graph, "sections", document="lighthouse")
    shortest = found(graph, "sections", document="lighthouse", shortest="true")
    assert [row["section"] for row in longest] == [row["section"] for row in shortest][::-1]
    assert sum(row["percent"] for row in longest) == pytest.approx(100, abs=0.2)


def test_the_words_of_a_section_are_its_own(graph: Store) -> None:
    rows = found(graph, "section_words", document="lighthouse", words="40")
    assert "marta" in rows[0]["words"]
    assert "aurora" not in rows[0]["words"]


def test_cost_is_what_each_graph_of_a_document_tells(graph: Store) -> None:
    rows = [row for row in found(graph, "cost") if row["title"] == "A"]
    spent = ("graph", "calls", "prompt_tokens", "completion_tokens")
    assert [tuple(row[name] for name in spent) for row in rows] == [
        ("aspects", 4, 100, 10),
        ("text", 2, 50, 0),
    ]


def test_the_text_is_read_from_any_place(graph: Store) -> None:
    rows = found(graph, "read", first="2")
    assert [row["text"] for row in rows] == ["word 2.", "word 3."]


def test_a_summary_is_followed_down_to_the_text(graph: Store) -> None:
    [top] = [
        row
        for row in found(graph, "outline", document="A", aspect="theme")
        if row["level"] == 2 and row["title"] == "A"
    ]
    rows = found(graph, "support", summary=top["id"])
    assert [row["level"] for row in rows] == [2, 1, 1, 0, 0, 0]
    assert [row["text"] for row in rows[3:]] == ["word 0.", "word 1.", "word 2."]
    assert (rows[0]["weight"], rows[3]["weight"]) == (1.0, 1.0)


def test_coverage_counts_chunks_once(graph: Store) -> None:
    [row] = [row for row in found(graph, "coverage", aspect="plot") if row["title"] == "A"]
    columns = ("levels", "summaries", "chunks", "percent")
    assert [row[name] for name in columns] == [2, 3, 3, 75.0]


def test_names_are_words_with_a_capital_inside_sentences(graph: Store) -> None:
    names = {row["name"]: row for row in found(graph, "names", document="lighthouse")}
    assert {"Elias", "Marta", "Aurora"} == set(names)
    aurora = names["Aurora"]
    assert (aurora["first_section"], aurora["last_section"]) == ("CHAPTER II", "CHAPTER III")
    every = {row["name"] for row in found(graph, "names", document="lighthouse", without="")}
    assert every == {"Elias", "Marta", "Aurora", "November"}


@for_each("name", query_names())
def test_no_row_is_told_twice(name: str, graph: Store) -> None:
    query = shipped_query(name)
    limits = {parameter.name: "500" for parameter in query.parameters if parameter.name == "limit"}
    rows = run_user_query(graph, query.statement, query.values(limits)).rows
    lines = [json.dumps(row) for row in rows]
    assert len(lines) == len(set(lines))


def test_near_duplicate_details_are_pairs_of_one_document(graph: Store) -> None:
    rows = found(graph, "near_duplicates", similarity="0.999", limit="500")
    mine = [row for row in rows if row["title"] == "A"]
    assert {row["cosine"] for row in mine} == {1.0}
    # Eight details of the same length have the same embedding in this graph.
    assert len({row["text"] for row in mine}) == len(mine) > 0
    assert all(row["text"] != row["other_text"] for row in mine)


def test_echoes_are_far_apart_and_each_chunk_has_one(graph: Store) -> None:
    rows = found(graph, "echoes", document="Winter", distance="15")
    assert rows
    assert all(row["section"] != row["other_section"] for row in rows)
    assert (
        len({row["text"] for row in rows}) == len({row["other_text"] for row in rows}) == len(rows)
    )


def test_an_echo_is_the_closest_of_one_of_its_chunks(graph: Store) -> None:
    pairs = run_user_query(
        graph,
        """
        MATCH (d:Document {collection: 'default', title: 'Winter'})
        MATCH (a:Chunk {document: d.id}), (b:Chunk {document: d.id})
        WHERE abs(b.index - a.index) >= 15
        RETURN left(replace(a.text, '\\n', ' '), 120) AS text,
          round(2 * vector.similarity.cosine(a.embedding, b.embedding) - 1, 3) AS cosine
        """,
        {},
    ).rows
    best: dict[str, float] = {}
    for text, cosine in pairs:
        best[text] = max(cosine, best.get(text, -1.0))
    rows = found(graph, "echoes", document="Winter", distance="15", limit="500")
    assert rows
    for row in rows:
        closest = [best[row["text"]], best[row["other_text"]]]
        assert any(row["cosine"] == pytest.approx(one, abs=0.002) for one in closest)
    assert rows[0]["cosine"] == pytest.approx(max(best.values()), abs=0.002)


def test_details_are_found_by_their_words(graph: Store) -> None:
    rows = found(graph, "details", document="A", words="word 1")
    assert [row["text"] for row in rows] == ["detail 0 of word 1", "detail 1 of word 1"]


def test_a_parallel_is_told_with_its_own_cosine(graph: Store) -> None:
    options = {"first": "lighthouse", "second": "Winter", "limit": "500"}
    rows = found(graph, "parallels", **options)
    by_aspect: dict[str, dict[str, Any]] = {}
    for aspect in {name for row in rows for name in row["aspects"]}:
        for row in found(graph, "parallels", aspect=aspect, **options):
            best = by_aspect.get(row["text"])
            if best is None or row["cosine"] > best["cosine"]:
                by_aspect[row["text"]] = row
    for row in rows:
        alone = by_aspect[row["text"]]
        assert (row["cosine"], row["other_text"]) == (alone["cosine"], alone["other_text"])


def test_an_aspect_that_is_not_there_passes_over_nothing(graph: Store) -> None:
    assert found(graph, "uncovered", document="A", aspect="no such") == []


def test_parallels_are_of_one_aspect_and_told_from_either_end(graph: Store) -> None:
    options = {"first": "lighthouse", "second": "Winter", "aspect": "plot"}
    most = found(graph, "parallels", **options)
    least = found(graph, "parallels", **options, least="true")
    assert most
    assert {tuple(row["aspects"]) for row in most} == {("plot",)}
    cosines = [row["cosine"] for row in most]
    assert cosines == sorted(cosines, reverse=True)
    assert [row["cosine"] for row in least] == cosines[::-1]
    assert len({row["text"] for row in most}) == len(most)


@pytest.mark.parametrize("name", ["echoes", "near_duplicates"])
def test_a_query_by_the_vector_index_reads_that_of_the_collection(name: str, graph: Store) -> None:
    """The file names an index of 256 dimensions; other models have others, in either slot."""
    graph.prepare("wide", "wide-model", 48)
    put(graph, in_space(small_graph(collection="wide"), 48), "wide-model")
    given = {"collection": "wide", "distance": 1, "similarity": 0.0}
    known = {parameter.name for parameter in shipped_query(name).parameters}
    values = shipped_query(name).fill({key: value for key, value in given.items() if key in known})
    try:
        rows = run_user_query(graph, shipped_query(name).statement, values).rows
        assert rows
        assert {row[0] for row in rows} == {"A"}
        nothing = run_user_query(
            graph, shipped_query(name).statement, values | {"collection": "never there"}
        )
        assert nothing.rows == ()
    finally:
        [document] = graph.documents("wide")
        graph.remove("wide", document.id)
