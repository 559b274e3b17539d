"""Names that no index of the graph can hold are refused, whichever way they come.

A term of more than 32,766 bytes makes Lucene refuse it and Neo4j panic: the database never opens
again. These go through the store, past the settings, as a program or another package would.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from fabula import App, Fabula
from fabula.cli import main
from fabula.errors import FabulaError, LoadError, SettingsError, SpaceError, StoreError
from fabula.graph import Node, Part
from fabula.graph.hits import Filters
from fabula.graphs.aspects.sets import read_aspects
from fabula.load import read_text
from fabula.store import Store
from fabula.text.names import (
    MAX_FILE_NAME_BYTES,
    MAX_LINE_BYTES,
    MAX_NAME_BYTES,
    collection_problem,
    file_name,
    name_problem,
)
from graphs import DIMENSIONS, MODEL, nodes, put, small_graph, vector

LONG = "a" * 40_000
"""What cost two databases of two."""


@for_each(
    "name",
    ["default", "Война и мир", "हिन्दी", "紅樓夢", "my-books_2", "vol. 2", "é" * 100, "tales Ω-3 и"],
)
def test_a_collection_has_letters_and_figures_of_any_script(name: str) -> None:
    assert collection_problem(name) == ""


@for_each(
    "name", ["", " a", "a.", "../a", "a/b", "a\nb", "a\x1b[2J", "$x", "a:b", "é" * 101, "\ud800"]
)
def test_what_no_collection_may_be_called(name: str) -> None:
    assert collection_problem(name)


def test_a_collection_is_not_called_what_looks_like_another_or_means_all() -> None:
    problem = "may not mix alphabets that look alike in one word, as 'аlpha' does"
    assert collection_problem("аlpha") == problem
    assert "alike" in collection_problem("my Αlpha")
    assert "all collections" in collection_problem("all")
    assert collection_problem("ALL") == ""


HARMLESS = st.characters(
    exclude_categories=("Cc", "Cs", "Zl", "Zp"),
    exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)


@given(st.text(HARMLESS))
def test_a_name_is_refused_for_its_bytes_alone(name: str) -> None:
    assert bool(name_problem(name)) == (len(name.encode()) > MAX_NAME_BYTES)


def test_a_long_collection_is_refused_in_one_line() -> None:
    result = CliRunner().invoke(main, ["list", "--collection", LONG])
    assert result.exit_code != 0 and "40,000 bytes, and at most 200 are allowed" in result.output
    assert len(result.output) < 300 and isinstance(result.exception, SystemExit)
    with App() as app, pytest.raises(SettingsError, match="at most 200 are allowed"):
        app.collection(LONG)
    with pytest.raises(SettingsError, match="at most 200 are allowed"):
        Fabula(collection=LONG)


def test_a_long_aspect_is_refused_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "set.toml"
    file.write_text(f'[[aspects]]\nname = "{LONG}"\ndescription = "d"\nfocus = "f"\n')
    with pytest.raises(SettingsError, match=r"set.toml: the aspect .* 40,000 bytes"):
        read_aspects(str(file))


def test_titles_and_headings_are_cut_as_they_are_read() -> None:
    document = read_text(f"# {LONG}\n\nWords.", source="a.md", collection="default", title=LONG)
    assert len(document.title) <= 302
    assert all(len(section.title) <= 302 for section in document.sections)
    named = read_text("Words.", source=f"{'a' * 1900}.txt", collection="default")
    assert len(named.title) <= 302


@pytest.mark.parametrize("source", [f"{'a' * 2001}.txt", "a\nb.txt", "\x1b[31m.txt"])
def test_a_source_that_can_not_be_kept_is_refused_as_it_is_read(source: str) -> None:
    with pytest.raises(LoadError, match="give it another name"):
        read_text("Words.", source=source, collection="default")


Spoil = Callable[[Part], Part]


def _first(part: Part, change: Callable[[Node], Node]) -> Part:
    return replace(part, nodes=(change(part.nodes[0]), *part.nodes[1:]))


def _with(name: str, value: str) -> Spoil:
    return lambda part: _first(
        part, lambda node: replace(node, properties={**node.properties, name: value})
    )


SPOILT: dict[str, Spoil] = {
    "graph": lambda part: replace(part, owner=part.owner._replace(graph=LONG)),
    "document": lambda part: replace(part, owner=part.owner._replace(document=LONG)),
    "id": lambda part: _first(part, lambda node: replace(node, id=LONG)),
    "label": lambda part: _first(part, lambda node: replace(node, label=LONG)),
    **{name: _with(name, LONG) for name in ("aspect", "section", "source", "title", "name")},
}


@for_each("what", SPOILT)
def test_the_store_takes_no_long_name_and_lives_on(ready: Store, what: str) -> None:
    text, aspects = small_graph("a.txt")
    with pytest.raises(StoreError, match=r"40,000 bytes|not a valid label"):
        ready.apply([SPOILT[what](text), aspects], MODEL)
    put(ready, small_graph("b.txt"))
    assert [entry.title for entry in ready.documents("default")] == ["B"]


def test_the_longest_that_are_taken_do_no_harm(ready: Store) -> None:
    """Each at its bound, all at once, in every index there is; questions find them."""
    name, line = "é" * (MAX_NAME_BYTES // 2), "ﬃ" * (MAX_LINE_BYTES // 3)
    ready.prepare(name, MODEL, DIMENSIONS)
    parts = small_graph(line[: (MAX_LINE_BYTES - 4) // 3], collection=name)
    parts = [_with("aspect", name)(part) if len(part.nodes) > 4 else part for part in parts]
    put(ready, parts)
    assert ready.find_named(name, parts[0].nodes[0].properties["title"], 5)
    hits = ready.nearest(vector(1), 30, Filters(name), MODEL)
    assert {hit.id for hit in hits} >= {node.id for node in nodes(parts, "Chunk")}


def test_a_question_may_hold_any_name(ready: Store) -> None:
    """Filters only read: what is too long to be there is not found."""
    put(ready, small_graph())
    for filters in (
        Filters(LONG),
        Filters("default", document=LONG),
        Filters("default", kinds=(LONG,), aspects=(LONG,)),
    ):
        try:
            assert ready.nearest(vector(1), 5, filters, MODEL) == []
        except FabulaError as error:
            assert len(str(error)) < 500
    assert ready.find_named("default", LONG, 5) == []
    assert ready.sources("default", [LONG]) == {}
    assert ready.nearest(vector(1), 5, Filters("default"), MODEL)


def test_only_a_new_collection_needs_a_good_name(store: Store) -> None:
    with pytest.raises(StoreError, match="letters and digits of any script"):
        store.prepare("a/b", MODEL, DIMENSIONS)
    assert store.spaces() == []


@pytest.mark.parametrize("dimensions", [0, 4097, 5000])
def test_embeddings_that_no_index_holds_leave_the_graph_as_it_was(
    store: Store, dimensions: int
) -> None:
    with pytest.raises(SpaceError, match=f"{dimensions:,} dimensions"):
        store.prepare("default", MODEL, dimensions)
    assert store.spaces() == []
    store.prepare("default", MODEL, 4096)
    store.prepare("default", MODEL, DIMENSIONS)


def test_refused_before_anything_is_paid_for(online: None, endpoint: object) -> None:
    with Fabula(collection="a/b") as fabula, pytest.raises(StoreError, match="any script"):
        fabula.ingest_text("Some words. " * 50, source="a.txt")


@for_each(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd"),
        ("..", "otherwise"),
        (".bashrc", "bashrc"),
        ("C:\\Windows\\x", "C Windows x"),
        ("a\x00b\r\nSet-Cookie: x=1", "a b Set-Cookie x 1"),
        ('He said: "No."', "He said No"),
        ("harmless\u202egpj.exe", "harmless gpj exe"),
        ("zero\u200bwidth\ufeff", "zero width"),
        ("NUL", "NUL_"),
        ("com1", "com1_"),
        ("", "otherwise"),
        ("\ud800", "otherwise"),
        ("Jekyll & Hyde, (1886); it's-so_on", "Jekyll & Hyde, (1886); it's-so_on"),
        ("Война и мир", "Война и мир"),
        ("गोदान", "गोदान"),
        ("紅樓夢", "紅樓夢"),
        ("Zu\u0308rich", "Zürich"),
    ],
)
def test_a_title_becomes_the_name_of_a_file(title: str, name: str) -> None:
    assert file_name(title, "otherwise") == name


@given(st.text(max_size=400))
def test_no_title_makes_a_name_that_a_file_system_refuses(title: str) -> None:
    name = file_name(title, "otherwise")
    assert name == name.strip()
    assert 0 < len(name.encode()) <= MAX_FILE_NAME_BYTES + 1
    assert not set(name) & set('/\\:*?"<>|.\x00\n\r\t')
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert file_name(name, "otherwise") in (name, f"{name}_")
