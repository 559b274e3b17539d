"""`fabula entities NAME`, also where the graph of identities is not installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import main


@pytest.mark.journey
@pytest.mark.usefixtures("graph_url")
def test_one_entity_is_shown_with_its_relations_and_its_namesakes(tmp_path: Path) -> None:
    book = tmp_path / "mill.txt"
    book.write_text(
        "Title: Mill\nLanguage: en\n\nCHAPTER I\n\n"
        + "Anna Novak went to the mill with Boris Weiss. " * 8
    )
    offline = ("--model", "offline", "--embedding-model", "wordllama-256")
    done = CliRunner().invoke(main, ["ingest", str(book), "--graphs", "entities", *offline])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(main, ["entities", "Anna Novak", "--json"])
    assert shown.exit_code == 0, shown.output
    [anna] = json.loads(shown.stdout)
    assert "Boris Weiss" in json.dumps(anna)
    assert (anna["name"], anna["others"], anna["namesakes"]) == ("Anna Novak", [], [])
