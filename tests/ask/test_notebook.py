"""The notebook in docs/ runs as a reader runs it, and shows what it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

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
