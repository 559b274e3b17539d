"""The notebook in docs/ runs as a reader runs it, and shows what it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from fabula import Fabula, NotFound, StoreError
from fabula.errors import FabulaError
from fabula.operations.documents import show_document
from stories import WINTER

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def run(notebook: Path) -> tuple[list[Any], list[str]]:
    """What stands last in each cell, and how it is shown; all run in a row in one namespace."""
    names: dict[str, Any] = {}
    values, shown = [], []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], "outputs are not kept: they would be stale some day"
        *first, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(first, []), str(notebook), "exec"), names)
        assert isinstance(last, ast.Expr)
        value = eval(compile(ast.Expression(last.value), str(notebook), "eval"), names)
        values.append(value)
        shown.append(getattr(value, "_repr_html_", value.__repr__)())
    return values, shown


def test_the_notebook_runs(graph_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A quarter of the passages, in half the time.
    monkeypatch.setenv("FABULA_CHUNK_TOKENS", "800")
    values, shown = run(NOTEBOOK)
    [outcome], _, _, hits, _, rows, sections, *_ = values
    assert outcome.status == "added"
    assert [hit.aspect for hit in hits] == ["character"] * 3
    assert rows
    assert sum(row["chunks"] for row in sections) == outcome.counts["chunk"]
    for html, told in zip(shown, ("", "Dickens", "cash-boxes", "", "<b>"), strict=False):
        assert told in html
    assert shown[7].startswith('<img alt="carol.svg: ')
    assert (tmp_path / "carol.svg").is_file()


def test_documents_are_those_of_the_collection(graph_url: str) -> None:
    with Fabula(collection="tales", graphs="") as tales:
        other = tales.app.collection("other")
        for name in ("One", "Two"):
            tales.ingest_text(WINTER, source=name, title=name)
        assert (len(tales.documents()), len(other.documents())) == (2, 0)
        assert not other.documents()
        [one, two] = tales.documents()
        assert (one.title, two.title) == ("One", "Two")
        shown = tales.documents()._repr_html_()
        assert shown.count("<tr>") == 3
        assert one.id in shown
        with pytest.raises(TypeError, match="a str, its id, title or file, not by <Entry"):
            tales.document(one)  # type: ignore[arg-type]
        assert show_document(tales, "One") == show_document(tales, one.id)
        assert tales.read("One", 1).lines == tales.read("One", "1").lines
        tales.export("tales.graphml")
        assert Path("tales.graphml").read_text(encoding="utf-8").startswith("<?xml")


def test_cypher_gives_rows_and_only_reads(graph_url: str) -> None:
    with Fabula(collection="tales", graphs="") as tales:
        tales.ingest_text(WINTER, source="One")
        counting = "MATCH (c:Chunk {collection: $collection}) WHERE c.index < $most RETURN count(*)"
        assert tales.cypher(counting, most=2) == [{"count(*)": 2}]
        assert tales.app.collection("other").cypher(counting, most=2) == [{"count(*)": 0}]
        with pytest.raises(FabulaError, match="needs --param most"):
            tales.cypher(counting)
        with pytest.raises(NotFound, match=r"no query 'charaters'. Did you mean characters\?"):
            tales.cypher("charaters")
        with pytest.raises(StoreError, match="may only read"):
            tales.cypher("MATCH (n) DETACH DELETE n")
        assert len(tales.documents()) == 1
