"""What is printed fits the screen."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.table import Table

from fabula.cli.shared.tables import fit_table

ID = "7761f36bc30eff46"


@pytest.fixture
def table() -> Table:
    table = Table(show_edge=False)
    table.add_column("id")
    table.add_column("title")
    table.add_column("tokens", justify="right")
    table.add_row(ID, "The Hound of the Baskervilles", "81,000")
    table.add_row(ID[::-1], "", "7")
    return table


def printed(table: Table, width: int) -> list[str]:
    console = Console(width=width, color_system=None, markup=False)
    with console.capture() as capture:
        console.print(fit_table(table, width))
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize("width", [80, 50, 42])
def test_a_table_that_fits_is_one_and_breaks_no_word(width: int, table: Table) -> None:
    lines = printed(table, width)
    assert "title" in lines[0]
    assert any(line.lstrip().startswith(ID) for line in lines)
    assert all(word in " ".join(lines) for word in ("Baskervilles", "81,000"))
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [80, 18])
def test_brackets_are_text(width: int) -> None:
    table = Table("title", show_edge=False)
    table.add_column("author")
    table.add_row("[/nothing]", "[bold]")
    assert "[/nothing]" in " ".join(printed(table, width))


@pytest.mark.parametrize("width", [30, 24])
def test_one_that_does_not_is_a_list_of_its_rows(width: int, table: Table) -> None:
    lines = printed(table, width)
    assert lines[0] == f"id      {ID}"
    assert lines[1].startswith("title   The Hound")
    assert "tokens  81,000" in lines
    assert f"id      {ID[::-1]}" in lines
    assert sum(line.startswith("title") for line in lines) == 1, "what is empty is left out"
    assert max(map(len, lines)) <= width
