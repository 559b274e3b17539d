"""`fabula list` says which documents an earlier version read; `fabula cite` has their pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from database import cypher
from fabula import Fabula
from fabula.store import Store
from novels import novel, poem


@pytest.fixture
def book(graph_url: str, tmp_path: Path) -> Path:
    path = tmp_path / "war.txt"
    path.write_text(novel())
    run("ingest", path, "--chunk-tokens", "60", "--preset", "naive")
    return path


def test_a_document_that_this_version_read_needs_no_other_reading(book: Path) -> None:
    [row] = json.loads(run("list", "--json").stdout)["rows"]
    assert row["outdated_reading"] is False
    assert "earlier version" not in run("list").output


def test_a_document_that_an_earlier_version_read_is_named(book: Path, store: Store) -> None:
    cypher(
        store,
        "MATCH (d:Document) SET d.reading = 0, d.section_titles = ['CHAPTER I'], "
        "d.section_starts = [0], d.section_levels = [0], d.section_depths = [1]",
    )
    listed = run("list").output
    assert "1 document read by an earlier version: 'War and Peace'." in listed
    assert "`fabula ingest FILE` reads a file as this version does" in listed
    [row] = json.loads(run("list", "--json").stdout)["rows"]
    assert row["outdated_reading"] is True
    run("ingest", book, "--chunk-tokens", "60", "--preset", "naive")
    assert "earlier version" not in run("list").output


def test_the_last_answer_is_cited_with_its_pages(book: Path) -> None:
    with Fabula() as fabula:
        fabula.ingest_sources([poem(fabula.name)])
    answer = run("query", "Which was the 347th ship?", "--document", "The Ships").stdout
    assert " · pp. 113-114 · ll. " in answer or " · p. 114 · l" in answer
    cited = run("cite", "--last").stdout
    assert "  pages = {11" in cited
    assert "  year = {1869},\n" in cited
    [item] = json.loads(run("cite", "--last", "--format", "csl").stdout)
    assert item["locator"].startswith("11")
    assert "pages =" not in run("cite", "The Ships").stdout
    cited_words = json.loads(run("cite", "--last", "--format", "webannotation").stdout)
    selectors = [each["target"]["selector"] for each in cited_words["first"]["items"]]
    assert any("347" in words["exact"] for _, words in selectors)
    refused = run("cite", "--format", "webannotation", code=2).output
    assert "add --last" in refused
