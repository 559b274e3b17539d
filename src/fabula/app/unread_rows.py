"""Keep from a reader with a place what the rows of an analyst's query tell of later text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fabula.app.collection import Collection
from fabula.graph.hits import NO_LIMIT
from fabula.graph.unread import TITLES, make_check
from fabula.store.user_query import QueryTable


def hide_unread_rows(
    collection: Collection, table: QueryTable, values: Mapping[str, Any]
) -> QueryTable:
    """Leave out the rows of a query that print a name which the reader has not read.

    Args:
        collection: The collection that was asked.
        table: The rows.
        values: The parameters of the query, as `Collection.read_place_parameter` returns them.

    """
    until = values.get("until", NO_LIMIT)
    if until == NO_LIMIT or "document" not in values:
        return table
    document = collection.document(values["document"])
    is_unread = make_check(collection.store.names_of(document), until)
    rows = tuple(
        row
        for row in table.rows
        if not any(
            isinstance(cell, str) and name not in TITLES and is_unread(cell)
            for name, cell in zip(table.columns, row, strict=True)
        )
    )
    return replace(table, rows=rows)
