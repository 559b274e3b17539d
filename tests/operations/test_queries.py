"""Results whose columns are known only with them."""

from __future__ import annotations

from typing import Any

from fabula.operations.kit import find_operation, make_table
from fabula.operations.queries import QueryResult


def result(*rows: dict[str, Any]) -> QueryResult:
    columns = tuple(rows[0]) if rows else ()
    return QueryResult(columns, len(rows), rows, None, "")


def test_columns_are_those_of_the_result() -> None:
    node = {"labels": ["Person"], "properties": {"name": "Ada"}}
    table = make_table(result({"n": node, "year": 1843}, {"n": None, "year": 1844}))
    shown = [[column.cell(row) for column in table.columns] for row in table.rows]
    assert shown == [["(:Person Ada)", "1843"], ["", "1844"]]
    assert [(column.title, column.is_right) for column in table.columns] == [
        ("n", False),
        ("year", True),
    ]


def test_csv_has_the_columns_of_the_result_and_no_formula() -> None:
    to_csv = find_operation("cypher").to_csv
    assert to_csv(result({"a": "=1+1", "b": [1]})) == "a,b\n'=1+1,[1]\n"
    assert to_csv(result()) == "\n"
