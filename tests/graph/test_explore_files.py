"""The queries for analysts: each file says what it is for, and with which parameters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cases import for_each
from fabula.errors import FabulaError, NotFound
from fabula.graph.explore import SHIPPED, parse_query, query_names, shipped_query
from fabula.graph.installed import graphs

DOCS = Path(__file__).parents[2] / "docs"
GRASS = DOCS / "browser.grass"
BROWSER = DOCS / "browser.md"


@for_each("name", query_names())
def test_a_header_tells_purpose_and_every_parameter_with_a_default(name: str) -> None:
    query = shipped_query(name)
    body = re.sub(r"(?m)^//.*\n", "", query.statement)
    assert query.purpose.endswith(".")
    assert query.no_rows.startswith("No rows: ")
    assert query.no_rows.endswith(".")
    assert {parameter.name for parameter in query.parameters} == set(re.findall(r"\$(\w+)", body))
    assert not any(parameter.required for parameter in query.parameters)
    assert (query.parameters[0].name, query.parameters[0].default) == ("collection", "default")
    assert all(parameter.about for parameter in query.parameters)
    assert body.startswith("CYPHER 25\n")
    assert "ORDER BY" in body
    assert re.search(r"LIMIT \$(limit|parts)\n$", body)


def test_every_file_beside_the_queries_is_one() -> None:
    assert query_names() == sorted(path.stem for folder in SHIPPED for path in folder.iterdir())
    # A query that is missing is missed: these are what docs/browser.md shows the use of.
    shown = re.findall(r"fabula cypher ([a-z_]+)", BROWSER.read_text())
    assert len(shown) > 1
    assert set(shown) - {"mine"} <= set(query_names())


def test_titles_days_and_god_are_no_names() -> None:
    [without] = [
        parameter.default
        for parameter in shipped_query("names").parameters
        if parameter.name == "without"
    ]
    for word in ("Mr", "Mrs", "Sir", "God", "Sunday", "Wednesday", "December", "Oh"):
        assert re.fullmatch(without, word)
    for name in ("Scrooge", "Day", "May", "Godfrey"):
        assert not re.fullmatch(without, name)


def test_a_header_is_read_as_it_pastes_into_neo4j_browser() -> None:
    query = parse_query(
        "// What it is for.\n"
        "// No rows: nothing is there;\n"
        "// something would fill it.\n"
        "// :param word => 'it\\'s'\n"
        "//   a word,\n"
        "//   or two\n"
        "// :param limit => 20\n"
        '// :param names => ["a", 1.5, true]\n'
        "RETURN $word, $limit, $names, $other, '$text' // $comment",
        "mine",
    )
    assert query.purpose == "What it is for."
    assert query.no_rows == "No rows: nothing is there; something would fill it."
    assert [
        (parameter.name, parameter.default, parameter.about, parameter.required)
        for parameter in query.parameters
    ] == [
        ("word", "it's", "a word, or two", False),
        ("limit", 20, "", False),
        ("names", ["a", 1.5, True], "", False),
        ("other", None, "", True),
    ]


def test_a_value_is_json_or_else_text_and_text_where_the_default_is() -> None:
    query = parse_query("// :param word => ''\n// :param limit => 20\nRETURN $word, $limit, $list")
    assert query.values({"word": "1984", "limit": "5", "list": '["a"]'}) == {
        "word": "1984",
        "limit": 5,
        "list": ["a"],
    }
    assert query.values({"word": '"quoted"', "list": "plain"})["word"] == "quoted"


def test_a_default_that_cannot_be_read_is_named() -> None:
    with pytest.raises(FabulaError, match=r"parameter 'x' in mine can't be read: \[1,"):
        parse_query("// :param x => [1, \nRETURN $x", "mine")


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(NotFound, match="Did you mean outline"):
        shipped_query("outlin")


@pytest.mark.whole
def test_the_style_sheet_knows_every_label_and_relationship() -> None:
    rules = dict(re.findall(r"([\w.]+) \{\n(.*?)\n\}", GRASS.read_text(), re.DOTALL))
    shown: tuple[str, ...] = ("Document", "Chunk", "Gap", "Part", "Collection")
    ties: tuple[str, ...] = ("NEXT_CHUNK", "FIRST_CHUNK", "FROM_DOCUMENT", "LACKS", "PART_OF")
    for graph in graphs().values():
        shown += graph.passages + graph.elements
        ties += graph.edges
    nodes = {"node", *(f"node.{one}" for one in shown)}
    assert nodes | {"relationship", *(f"relationship.{tie}" for tie in ties)} == set(rules)
    assert all('caption: "{name}";' in rules[node] for node in nodes)
    # Neo4j Browser knows no comments, and drops a line of two colons.
    for rule in rules.values():
        assert all(re.fullmatch(r"  [\w-]+: [^:;]+;", line) for line in rule.splitlines())
