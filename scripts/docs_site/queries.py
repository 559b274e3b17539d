"""The page of the queries for analysts: the files of `explore` folders with their headers."""

from __future__ import annotations

import json

from docs_site.text import cell, join_page, table
from fabula.graph.explore import AnalystQuery, query_names, shipped_query

INTRODUCTION = """\
# Queries for analysts

Each of these queries is a file of `cypher/explore/`, or of a package's folder `explore/`. `fabula
cypher NAME` runs it, with `--param name=value` for each parameter, and `fabula cypher NAME --show`
prints it. It pastes into Neo4j Browser as it is. [The graph for analysts](../browser.md) explains
how, and shows results.
"""


def make_pages() -> dict[str, str]:
    """Return the page with all queries."""
    queries = [shipped_query(name) for name in query_names()]
    rows = [(f"[`{query.name}`](#{query.name})", cell(query.purpose)) for query in queries]
    contents = table(("query", "what it is for"), rows)
    return {
        "reference/queries.md": join_page(INTRODUCTION, contents, *(_section(q) for q in queries))
    }


def _section(query: AnalystQuery) -> str:
    rows = [
        (f"`{one.name}`", f"`{json.dumps(one.default, ensure_ascii=False)}`", cell(one.about))
        for one in query.parameters
    ]
    return join_page(
        f"## {query.name}",
        query.purpose,
        table(("parameter", "default", "meaning"), rows),
        f"**No rows:** {query.no_rows.removeprefix('No rows: ')}",
        f"```cypher\n{query.statement.strip()}\n```",
    )
